//! What must hold whatever comes in and whatever ends the program.
//!
//! * [`kills`]: `fit` and `synth` are killed at random moments, and nothing is lost, left or under-counted.
//! * [`fuzz`]: damaged and hostile files at every door, and nothing panics, hangs or takes more memory than it should.
//! * [`clock`]: how long a fit takes with different rows of the same shape.

#![forbid(unsafe_code)]
// Killing at a moment means waiting for it.
#![allow(clippy::disallowed_methods)]

pub mod clock;
pub mod dice;
pub mod fuzz;
#[cfg(unix)]
pub mod kills;
#[cfg(unix)]
mod traces;
