//! The kernel: asks for coins, adds the noise, writes down what was spent.

use serde::{Deserialize, Serialize};

use super::budget::{Charge, Privacy};
use super::entropy::Coins;
#[cfg(any(test, feature = "seam"))]
use super::entropy::Entropy;
use super::ratio::Ratio;
use crate::error::{Error, Kind, Result};

/// The only object that turns [`super::Sensitive`] into [`super::Released`].
///
/// It takes its randomness from the operating system, anew for every release, and holds none in between: so neither a fork
/// nor any other copy of a process repeats its noise. In a build without the `seam` feature it cannot be seeded:
/// ```
/// let kernel = sunprint::privacy::Kernel::new()?;
/// assert!(kernel.log().is_empty());
/// # Ok::<(), sunprint::error::Error>(())
/// ```
pub struct Kernel {
    source: Source,
    log: Vec<Spent>,
}

enum Source {
    /// A key for every release, from the operating system.
    System,
    #[cfg(any(test, feature = "seam"))]
    Seeded(Box<Entropy>),
    #[cfg(any(test, feature = "seam"))]
    Quiet,
}

/// One line of the log: what a stage released, and what it cost. Public.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// The stage that spent it.
    pub stage: String,
    /// The mechanism.
    pub mechanism: String,
    /// What the amount is counted in.
    pub privacy: Privacy,
    /// How much of the budget it took.
    pub amount: Ratio,
    /// What one replaced row can change, in words.
    pub sensitivity: String,
    /// The law of the noise, in words.
    pub noise: String,
}

/// What a mechanism says about itself.
pub(super) struct Entry<'a> {
    pub stage: &'a str,
    pub mechanism: &'a str,
    pub sensitivity: String,
    pub noise: String,
}

impl Kernel {
    /// A kernel that draws a key from the operating system for every release, and not before.
    ///
    /// # Errors
    /// [`Kind::Io`] where the operating system gives no random bytes: it is asked for some, which nobody uses, so that
    /// this is said before a row is read and before anything is spent.
    pub fn new() -> Result<Kernel> {
        Coins::fresh().map(|_| Kernel { source: Source::System, log: Vec::new() })
    }

    /// For tests: adds no noise at all, and logs everything. **Not private.**
    #[cfg(any(test, feature = "seam"))]
    pub fn quiet() -> Kernel {
        Kernel { source: Source::Quiet, log: Vec::new() }
    }

    /// For tests: the same noise for the same seed. **Not private.**
    #[cfg(any(test, feature = "seam"))]
    pub fn seeded(seed: u64) -> Kernel {
        Kernel { source: Source::Seeded(Box::new(Entropy::seeded(seed))), log: Vec::new() }
    }

    /// Everything spent so far, in order.
    pub fn log(&self) -> &[Spent] {
        &self.log
    }

    /// The coins of one release; none in the quiet double.
    fn coins(&mut self) -> Result<Option<Coins<'_>>> {
        match &mut self.source {
            Source::System => Coins::fresh().map(Some),
            #[cfg(any(test, feature = "seam"))]
            Source::Seeded(entropy) => Ok(Some(Coins::Seeded(entropy))),
            #[cfg(any(test, feature = "seam"))]
            Source::Quiet => Ok(None),
        }
    }

    /// Refuses a charge of nothing and a statistic that nothing can move: both are mistakes of the planner.
    pub(super) fn admit(charge: &Charge, sensitivity: u128) -> Result<()> {
        if charge.amount().is_zero() {
            return Err(Error::new(Kind::Budget, "a mechanism cannot run on a zero charge")
                .hint("give the stage a positive weight, or leave it out"));
        }
        if sensitivity == 0 {
            return Err(Error::new(Kind::Budget, "a statistic must have a sensitivity of at least 1"));
        }
        Ok(())
    }

    /// Writes down what is spent, and gives the coins of this one release. Called once by every mechanism, before it adds
    /// noise; the coins live no longer than the mechanism runs.
    pub(super) fn spend(&mut self, entry: Entry<'_>, charge: &Charge) -> Result<Option<Coins<'_>>> {
        self.log.push(Spent {
            stage: entry.stage.into(),
            mechanism: entry.mechanism.into(),
            privacy: charge.privacy(),
            amount: charge.amount(),
            sensitivity: entry.sensitivity,
            noise: entry.noise,
        });
        self.coins()
    }
}

#[cfg(test)]
impl Kernel {
    /// Whether nothing of the noise is in the memory of this kernel.
    pub(super) fn source_holds_nothing(&self) -> bool {
        matches!(self.source, Source::System)
    }
}

/// Single draws for audits and measurements; there is no charge because there is no private value.
#[cfg(any(test, feature = "seam"))]
impl Kernel {
    /// The coins of one draw, which nothing is released with.
    ///
    /// # Panics
    /// Where the operating system gives no random bytes.
    fn drawn<T: Default>(&mut self, draw: impl FnOnce(&mut Entropy) -> T) -> T {
        let coins = self.coins().expect("the operating system gives random bytes");
        coins.map_or_else(T::default, |mut coins| draw(&mut coins))
    }

    /// One draw of the discrete Laplace law; 0 from a quiet kernel.
    pub fn draw_laplace(&mut self, scale: Ratio) -> i128 {
        let laplace = super::laplace::Laplace::new(scale);
        self.drawn(|coins| laplace.draw(coins).added_to(0))
    }

    /// One draw of the discrete Gaussian law; 0 from a quiet kernel.
    pub fn draw_gaussian(&mut self, sigma_squared: Ratio) -> i128 {
        let gaussian = super::gaussian::Gaussian::new(sigma_squared);
        self.drawn(|coins| gaussian.draw(coins).added_to(0))
    }

    /// One standard normal, cut off after 48 binary places; 0 from a quiet kernel.
    pub fn draw_normal(&mut self) -> i128 {
        self.drawn(|coins| {
            let normal = super::normal::Normal::<64>::draw(coins);
            let (negative, whole) = (normal.negative, i128::from(normal.whole));
            let magnitude = whole << 48 | i128::from(normal.into_digits().0 >> 16);
            if negative { -magnitude } else { magnitude }
        })
    }
}
