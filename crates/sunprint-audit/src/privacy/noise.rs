//! Where the noise of a run comes from: the operating system, as for every user, or a seed, for tests alone.

use sunprint::fit::Fit;
use sunprint::math::stream::Stream;
use sunprint::plan::Plan;
use sunprint::privacy::{Budget, Kernel};
use sunprint::schema::Schema;

/// Where the noise of an audit comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// The operating system: what is shipped, as it is shipped.
    System,
    /// The same noise for the same seed, so that a test cannot be lucky.
    #[cfg(feature = "seam")]
    Seeded(u64),
}

impl Source {
    /// The noise of one run; runs of one audit have different numbers.
    pub(super) fn noise(self, number: u64) -> Noise {
        match self {
            Source::System => {
                let _ = number;
                Noise::System
            }
            #[cfg(feature = "seam")]
            Source::Seeded(seed) => Noise::Seeded((seed << 36) + number),
        }
    }
}

/// The noise of one run.
#[derive(Clone, Copy, Debug)]
pub enum Noise {
    /// Fresh.
    System,
    /// From a seed.
    #[cfg(feature = "seam")]
    Seeded(u64),
}

/// What is said where the operating system gives no random bytes: nothing can be audited then.
const ENTROPY: &str = "the operating system gives random bytes";

impl Noise {
    /// A kernel.
    ///
    /// # Panics
    /// Where the operating system gives no random bytes.
    pub fn kernel(self) -> Kernel {
        match self {
            Noise::System => Kernel::new().expect(ENTROPY),
            #[cfg(feature = "seam")]
            Noise::Seeded(seed) => Kernel::seeded(seed),
        }
    }

    /// A fit.
    ///
    /// # Panics
    /// If the plan cannot be run: it is the audit's own.
    pub fn fit(self, schema: &Schema, plan: Plan, budget: Budget, rows: u64) -> Fit {
        let begun = match self {
            Noise::System => Fit::begin(schema, plan, budget, rows),
            #[cfg(feature = "seam")]
            Noise::Seeded(_) => Fit::begin_with_danger_kernel(schema, plan, budget, rows, self.kernel()),
        };
        begun.expect("a plan that can be run")
    }

    /// Plain random numbers, for mechanisms that are broken on purpose.
    ///
    /// # Panics
    /// Where the operating system gives no random bytes.
    pub fn stream(self) -> Stream {
        let seed = match self {
            Noise::System => getrandom::u64().expect(ENTROPY),
            #[cfg(feature = "seam")]
            Noise::Seeded(seed) => seed,
        };
        Stream::new(seed, 0, 0)
    }
}
