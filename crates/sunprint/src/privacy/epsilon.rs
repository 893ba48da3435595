//! The promise in numbers: [`Epsilon`] and [`Delta`], checked once, then carried by type.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use super::ratio::{Ratio, shorten};
use crate::error::{Error, Kind, Result};

/// The privacy parameter ε: an exact rational in [1/10000, 1000].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Epsilon(Ratio);

/// The privacy parameter δ: an exact rational in (0, 1), at least 1e-30.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Delta(Ratio);

impl Epsilon {
    /// Checks the range.
    pub fn new(value: Ratio) -> Result<Epsilon> {
        if Ratio::new(1, 10_000).is_some_and(|least| value >= least) && value <= Ratio::whole(1000) {
            Ok(Epsilon(value))
        } else {
            Err(refuse("epsilon", "between 0.0001 and 1000", &value.to_string(), "1 is a common choice"))
        }
    }

    /// The exact value.
    pub fn ratio(&self) -> Ratio {
        self.0
    }
}

impl Delta {
    /// Checks the range.
    pub fn new(value: Ratio) -> Result<Delta> {
        if Ratio::new(1, 10u128.pow(30)).is_some_and(|least| value >= least) && value < Ratio::ONE {
            Ok(Delta(value))
        } else {
            Err(refuse(
                "delta",
                "at least 1e-30 and below 1",
                &value.to_string(),
                "well below one over the rows, such as 1e-9",
            ))
        }
    }

    /// The exact value.
    pub fn ratio(&self) -> Ratio {
        self.0
    }
}

fn refuse(name: &str, rule: &str, given: &str, hint: &str) -> Error {
    let given = if given.trim().is_empty() { "empty".to_string() } else { shorten(given) };
    Error::new(Kind::Usage, format!("`{name}` must be a number {rule}, but it is {given}")).hint(hint)
}

/// Reads an exact decimal or fraction.
impl FromStr for Epsilon {
    type Err = Error;

    fn from_str(text: &str) -> Result<Epsilon> {
        match text.parse() {
            Ok(value) => Epsilon::new(value),
            Err(_) => Err(refuse("epsilon", "between 0.0001 and 1000", text, "write a plain decimal such as 0.5")),
        }
    }
}

/// Reads an exact decimal or fraction.
impl FromStr for Delta {
    type Err = Error;

    fn from_str(text: &str) -> Result<Delta> {
        match text.parse() {
            Ok(value) => Delta::new(value),
            Err(_) => Err(refuse("delta", "at least 1e-30 and below 1", text, "write a plain decimal such as 1e-9")),
        }
    }
}

impl fmt::Display for Epsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Epsilon {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Epsilon, D::Error> {
        Epsilon::new(Ratio::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Delta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Delta, D::Error> {
        Delta::new(Ratio::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_range_is_kept() {
        for text in ["0.0001", "1/3", "1000", "1e-4", "0.30000000000000004"] {
            assert!(text.parse::<Epsilon>().is_ok(), "{text}");
        }
        for text in ["0", "-1", "NaN", "inf", "1e-300", "1e300", "1000.1", "0.00009", ""] {
            let error = text.parse::<Epsilon>().unwrap_err();
            assert_eq!(error.kind(), Kind::Usage, "{text}");
            assert!(error.advice().is_some(), "{text}");
        }
        for text in ["1e-30", "0.5", "1e-9"] {
            assert!(text.parse::<Delta>().is_ok(), "{text}");
        }
        for text in ["0", "1", "1e-31", "NaN", "2"] {
            assert!(text.parse::<Delta>().is_err(), "{text}");
        }
    }

    #[test]
    fn floats_pass_through_their_shortest_decimal() {
        assert_eq!(Epsilon::try_from(0.1).unwrap().ratio(), Ratio::new(1, 10).unwrap());
        assert_eq!(Delta::try_from(1e-9).unwrap().ratio(), Ratio::new(1, 1_000_000_000).unwrap());
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, -1.0, 1e-300, 1e300] {
            assert_eq!(Epsilon::try_from(value).unwrap_err().kind(), Kind::Usage);
        }
    }

    #[test]
    fn json_is_checked() {
        let epsilon: Epsilon = serde_json::from_str("\"1/2\"").unwrap();
        assert_eq!(serde_json::to_string(&epsilon).unwrap(), "\"1/2\"");
        assert!(serde_json::from_str::<Epsilon>("\"0/1\"").is_err());
    }
}
