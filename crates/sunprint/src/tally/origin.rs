//! Which pass of which fit a tally answers.
//!
//! A sensitivity is a promise about one pass: its clamps, its centre, its basis, its cells. A tally of the same shape that
//! was made for other clamps holds numbers that one row may move by more than what is charged. So every tally carries the
//! random name of its fit and a digest of everything that its pass says, and is refused wherever it does not belong. Both
//! are public, and neither depends on a row.

use crate::error::{Error, Kind, Result};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// Some public bytes, written as hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hex<const N: usize>(pub(super) [u8; N]);

/// The random name of a fit: public, and no other fit has it.
pub type FitName = Hex<16>;

/// What SHA-256 makes of some public bytes.
pub type Digest = Hex<32>;

impl FitName {
    /// A name that nobody has had: two of 2³⁰ fits share one with a probability below 2⁻⁶⁸.
    ///
    /// # Errors
    /// [`Kind::Io`] where the operating system gives no random bytes.
    pub fn fresh() -> Result<FitName> {
        let mut name = [0; 16];
        getrandom::fill(&mut name)
            .map_err(|error| Error::new(Kind::Io, format!("the operating system gave no random bytes: {error}")))?;
        Ok(Hex(name))
    }
}

impl Digest {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Hex(Sha256::digest(bytes).into())
    }
}

/// Nothing but zeros: a pass that belongs to no fit.
impl<const N: usize> Default for Hex<N> {
    fn default() -> Self {
        Hex([0; N])
    }
}

impl<const N: usize> fmt::Display for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<const N: usize> fmt::Debug for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<const N: usize> From<Hex<N>> for String {
    fn from(hex: Hex<N>) -> String {
        hex.to_string()
    }
}

impl<const N: usize> TryFrom<String> for Hex<N> {
    type Error = &'static str;

    fn try_from(text: String) -> std::result::Result<Self, &'static str> {
        let digit = |byte: u8| char::from(byte).to_digit(16).filter(|_| !byte.is_ascii_uppercase());
        let pair = |pair: &[u8]| Some((digit(pair[0])? << 4 | digit(pair[1])?) as u8);
        let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).filter(|two| two.len() == 2).map(pair).collect();
        let whole = bytes.filter(|_| text.len() == 2 * N).and_then(|bytes| bytes.try_into().ok());
        whole.map(Hex).ok_or("not as many hexadecimal digits as there must be")
    }
}

/// Which pass of which fit: the mark that every tally carries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(super) fit: FitName,
    pub(super) number: u32,
    /// Of all that the pass says, its fit and its number included.
    pub(super) pass: Digest,
}

/// What two tallies do not share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Apart {
    /// They belong to different fits.
    Fit,
    /// They belong to different passes of one fit.
    Pass,
}

impl Origin {
    /// What this and another do not share; nothing where they are the same.
    pub(crate) fn apart(&self, other: &Origin) -> Option<Apart> {
        if self.fit != other.fit { Some(Apart::Fit) } else { (self != other).then_some(Apart::Pass) }
    }
}

impl Apart {
    /// A refusal.
    pub(crate) fn refused(self, by_fit: &str, by_pass: &str) -> Error {
        let rule = match self {
            Apart::Fit => by_fit,
            Apart::Pass => by_pass,
        };
        Error::new(Kind::Protocol, rule).hint("answer the pass that `next_pass` of this fit gave last, and no other")
    }
}
