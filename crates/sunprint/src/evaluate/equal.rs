//! The random part of the real table that is as far from it as the synthetic table is.

use super::Settings;
use super::distances::{PURPOSE, parts};
use super::picks::Picks;
use crate::error::Result;
use crate::math::stream::Stream;
use crate::math::transport::{Points, wasserstein1};
use crate::source::{Progress, Table, Unit, in_order};

/// Draws that are averaged; more would only take longer.
const DRAWS: usize = 3;
/// More rows a side are not compared: the answer is about the size of a sample, to one digit.
const MOST_ROWS: usize = 1_000;
/// The search ends when the sizes on both sides differ by less than this factor.
const CLOSE: f64 = 1.15;

/// What the search came to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Equal {
    /// So many real rows are as far from other real rows as the synthetic rows are.
    Rows(usize),
    /// Even so many real rows, the most that were tried, are farther away than the synthetic rows.
    AtLeast(usize),
    /// A single real row is nearer to the others than the synthetic rows are.
    None,
}

/// Finds k such that k random real rows are as far, in exact W1, from m other real rows as m′ synthetic rows are.
///
/// With k = m′ that is the floor. W1 falls as k grows, on average, because more rows are nearer to all others; so the
/// logarithm of k is halved between 1 and m′. In each draw the m real rows are the same for all k, those that
/// `distances` takes, and a longer choice begins with the shorter one, so that chance falls on all sides alike.
pub(crate) fn equal_rows(
    real: &Table,
    synthetic: &Table,
    settings: &Settings,
    progress: &dyn Progress,
) -> Result<Option<Equal>> {
    if real.rows() < 2 {
        return Ok(None);
    }
    let most = settings.rows.unwrap_or(usize::MAX).min(MOST_ROWS);
    let sizes = [real.rows().min(most), synthetic.rows().min(most)];
    let [first, second] = parts(sizes, real.rows());
    let search = Search { real: Picks::new(real), synthetic: Picks::new(synthetic), first, settings };
    progress.start("finding a sample as good", None, Unit::Steps);
    let found = search.run(sizes[1], second);
    progress.done();
    found.map(Some)
}

struct Search<'a> {
    real: Picks<'a>,
    synthetic: Picks<'a>,
    /// m.
    first: usize,
    settings: &'a Settings,
}

impl Search<'_> {
    fn run(&self, synthetic: usize, most: usize) -> Result<Equal> {
        let wanted = self.mean(|draw| self.against_synthetic(draw, synthetic))?;
        let at = |k: usize| self.mean(|draw| self.against_real(draw, k));
        if at(most)? >= wanted {
            return Ok(Equal::AtLeast(most));
        }
        if at(1)? < wanted {
            return Ok(Equal::None);
        }
        // At `low` a sample is farther than the synthetic rows, at `high` nearer.
        let (mut low, mut high) = (1, most);
        while high > low + 1 && high as f64 > CLOSE * low as f64 {
            let middle = ((low as f64 * high as f64).sqrt().round() as usize).clamp(low + 1, high - 1);
            if at(middle)? >= wanted { low = middle } else { high = middle }
        }
        Ok(Equal::Rows(low))
    }

    fn mean(&self, w1: impl Fn(usize) -> Result<f64> + Sync) -> Result<f64> {
        let (mut draws, mut sum) = (0..DRAWS, 0.0);
        in_order(
            || Ok(draws.next()),
            w1,
            |w1| {
                sum += w1;
                Ok(())
            },
        )?;
        Ok(sum / DRAWS as f64)
    }

    fn stream(&self, draw: usize, number: u64) -> Stream {
        Stream::new(self.settings.seed, PURPOSE, 4 * draw as u64 + number)
    }

    fn against_synthetic(&self, draw: usize, rows: usize) -> Result<f64> {
        let chosen = self.real.choose(self.first, &mut self.stream(draw, 0));
        let other = self.synthetic.choose(rows, &mut self.stream(draw, 1));
        self.w1(&self.real.points(&chosen), &self.synthetic.points(&other))
    }

    fn against_real(&self, draw: usize, rows: usize) -> Result<f64> {
        let chosen = self.stream(draw, 0).choose(self.real.rows(), self.first + rows);
        self.w1(&self.real.points(&chosen[..self.first]), &self.real.points(&chosen[self.first..]))
    }

    fn w1(&self, one: &[f64], other: &[f64]) -> Result<f64> {
        let width = self.real.width();
        Ok(wasserstein1(&Points::new(one, width)?, &Points::new(other, width)?, self.settings.metric)?.cost)
    }
}
