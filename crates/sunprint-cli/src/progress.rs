//! Progress bars: on stderr, only on a terminal, and only for work that takes more than a second.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

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

/// Whether a bar is on the screen.
static SHOWN: AtomicBool = AtomicBool::new(false);

/// Takes the bar away that a stopped program would leave in the line of the next prompt.
pub fn wipe() {
    if SHOWN.load(Ordering::Relaxed) {
        let _ = std::io::Write::write_all(&mut std::io::stderr().lock(), b"\r\x1b[K");
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
        let template = match total {
            Some(_) => "{msg} {wide_bar:.cyan} {figures}",
            None => "{msg} {spinner:.cyan} {figures}",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let style =
            style.progress_chars("██░").with_key("figures", move |state: &ProgressState, out: &mut dyn Write| {
                // A bar that cannot be drawn is no reason to stop.
                let _ = out.write_str(&Figures::of(state, unit).to_string());
            });
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::hidden()).with_style(style);
        bar.set_message(shortened(what));

        let (finished, wait) = mpsc::channel();
        let shown = bar.clone();
        let unveil = thread::spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                SHOWN.store(true, Ordering::Relaxed);
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
        SHOWN.store(false, Ordering::Relaxed);
    }
}

/// How far a job is, how fast it goes, and how long it will take.
struct Figures {
    unit: Unit,
    done: u64,
    total: Option<u64>,
    per_second: f64,
    elapsed: Duration,
    left: Duration,
}

impl Figures {
    fn of(state: &ProgressState, unit: Unit) -> Figures {
        Figures {
            unit,
            done: state.pos(),
            total: state.len(),
            per_second: state.per_sec(),
            elapsed: state.elapsed(),
            left: state.eta(),
        }
    }

    fn amount(&self, amount: f64) -> String {
        match self.unit {
            Unit::Bytes => bytes(amount),
            Unit::Rows | Unit::Steps => number(amount),
        }
    }
}

impl fmt::Display for Figures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(total) = self.total {
            let percent = if total == 0 { 100.0 } else { 100.0 * self.done as f64 / total as f64 };
            write!(f, "{:>3.0} %  ", percent.min(100.0).floor())?;
        }
        let (done, speed) = (self.amount(self.done as f64), self.amount(self.per_second));
        match self.unit {
            Unit::Rows => write!(f, "{done} rows, {speed} rows/s, ")?,
            Unit::Bytes => write!(f, "{done}, {speed}/s, ")?,
            Unit::Steps => {}
        }
        match self.total {
            Some(_) => write!(f, "{} left", time(self.left)),
            None => write!(f, "{}", time(self.elapsed)),
        }
    }
}

/// Three digits: `999`, `1.23 k`, `45.6 M`.
fn number(amount: f64) -> String {
    scaled(amount, 1000.0, ["", " k", " M", " G", " T"])
}

fn bytes(amount: f64) -> String {
    scaled(amount, 1024.0, [" B", " KiB", " MiB", " GiB", " TiB"])
}

fn scaled(mut amount: f64, step: f64, units: [&str; 5]) -> String {
    let mut power = 0;
    // What would be rounded up to the next unit takes it.
    while amount >= step - 0.5 && power + 1 < units.len() {
        amount /= step;
        power += 1;
    }
    let digits = match amount {
        _ if power == 0 => 0,
        small if small < 9.995 => 2,
        small if small < 99.95 => 1,
        _ => 0,
    };
    format!("{amount:.digits$}{}", units[power])
}

/// In the unit that says enough.
fn time(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds @ 7200..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}

/// Characters of what is being done: with the longest figures they leave room for a bar in 80 columns.
const LONGEST: usize = 28;

/// The first word and the end, where the name of a file stands; what cannot be shown is a question mark.
fn shortened(what: &str) -> String {
    let shown: Vec<char> = what.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if shown.len() <= LONGEST {
        return shown.into_iter().collect();
    }
    let head = shown.iter().position(|&c| c == ' ').filter(|&at| at < LONGEST / 2).map_or(0, |at| at + 1);
    let tail = shown.len() - (LONGEST - head - 1);
    shown[..head].iter().chain(&['…']).chain(&shown[tail..]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_read_well() {
        let cases = [(0.0, "0"), (999.0, "999"), (999.6, "1.00 k"), (1234.0, "1.23 k"), (45_678_901.0, "45.7 M")];
        assert!(cases.iter().all(|(amount, text)| number(*amount) == *text));
        assert_eq!(
            (bytes(512.0 * 1048576.0), bytes(1023.0), bytes(1.5e12)),
            ("512 MiB".into(), "1023 B".into(), "1.36 TiB".into())
        );
        let seconds = |s| time(Duration::from_secs(s));
        assert_eq!([seconds(0), seconds(119), seconds(120), seconds(86_400)], ["0 s", "119 s", "2 min", "24 h"]);
        let mut figures = Figures {
            unit: Unit::Bytes,
            done: 512 << 20,
            total: Some(1190 << 20),
            per_second: 3.25e8,
            elapsed: Duration::from_secs(2),
            left: Duration::from_secs(2),
        };
        assert_eq!(figures.to_string(), " 43 %  512 MiB, 310 MiB/s, 2 s left");
        figures.unit = Unit::Rows;
        figures.total = None;
        assert_eq!(figures.to_string(), "537 M rows, 325 M rows/s, 2 s");
        figures.unit = Unit::Steps;
        figures.total = Some(0);
        assert_eq!(figures.to_string(), "100 %  2 s left");
    }

    #[test]
    fn a_line_fits_eighty_columns() {
        let widest = Figures {
            unit: Unit::Rows,
            done: 99_949_999_999,
            total: Some(100_000_000_000),
            per_second: 99_949_999.0,
            elapsed: Duration::ZERO,
            left: Duration::from_secs(7000),
        };
        let text = widest.to_string();
        assert_eq!(text, " 99 %  99.9 G rows, 99.9 M rows/s, 116 min left");
        // Two blanks, and a bar of one character.
        assert!(LONGEST + text.chars().count() + 3 <= 80);
    }

    #[test]
    fn long_names_keep_their_end() {
        assert_eq!(shortened("drawing"), "drawing");
        assert_eq!(shortened("reading people.csv"), "reading people.csv");
        let long = shortened("reading /home/curator/tables/2026/people.csv.gz");
        assert_eq!((long.as_str(), long.chars().count()), ("reading …/2026/people.csv.gz", LONGEST));
        assert_eq!(shortened("a\nb\u{1b}[2K"), "a?b?[2K");
        assert_eq!(shortened(&"x".repeat(50)).chars().count(), LONGEST);
    }
}
