//! The one file of this room that may name a float: a *public* parameter that arrives as one becomes an exact decimal.
//!
//! The way leads through the shortest decimal that reads back as the same float (what Rust prints), so that 0.1 means
//! 1/10 and not the binary number beside it. No arithmetic is done on the float.

use super::epsilon::{Delta, Epsilon};
use crate::error::{Error, Result};

impl TryFrom<f64> for Epsilon {
    type Error = Error;

    fn try_from(value: f64) -> Result<Epsilon> {
        format!("{value:e}").parse()
    }
}

impl TryFrom<f64> for Delta {
    type Error = Error;

    fn try_from(value: f64) -> Result<Delta> {
        format!("{value:e}").parse()
    }
}
