//! Work on all cores, with results in the order of the work.

use crate::error::{Error, Result};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// More threads help nobody, and a system may refuse them.
const MOST: usize = 1024;

/// The number of threads to use: the environment variable `SUNPRINT_THREADS`, if it is a number from 1 to 1024, and
/// otherwise as many as there are cores. No result depends on it.
pub(super) fn cores() -> usize {
    static WANTED: OnceLock<Option<usize>> = OnceLock::new();
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("SUNPRINT_THREADS").ok()?;
        text.trim().parse().ok().filter(|number| (1..=MOST).contains(number))
    });
    wanted.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Works on everything that `feed` gives, on all cores, and hands the results to `take` in the order of feeding. The
/// first error in that order ends it.
pub(crate) fn in_order<I: Send, O: Send>(
    feed: impl FnMut() -> Result<Option<I>> + Send,
    work: impl Fn(I) -> Result<O> + Sync,
    take: impl FnMut(O) -> Result<()>,
) -> Result<()> {
    in_order_on(cores(), feed, work, take)
}

/// The same, with so many workers.
pub(super) fn in_order_on<I: Send, O: Send>(
    workers: usize,
    mut feed: impl FnMut() -> Result<Option<I>> + Send,
    work: impl Fn(I) -> Result<O> + Sync,
    mut take: impl FnMut(O) -> Result<()>,
) -> Result<()> {
    let workers = workers.max(1);
    std::thread::scope(|scope| {
        // What has been fed and not been taken: bounded, so that memory is, whichever piece of work is slow.
        let (begun, ended) = sync_channel::<()>(2 * workers);
        let (to_work, waiting) = sync_channel::<(usize, Result<I>)>(workers);
        let (to_take, finished) = sync_channel::<(usize, std::thread::Result<Result<O>>)>(workers);
        // Shared by the workers alone: when they stop, the feeder's next send fails and it stops too.
        let waiting: Arc<Mutex<Receiver<_>>> = Arc::new(Mutex::new(waiting));
        for _ in 0..workers {
            let (waiting, to_take, work) = (Arc::clone(&waiting), to_take.clone(), &work);
            scope.spawn(move || {
                loop {
                    let Ok(next) = waiting.lock().map(|queue| queue.recv()) else { return };
                    let Ok((number, item)) = next else { return };
                    // A panic is handed on like a result: without it the others would wait for this piece for ever.
                    let outcome = catch_unwind(AssertUnwindSafe(|| item.and_then(work)));
                    if to_take.send((number, outcome)).is_err() {
                        return;
                    }
                }
            });
        }
        drop((waiting, to_take));
        scope.spawn(move || {
            for number in 0.. {
                if begun.send(()).is_err() {
                    return;
                }
                let Some(item) = feed().transpose() else { return };
                let last = item.is_err();
                if to_work.send((number, item)).is_err() || last {
                    return;
                }
            }
        });
        let mut early = BTreeMap::new();
        let mut next = 0;
        for (number, outcome) in finished {
            early.insert(number, outcome);
            while let Some(outcome) = early.remove(&next) {
                take(outcome.unwrap_or_else(|panic| resume_unwind(panic))?)?;
                let _ = ended.recv();
                next += 1;
            }
        }
        Ok(())
    })
}

/// Works on everything that `feed` gives, on all cores, each core on what it fetched itself; nothing waits in between.
/// Items are numbered in the order of feeding. `begin` and `end` frame the work of one core. The first error in the
/// order of feeding ends it.
pub(super) fn share<I, W>(
    feed: impl FnMut(&mut W) -> Result<Option<I>> + Send,
    begin: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, u64, I) -> Result<()> + Sync,
    end: impl Fn(W) -> Result<()> + Sync,
) -> Result<()> {
    let source = Mutex::new((0u64, feed));
    let fault: Mutex<Option<(u64, Error)>> = Mutex::new(None);
    let known = || fault.lock().unwrap_or_else(PoisonError::into_inner);
    // Items are fetched in order and every fetched item is worked on, so the first error of all is found.
    let fail = |number: u64, error: Error| {
        let mut known = known();
        if known.as_ref().is_none_or(|(first, _)| number < *first) {
            *known = Some((number, error));
        }
    };
    let run = || {
        let mut state = begin();
        loop {
            let fetched = {
                let mut source = source.lock().unwrap_or_else(PoisonError::into_inner);
                if known().is_some() {
                    return;
                }
                source.0 += 1;
                (source.0, (source.1)(&mut state))
            };
            match fetched {
                (_, Ok(None)) => break,
                (number, Ok(Some(item))) => {
                    if let Err(error) = work(&mut state, number, item) {
                        return fail(number, error);
                    }
                }
                (number, Err(error)) => return fail(number, error),
            }
        }
        if let Err(error) = end(state) {
            fail(u64::MAX, error);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..cores() {
            scope.spawn(run);
        }
        run();
    });
    let found = known().take();
    found.map_or(Ok(()), |(_, error)| Err(error))
}

#[cfg(test)]
mod tests {
    use super::in_order_on;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    /// A panic ends the work as an error does, however much is left, and is passed on.
    #[test]
    fn a_panic_of_a_worker_is_passed_on() {
        for workers in 1..4 {
            let mut numbers = 0..1000;
            let mut taken = Vec::new();
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                in_order_on(
                    workers,
                    || Ok(numbers.next()),
                    |number| if number == 13 { std::panic::resume_unwind(Box::new("unlucky")) } else { Ok(number) },
                    |number| {
                        taken.push(number);
                        Ok(())
                    },
                )
            }));
            assert!(outcome.is_err());
            assert_eq!(taken, (0..13).collect::<Vec<_>>());
        }
    }
}
