//! Sunprint makes differentially private synthetic data from high-dimensional tables.
//!
//! # The promise
//!
//! With a budget of ε alone, everything that leaves a [`fit::Fit`] is ε-differentially private under the replacement of
//! one row: for any two tables that differ in one row and any set of outputs, the probabilities differ by a factor of at
//! most e^ε. Not approximately, and with no hidden δ: statistics of rows are exact integers, their sensitivities are
//! exact, and the noise is drawn by exact integer samplers from the operating system's entropy (expanded by ChaCha20,
//! which is assumed to be as good as random). The number of rows and the schema are public. With a δ, the same holds for
//! (ε, δ) by way of zero-concentrated privacy. Each mechanism in [`privacy`] carries its own proof.
//!
//! # The flow
//!
//! ```text
//!  rows ──door──▶ codes (u16, fixed point)          the schema is public; the rows are not
//!         sums      ─ noise ─▶ centre, spread                     where the cloud is
//!         moments   ─ noise ─▶ means of strata, covariance        how columns go together
//!         values    ─ noise ─▶ shape of every column              how single columns look
//!         cells     ─ noise ─▶ leaves of a tree of questions, the nearest of many sites,
//!                              or a tree or a lattice in a few directions      where rows really are
//!  rows ◀──door── lift ◀── draw ◀── model = everything released
//! ```
//!
//! A fit is a conversation of a few passes. Whoever can tally each part of a table, merge the tallies and hand them back
//! can run it: one thread, all cores, or a cluster. Tallies are exact, so all of them give the same bits.
//!
//! ```
//! use sunprint::fit::Fit;
//! use sunprint::plan::{Plan, budget};
//! use sunprint::schema::Schema;
//! use sunprint::tally::codes::Codes;
//!
//! # fn main() -> sunprint::error::Result<()> {
//! let schema = Schema::parse(
//!     "[[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 120\n\
//!      [[column]]\nname = \"weight\"\nkind = \"continuous\"\nmin = 0\nmax = 250\n",
//!     "people.toml",
//! )?;
//! // A file comes in through `source::Table::open`; here two parts of a table are written as codes by hand.
//! let mut parts = [Codes::with_capacity(2, 500), Codes::with_capacity(2, 500)];
//! for i in 0..1000_u16 {
//!     parts[usize::from(i) % 2].push(&[20_000 + 10 * i, 15_000 + 12 * i], 0);
//! }
//!
//! let mut fit = Fit::begin(&schema, Plan::default(), budget("1".parse()?, None)?, 1000)?; // spends nothing yet
//! while let Some(pass) = fit.next_pass() {
//!     let mut tally = pass.tally(&parts[0]); // secret: exact and mergeable
//!     tally.merge(pass.tally(&parts[1]))?;
//!     fit.absorb(tally)?; // noise is added here, once
//! }
//! let model = fit.finish()?; // public
//! let rows = model.draw(10, 7).block(0);
//! assert_eq!((rows.width, rows.units.len()), (2, 20));
//! # Ok(())
//! # }
//! ```
//!
//! # The rooms
//!
//! [`schema`] holds all public knowledge, [`door`] turns values into codes and back, [`source`] reads and writes files,
//! [`tally`] sums codes exactly, [`privacy`] is the kernel and the only room that turns sensitive into released,
//! [`subspace`] and [`measure`] work on what was released, [`math`] knows nothing of privacy, `method` says what is asked and
//! what is made of the answers, [`fit`] is the protocol, and [`plan`], [`model`], [`receipt`] and [`run`] tie them together. [`forecast`] says beforehand what a fit can give. [`ledger`] keeps
//! what each dataset has spent. [`evaluate`] compares a real and a synthetic table, for the
//! curator's eyes, and [`report`] makes pages: the curator's of that, and a public one of a model alone. A test holds the
//! rooms apart.

mod cpu;
pub mod door;
pub mod error;
pub mod evaluate;
pub mod fit;
pub mod forecast;
mod infer;
pub mod ledger;
mod markup;
pub mod math;
pub mod measure;
mod method;
pub mod model;
pub mod plan;
pub mod privacy;
pub mod receipt;
pub mod report;
pub mod run;
pub mod schema;
pub mod source;
pub mod subspace;
pub mod tally;
mod wipe;
