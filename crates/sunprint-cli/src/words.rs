//! Talk: everything that is said on stderr, and how it looks.
//!
//! Data goes to stdout, talk to stderr. An error is one sentence after `error:`, advice is one sentence after `hint:`.

use std::io::{self, IsTerminal, Write};

use sunprint::error::Error;

use crate::args::TalkArgs;

/// Says things on stderr.
#[derive(Clone, Copy)]
pub struct Talk {
    quiet: bool,
    bars: bool,
    colour: bool,
}

impl Talk {
    /// As the options and the terminal ask.
    pub fn new(args: TalkArgs) -> Self {
        let terminal = io::stderr().is_terminal();
        Talk { quiet: args.quiet, bars: terminal && !args.quiet && !args.no_progress, colour: colour_wanted(terminal) }
    }

    /// Talk before the options are known.
    pub fn early() -> Self {
        Talk::new(TalkArgs::default())
    }

    /// Whether progress bars may be drawn.
    pub fn bars(&self) -> bool {
        self.bars
    }

    /// One or more lines of talk; nothing if `--quiet`.
    pub fn say(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            line(format_args!("{text}"));
        }
    }

    /// A blank line; nothing if `--quiet`.
    pub fn gap(&self) {
        self.say("");
    }

    /// Advice; nothing if `--quiet`.
    pub fn hint(&self, advice: impl std::fmt::Display) {
        if !self.quiet {
            self.advise(advice);
        }
    }

    /// Something the user should know before trusting the result; nothing if `--quiet`.
    pub fn warn(&self, sentence: impl std::fmt::Display) {
        if !self.quiet {
            line(format_args!("{} {sentence}", self.paint("warning:", "1;33")));
        }
    }

    /// What went wrong, said even if `--quiet`.
    pub fn error(&self, error: &Error) {
        self.refuse(error, error.advice());
    }

    /// What went wrong, in one sentence, and what to do about it.
    pub fn refuse(&self, sentence: impl std::fmt::Display, advice: Option<&str>) {
        line(format_args!("{} {sentence}", self.paint("error:", "1;31")));
        if let Some(advice) = advice {
            self.advise(advice);
        }
    }

    fn advise(&self, advice: impl std::fmt::Display) {
        line(format_args!("{} {advice}", self.paint("hint:", "1;36")));
    }

    fn paint(&self, word: &str, code: &str) -> String {
        if self.colour { format!("\x1b[{code}m{word}\x1b[0m") } else { word.to_owned() }
    }
}

/// Colour only on a terminal that can show it, and never against `NO_COLOR`.
pub fn colour_wanted(terminal: bool) -> bool {
    let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
    terminal && !refused && !dumb
}

/// Stderr may be closed; that is no reason to stop.
fn line(text: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// `1 row`, `2 rows`, `1,234,567 rows`.
pub fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(number), if number == 1 { "" } else { "s" })
}

/// `1234567` as `1,234,567`.
pub fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::thousands;

    #[test]
    fn thousands_are_set_apart() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (20_000, "20,000"), (1_234_567, "1,234,567")];
        for (number, text) in cases {
            assert_eq!(thousands(number), text);
        }
    }
}
