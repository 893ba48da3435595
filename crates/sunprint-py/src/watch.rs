//! Long work: without the interpreter's lock, with progress, and ended by Ctrl-C.
//!
//! The work runs on a thread of its own. The caller's thread waits, takes the lock now and then to look for signals and to
//! hand on progress, and lets it go again. So callbacks run where the caller is, and a signal is seen where Python wants it.

use crate::errors;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use sunprint::error::Result;
use sunprint::source::{Progress, Unit};

/// How long a signal may wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the worker tells the thread that waits.
#[derive(Default)]
pub(crate) struct Watch {
    stopped: AtomicBool,
    done: AtomicU64,
    job: Mutex<Job>,
    finished: Mutex<bool>,
    wake: Condvar,
}

#[derive(Default)]
struct Job {
    what: String,
    total: Option<u64>,
    /// The search for the nearest measure cannot return an error: it is ended by unwinding.
    solving: bool,
}

impl Progress for Watch {
    fn start(&self, what: &str, total: Option<u64>, unit: Unit) {
        let solving = unit == Unit::Steps;
        *lock(&self.job) = Job { what: what.to_string(), total, solving };
        self.done.store(0, Ordering::Relaxed);
    }

    fn advance(&self, by: u64) {
        self.done.fetch_add(by, Ordering::Relaxed);
        if self.stopped() && lock(&self.job).solving {
            // Quiet: no hook runs. `run` knows that the work was to end.
            resume_unwind(Box::new("stopped"));
        }
    }

    fn done(&self) {}

    fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Someone in Python who hears of progress: `callback(what, done, total)`, `total` being `None` where it is not known.
struct Listener<'py> {
    callback: Option<Bound<'py, PyAny>>,
    heard: Option<(String, u64)>,
}

impl Listener<'_> {
    fn hear(&mut self, watch: &Watch) -> PyResult<()> {
        let Some(callback) = &self.callback else { return Ok(()) };
        let (what, total) = {
            let job = lock(&watch.job);
            (job.what.clone(), job.total)
        };
        let now = (what, watch.done.load(Ordering::Relaxed));
        if now.0.is_empty() || self.heard.as_ref() == Some(&now) {
            return Ok(());
        }
        callback.call1((&now.0, now.1, total))?;
        self.heard = Some(now);
        Ok(())
    }
}

/// Runs work and waits for it. A signal, and an exception of the callback, end it.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T> + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    let mut listener = Listener { callback: callback.cloned(), heard: None };
    std::thread::scope(|scope| {
        let watch = &watch;
        let worker = scope.spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(watch)));
            *lock(&watch.finished) = true;
            watch.wake.notify_all();
            outcome
        });
        let mut ended = Ok(());
        while !py.detach(|| wait(watch)) {
            ended = py.check_signals().and_then(|()| listener.hear(watch));
            if ended.is_err() {
                watch.stopped.store(true, Ordering::Relaxed);
                break;
            }
        }
        let outcome = py.detach(|| worker.join());
        ended?;
        match outcome {
            Ok(Ok(outcome)) => {
                let value = errors::returned(py, outcome)?;
                listener.hear(watch)?;
                Ok(value)
            }
            _ => Err(errors::bug(py)),
        }
    })
}

/// Waits a little; whether the work is finished.
fn wait(watch: &Watch) -> bool {
    let finished = lock(&watch.finished);
    let waited = watch.wake.wait_timeout_while(finished, PATIENCE, |finished| !*finished);
    *waited.unwrap_or_else(PoisonError::into_inner).0
}

/// Panics as work does that has a bug, so that tests can see what becomes of the words of a panic.
#[pyfunction]
pub(crate) fn stumble(py: Python<'_>, words: &str) -> PyResult<()> {
    let words = words.to_string();
    run(py, None, |_| std::panic::panic_any(words))
}
