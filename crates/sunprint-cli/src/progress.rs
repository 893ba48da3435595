//! Progress bars: on stderr, only on a terminal, and only for work that takes more than a second.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::words::Talk;
use sunprint::source::{Progress, Unit};

/// Work shorter than this passes without a bar.
const PATIENCE: Duration = Duration::from_secs(1);

/// One bar at a time, or none at all.
pub struct Bars {
    talk: Talk,
    wanted: bool,
    current: Mutex<Option<Bar>>,
}

/// A bar that is hidden until [`PATIENCE`] has passed.
struct Bar {
    bar: ProgressBar,
    finished: Sender<()>,
    unveil: JoinHandle<()>,
}

impl Bars {
    /// Bars as the options and the terminal allow.
    pub fn new(talk: Talk) -> Self {
        Bars { talk, wanted: talk.bars(), current: Mutex::new(None) }
    }

    fn current(&self) -> std::sync::MutexGuard<'_, Option<Bar>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Progress for Bars {
    fn start(&self, what: &str, total: Option<u64>, unit: Unit) {
        if self.wanted {
            let previous = self.current().replace(Bar::begin(what, total, unit));
            previous.into_iter().for_each(Bar::end);
        }
    }

    fn advance(&self, by: u64) {
        if let Some(bar) = self.current().as_ref() {
            bar.bar.inc(by);
        }
    }

    fn done(&self) {
        let bar = self.current().take();
        bar.into_iter().for_each(Bar::end);
    }

    fn note(&self, text: &str) {
        self.talk.say(text);
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.done();
    }
}

impl Bar {
    fn begin(what: &str, total: Option<u64>, unit: Unit) -> Bar {
        let template = match (total, unit) {
            (Some(_), Unit::Rows) => "{msg:24} {bar:24.cyan} {percent:>3} %  {human_pos} rows, {per_sec}, {eta} left",
            (Some(_), Unit::Bytes) => "{msg:24} {bar:24.cyan} {percent:>3} %  {bytes}, {bytes_per_sec}, {eta} left",
            (Some(_), Unit::Steps) => "{msg:24} {bar:24.cyan} {percent:>3} %  {eta} left",
            (None, Unit::Rows) => "{msg:24} {spinner:.cyan} {elapsed}  {human_pos} rows, {per_sec}",
            (None, Unit::Bytes) => "{msg:24} {spinner:.cyan} {elapsed}  {bytes}, {bytes_per_sec}",
            (None, Unit::Steps) => "{msg:24} {spinner:.cyan} {elapsed}",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden()).with_style(style);
        bar.set_message(what.to_owned());

        let (finished, wait) = mpsc::channel();
        let shown = bar.clone();
        let unveil = thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        });
        Bar { bar, finished, unveil }
    }

    fn end(self) {
        let _ = self.finished.send(());
        let _ = self.unveil.join();
        self.bar.finish_and_clear();
    }
}
