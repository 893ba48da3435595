//! Work on all cores, with results in the order of the work.

use crate::error::Result;
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, OnceLock};

/// The number of threads to use: the environment variable `SUNPRINT_THREADS`, if it is a number from 1 on, and
/// otherwise as many as there are cores. No result depends on it.
pub(super) fn cores() -> usize {
    static WANTED: OnceLock<Option<usize>> = OnceLock::new();
    let wanted = WANTED.get_or_init(|| {
        let text = std::env::var("SUNPRINT_THREADS").ok()?;
        text.trim().parse().ok().filter(|&number| number > 0)
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
        let (to_take, finished) = sync_channel::<(usize, Result<O>)>(workers);
        // Shared by the workers alone: when they stop, the feeder's next send fails and it stops too.
        let waiting: Arc<Mutex<Receiver<_>>> = Arc::new(Mutex::new(waiting));
        for _ in 0..workers {
            let (waiting, to_take, work) = (Arc::clone(&waiting), to_take.clone(), &work);
            scope.spawn(move || {
                loop {
                    let Ok(next) = waiting.lock().map(|queue| queue.recv()) else { return };
                    let Ok((number, item)) = next else { return };
                    if to_take.send((number, item.and_then(work))).is_err() {
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
                take(outcome?)?;
                let _ = ended.recv();
                next += 1;
            }
        }
        Ok(())
    })
}
