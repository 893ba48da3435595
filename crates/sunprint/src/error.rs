//! One opaque error: what kind it is, where it happened, which rule was broken, and a hint.
//!
//! An error is public. Nothing in it may depend on a private value: a place is a file, a line of a *public* file, a
//! column name or an option; a rule is a sentence written in advance.

use std::fmt;

/// What an [`Error`] is about. The command line maps [`Kind::Usage`] to exit code 2 and the rest to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// An option or argument has a value that cannot be used.
    Usage,
    /// The schema cannot be read or contradicts itself.
    Schema,
    /// The data file does not have the shape that the schema promises.
    Data,
    /// A file cannot be opened, read or written.
    Io,
    /// More privacy budget was asked for than there is.
    Budget,
    /// A model file is damaged or from a newer version.
    Model,
    /// A pass or tally does not belong to this fit.
    Protocol,
    /// A ledger is damaged, from a newer version, or held by another program.
    Ledger,
    /// Whoever watched the work wanted it to end.
    Stopped,
}

/// The one error type of the library.
#[derive(Debug, Clone)]
pub struct Error {
    kind: Kind,
    place: Option<String>,
    rule: String,
    hint: Option<String>,
    closed_pipe: bool,
}

/// A result with the library's error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of a kind, with the sentence that names the rule.
    pub fn new(kind: Kind, rule: impl Into<String>) -> Self {
        Error { kind, place: None, rule: rule.into(), hint: None, closed_pipe: false }
    }

    /// Says where: a file, `file:line:column`, or a column name.
    #[must_use]
    pub fn at(mut self, place: impl Into<String>) -> Self {
        self.place = Some(place.into());
        self
    }

    /// Says what to do about it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Says that nothing is wrong but that whoever read the output has heard enough.
    #[must_use]
    pub(crate) fn with_closed_pipe(mut self, closed: bool) -> Self {
        self.closed_pipe = closed;
        self
    }

    /// Whether the only trouble is that the reader of the output went away, as `head` does.
    pub fn is_closed_pipe(&self) -> bool {
        self.closed_pipe
    }

    /// What the error is about.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Where it happened, if that is known.
    pub fn place(&self) -> Option<&str> {
        self.place.as_deref()
    }

    /// What to do about it, if there is advice.
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.rule),
            None => f.write_str(&self.rule),
        }
    }
}

impl std::error::Error for Error {}
