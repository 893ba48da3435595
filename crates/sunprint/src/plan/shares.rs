//! How the budget is divided between the stages.

use crate::error::{Error, Kind, Result};
use crate::schema::{Block, Form, Schema};
use crate::tally::{MomentLayout, WIDEST_SITES};
use serde::{Deserialize, Serialize};

/// What shares may depend on: all of it is public.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// n.
    pub rows: u64,
    /// d: coordinates.
    pub width: usize,
    /// The coordinates whose mean is measured first: all but those of categories.
    pub lines: usize,
    /// Columns whose values are counted one by one where that pays: not angles, nor columns of two values.
    pub columns: usize,
    /// Columns by which rows are compared: all but those that split the table. A category is one of them.
    pub compared: usize,
    /// Strata.
    pub strata: usize,
    /// ε.
    pub epsilon: f64,
}

impl Facts {
    /// The facts of a table.
    pub fn of(schema: &Schema, rows: u64, epsilon: f64) -> Facts {
        let blocks = schema.blocks();
        let lines = blocks.iter().filter(|block| block.form != Form::OneHot).map(|block| block.width()).sum();
        let columns = blocks.iter().filter(|block| counted(schema, block)).count();
        let (width, strata) = (schema.width(), schema.strata());
        Facts { rows, width, lines, columns, compared: blocks.len(), strata, epsilon }
    }

    /// `d/(εn)`.
    pub fn difficulty(&self) -> f64 {
        difficulty(self.rows, self.width, self.epsilon)
    }

    /// Whether there are so few rows that directions cannot be found, and all goes into means.
    ///
    /// The moments measure d² numbers at once, the contrasts of k strata (k − 1) d: with few strata these are heard long
    /// before the moments are. The limits were set by eye, from a few
    /// runs on real tables: see `docs/shares.md`.
    ///
    /// With more strata the means come as sums of each stratum by itself, whose noise does not grow with their number. The
    /// moments bring such means too, with noise `√(2(p+1)) R/(ε₁ t_L n/k)` for clip radius `C² = κ d v`, `R = 1.25 C²`,
    /// `t_L² = 0.15 C²`: in deviations √v of a typical column that is `3.2 √(2 d κ d)/(ε₁ n/k)`. Where it is larger than
    /// these deviations, strata cannot be told apart by the moments, and means are taken instead.
    pub fn few_rows(&self) -> bool {
        let limit = if (2..=3).contains(&self.strata) { 0.008 } else { 0.05 };
        self.difficulty() > limit || self.means_drown()
    }

    /// Whether the moments say how many rows each stratum has.
    fn has_sizes(&self) -> bool {
        self.strata == 1 || MomentLayout::new(self.width, self.strata).strata == self.strata
    }

    /// Whether the moments would leave the means of four strata or more in their noise.
    fn means_drown(&self) -> bool {
        let (d, k) = (self.width as f64, self.strata as f64);
        let noise = 3.2 * (2.0 * d * 2.2 * d).sqrt() * k / (0.6 * self.epsilon * self.rows as f64);
        (4..=MOST_CONTRASTS).contains(&self.strata) && noise > DROWNED
    }
}

/// How the budget is divided between the stages of the default method, in ten-thousandths.
///
/// Shares may depend on everything public: rows, columns, strata and ε. They add up to [`Shares::WHOLE`] and are turned
/// into exact rationals, so the stages together never spend more than the whole. A stage without a share does not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Shares {
    /// The column sums: where the cloud is.
    pub centre: u64,
    /// The total square: how wide it is, hence where to clip.
    pub spread: u64,
    /// The sums of strata against one another: where each stratum is. Instead of the moments, where rows are few.
    pub contrasts: u64,
    /// The clipped moments: which directions matter.
    pub moments: u64,
    /// The values of each column one by one.
    pub marginals: u64,
    /// The cell counts: the shape in those directions.
    pub measure: u64,
    /// The strata in the leaves of a tree: where each of them prevails.
    pub labels: u64,
    /// The rows nearest to each of many sites: where rows really are.
    pub sites: u64,
}

/// Cells of a column's histogram, for predictions.
pub(crate) const CELLS: u32 = 32;
/// The part of the budget for the values of columns, where they pay.
const FOR_MARGINALS: f64 = 0.2;
/// They pay where the rows of one half of a column are known to this part of all rows.
const HALF_KNOWN: f64 = 0.05;
/// Where rows are few: the part of the rows that may have another category, and what this may cost.
const GOOD_CATEGORIES: f64 = 0.016;
const FOR_CATEGORIES: (f64, f64) = (0.1, 0.3);
/// The measure's part of what centre and spread, marginals and labels leave.
const MEASURE: f64 = 0.15;
/// Leaves of the tree of labels have so many rows for one deviation of their noise, on average.
const ROWS_FOR_NOISE: f64 = 20.0;
/// They do not pay where a stratum has fewer rows for one deviation, on average.
const FEW_FOR_NOISE: f64 = 40.0;
/// So many leaves are good, and more are never grown.
const GOOD_LEAVES: f64 = 32.0;
const MOST_LEAVES: f64 = 4096.0;
/// The labels get at least and at most this, where they get anything.
const LEAST_FOR_LABELS: f64 = 0.1;
const MOST_FOR_LABELS: f64 = 0.15;
/// The part of the budget for sites, where they pay.
const FOR_SITES: f64 = 0.3;
/// Sites have so many rows for one deviation of their noise, on average.
const ROWS_A_SITE: f64 = 8.0;
/// They pay from so many sites for each column on: with fewer, the nearest site is as far away as any.
const SITES_A_COLUMN: f64 = 35.0;
/// More rounds of them are never asked for.
const MOST_ROUNDS: f64 = 4.0;
/// More sites are never asked for, nor sites of more numbers together.
const MOST_SITES: f64 = 8_192.0;
const MOST_SITE_NUMBERS: f64 = 2_097_152.0;
/// There are so many candidates for each cell that is counted; so many at least, and at most candidates of so many numbers.
const CANDIDATES_A_CELL: usize = 8;
const LEAST_CANDIDATES: usize = 32_768;
const MOST_CANDIDATE_NUMBERS: usize = 1 << 24;
/// More strata have no tree of labels.
const MOST_LABELS: usize = 64;
/// More strata have no contrasts: they would be noise.
const MOST_CONTRASTS: usize = 64;
/// Means drown where their noise is so many deviations of a column.
const DROWNED: f64 = 1.3;

impl Shares {
    /// What the shares add up to.
    pub const WHOLE: u64 = 10_000;

    /// The default shares for a table.
    ///
    /// *Marginals.* A fixed part, where the coarsest thing that they can say of a column is heard; what finer cells cannot
    /// say is left to the model.
    ///
    /// *Labels.* A leaf's count has noise of deviation `σ = √8/ε₃`. They get what makes a good number of leaves with many
    /// rows for each σ, within limits, and nothing if the strata have too few.
    ///
    /// *Centre.* Its error is about `d^{1.5}/(√3 ε₁ n)` in norm and must stay well inside the clip ball, whose radius
    /// grows as √d: so its share grows with the *difficulty* `d/(εn)`, from a floor at large n to a half at small n.
    ///
    /// *Measure and moments.* A fixed part of what is left is for the shape; the moments, which bring the directions, the
    /// correlations and the strata's means, have the rest.
    ///
    /// *Few rows.* Nothing but means can be heard: the centre gets more than half, the contrasts of strata the rest.
    ///
    /// How the constants were chosen, and how little that proves: `docs/shares.md`.
    pub fn for_table(facts: &Facts) -> Shares {
        if facts.few_rows() { Shares::for_few_rows(facts) } else { Shares::beside(facts, true, false) }
    }

    /// The same, but with directions, however few the rows.
    pub fn with_directions(facts: &Facts) -> Shares {
        Shares::beside(facts, true, true)
    }

    /// The same without marginals, which only a model with texture can follow.
    pub fn without_marginals(facts: &Facts) -> Shares {
        Shares::beside(facts, false, true)
    }

    /// `plane`: whether directions were asked for.
    fn beside(facts: &Facts, textured: bool, plane: bool) -> Shares {
        let sites = if textured && !plane { Shares::for_sites(facts) } else { 0.0 };
        // All others divide what is left as if there were no more.
        let facts = &Facts { epsilon: (1.0 - sites) * facts.epsilon, ..*facts };
        let [marginals, labels] = match textured {
            true => [Shares::for_marginals(facts), Shares::for_labels(facts)],
            false => [0.0, 0.0],
        };
        let difficulty = facts.difficulty();
        let lines = difficulty * facts.lines as f64 / facts.width.max(1) as f64;
        let whole = 1.0 - marginals - labels;
        let centre = if facts.lines == 0 { 0.0 } else { whole * (16.0 * lines).clamp(0.06, 0.50) };
        let spread = if facts.lines == 0 { 0.0 } else { whole * (2.0 * lines).clamp(0.02, 0.06) };
        // Sites count the shape better than cells in a few directions do.
        let measure = if sites > 0.0 && facts.has_sizes() { 0.0 } else { (whole - centre - spread) * MEASURE };
        let parts = [centre, spread, measure, marginals, labels].map(|part| (1.0 - sites) * part);
        Shares::from_parts(parts, sites)
    }

    /// Means, and how often each category comes: of these the means say nothing.
    fn for_few_rows(facts: &Facts) -> Shares {
        let means = Shares::of_means(facts);
        let categories = (facts.width - facts.lines.min(facts.width)) as f64;
        if categories == 0.0 || means.moments > 0 {
            return means;
        }
        let wanted = categories / (GOOD_CATEGORIES * facts.rows as f64 * facts.epsilon);
        let part = wanted.clamp(FOR_CATEGORIES.0, FOR_CATEGORIES.1);
        let marginals = (part * Shares::WHOLE as f64).round() as u64;
        // A stage that runs keeps a share.
        let less =
            |share: u64| if share == 0 { 0 } else { (share * (Shares::WHOLE - marginals) / Shares::WHOLE).max(1) };
        let mut shares = Shares {
            centre: less(means.centre),
            spread: less(means.spread),
            contrasts: less(means.contrasts),
            measure: less(means.measure),
            ..Shares::default()
        };
        let Shares { centre, spread, contrasts, measure, .. } = shares;
        shares.marginals = Shares::WHOLE - centre - spread - contrasts - measure;
        shares
    }

    fn of_means(facts: &Facts) -> Shares {
        let (strata, contrasts) = (facts.strata > 1, (2..=MOST_CONTRASTS).contains(&facts.strata));
        if sums_of_strata(facts.strata) {
            // The sums of strata say where the centre is, too.
            let spread = if facts.lines == 0 { 0 } else { 600 };
            return Shares { spread, contrasts: 8_400 + 600 - spread, measure: 1_000, ..Shares::default() };
        }
        let spread = if facts.lines == 0 { 0 } else { 600 };
        let contrasts = if contrasts { 2_800 } else { 0 };
        let measure = if strata { 800 } else { 0 };
        // Without numbers there is no centre to find: the contrasts, or the counts of strata, take what is left.
        let left = Shares::WHOLE - spread - contrasts - measure;
        match (facts.lines, contrasts, measure) {
            (0, 0, 0) => Shares { moments: left, ..Shares::default() },
            (0, 0, _) => Shares { measure: measure + left, ..Shares::default() },
            (0, ..) => Shares { contrasts: contrasts + left, measure, ..Shares::default() },
            _ => Shares { centre: left, spread, contrasts, measure, ..Shares::default() },
        }
    }

    /// The part of the budget for marginals: all or nothing.
    ///
    /// Counts of one of m columns have noise of deviation `σ = √8 m/ε₂`; half of its B cells together have `σ √(B/2)`, and
    /// so has the other half, which together are n: what is known of a half is `σ √B/2`.
    fn for_marginals(facts: &Facts) -> f64 {
        let noise = 8.0_f64.sqrt() * facts.columns as f64 / (FOR_MARGINALS * facts.epsilon);
        let known = 0.5 * noise * f64::from(CELLS).sqrt() <= HALF_KNOWN * facts.rows as f64;
        if facts.columns > 0 && known { FOR_MARGINALS } else { 0.0 }
    }

    /// The part of the budget for labels: what makes a good number of leaves, within limits, and nothing if they would be
    /// too few.
    fn for_labels(facts: &Facts) -> f64 {
        let noise = |share: f64| 8.0_f64.sqrt() / (share * facts.epsilon);
        let leaves = |share: f64| facts.rows as f64 / (ROWS_FOR_NOISE * noise(share));
        let few = facts.rows as f64 / facts.strata as f64 / noise(MOST_FOR_LABELS) < FEW_FOR_NOISE;
        if !(2..=MOST_LABELS).contains(&facts.strata) || few {
            return 0.0;
        }
        (GOOD_LEAVES / leaves(1.0)).clamp(LEAST_FOR_LABELS, MOST_FOR_LABELS)
    }

    /// The part of the budget for sites: all or nothing.
    fn for_sites(facts: &Facts) -> f64 {
        let noise = 8.0_f64.sqrt() / (FOR_SITES * facts.epsilon);
        let pays = sites_a_column(facts.rows, facts.compared, noise) >= SITES_A_COLUMN && facts.width <= WIDEST_SITES;
        if pays { FOR_SITES } else { 0.0 }
    }

    /// The shares when k directions are public: the moments are then those of k coordinates, which need little, and
    /// what the directions would have cost goes to the measure.
    pub fn with_public_basis(facts: &Facts) -> Shares {
        let difficulty = facts.difficulty();
        let (centre, spread) = match facts.lines {
            0 => (0.0, 0.0),
            _ => ((16.0 * difficulty).clamp(0.06, 0.50), (2.0 * difficulty).clamp(0.02, 0.06)),
        };
        let usual = Shares::from_parts([centre, spread, 0.0, 0.0, 0.0], 0.0);
        let both = usual.moments;
        Shares { moments: both / 4, measure: both - both / 4, ..usual }
    }

    /// The shares of a Gaussian baseline.
    pub fn for_gaussian(facts: &Facts) -> Shares {
        let measure = if facts.strata > 1 { 0.05 } else { 0.0 };
        let centre = if facts.lines == 0 { 0.0 } else { (16.0 * facts.difficulty()).clamp(0.1, 0.50) };
        Shares::from_parts([centre, if facts.lines == 0 { 0.0 } else { 0.04 }, measure, 0.0, 0.0], 0.0)
    }

    fn from_parts(parts: [f64; 5], sites: f64) -> Shares {
        let whole = Shares::WHOLE as f64;
        let part = |share: f64| (share * whole).round() as u64;
        let ([centre, spread, measure, marginals, labels], sites) = (parts.map(part), part(sites));
        let moments = Shares::WHOLE - centre - spread - measure - marginals - labels - sites;
        Shares { centre, spread, moments, marginals, measure, labels, sites, contrasts: 0 }
    }

    /// Refuses shares that do not make a whole, and a stage that has to run on nothing.
    pub(crate) fn check(&self, facts: &Facts) -> Result<()> {
        let Shares { centre, spread, contrasts, moments, marginals, measure, labels, sites } = *self;
        let parts = [centre, spread, contrasts, moments, marginals, measure, labels, sites];
        let sum: u128 = parts.map(u128::from).iter().sum();
        if sum != u128::from(Shares::WHOLE) {
            return Err(Error::new(
                Kind::Usage,
                format!("the budget shares add up to {sum} ten-thousandths and must add up to {}", Shares::WHOLE),
            ));
        }
        let open = facts.lines == 0 || (centre > 0 || sums_of_strata(facts.strata) && contrasts > 0) && spread > 0;
        let strata = facts.strata == 1 || measure > 0 || sites > 0 && facts.has_sizes();
        let either = moments == 0 || contrasts == 0;
        if !open || !strata || !either {
            return Err(Error::new(Kind::Usage, "every stage of the fit needs a share of the budget").hint(
                "give centre, spread, moments and measure at least one ten-thousandth each, or contrasts instead of \
                 moments",
            ));
        }
        // A share that nothing spends would be promised and wasted.
        let shape = moments > 0 && (measure > 0 || sites > 0);
        let spent = (facts.lines > 0 || centre == 0 && spread == 0)
            && (facts.strata > 1 || contrasts == 0)
            && (facts.strata > 1 || measure == 0 || shape)
            && (facts.columns > 0 && shape || facts.lines < facts.width && moments == 0 || marginals == 0)
            && (facts.strata > 1 && shape || labels == 0)
            && (moments > 0 && facts.width <= WIDEST_SITES || sites == 0);
        if !spent {
            return Err(Error::new(Kind::Usage, "a share of the budget belongs to a stage that would not run").hint(
                "contrasts and labels need strata, labels, marginals and sites need moments and a measure, and centre \
                 and spread need numbers",
            ));
        }
        Ok(())
    }
}

/// Whether the values of a column are counted one by one where that pays. Not those of angles, nor those of two values:
/// how often each of two comes is told by their mean, which the moments have with far less noise.
pub(crate) fn counted(schema: &Schema, block: &Block) -> bool {
    let two = schema.columns[block.column].kind.values() == Some(2) && block.end() - block.start <= 2 && !block.absence;
    block.form != Form::Circle && !two
}

/// How many leaves the tree of labels may have when its counts have a noise of this deviation.
pub(crate) fn most_leaves(rows: u64, noise: f64) -> usize {
    (rows as f64 / (ROWS_FOR_NOISE * noise)).clamp(2.0, MOST_LEAVES) as usize
}

/// How many sites there are when their counts have a noise of this deviation.
pub(crate) fn site_count(rows: u64, width: usize, noise: f64) -> usize {
    let most = MOST_SITES.min(MOST_SITE_NUMBERS / width.max(1) as f64);
    (rows as f64 / (ROWS_A_SITE * noise)).min(most).max(1.0) as usize
}

/// How many there could be for each column that is compared, if their number had no limit.
fn sites_a_column(rows: u64, columns: usize, noise: f64) -> f64 {
    rows as f64 / (ROWS_A_SITE * noise * columns.max(1) as f64)
}

/// How many times sites are counted, if once their counts would have a noise of this deviation: each time with as many for
/// each column as make it pay. Every round asks where the rounds before it found rows.
pub(crate) fn site_rounds(rows: u64, columns: usize, noise: f64) -> usize {
    (sites_a_column(rows, columns, noise) / SITES_A_COLUMN).round().clamp(1.0, MOST_ROUNDS) as usize
}

/// How many candidates a model has by which so many sites and leaves are proposed and corrected.
pub(crate) fn candidates(sites: usize, leaves: usize, width: usize) -> usize {
    let wanted = CANDIDATES_A_CELL * sites.max(leaves);
    wanted.max(LEAST_CANDIDATES).min(MOST_CANDIDATE_NUMBERS / width.max(1)).max(2048)
}

/// Whether so many strata are summed one by one where rows are few, without a centre first. Fewer are measured against
/// one another: two of them with half the noise, three with about as much.
pub(crate) fn sums_of_strata(strata: usize) -> bool {
    (4..=MOST_CONTRASTS).contains(&strata)
}

/// `d/(εn)`: how hard a table is. Below a thousandth nearly everything can be found, above a tenth nearly nothing.
pub fn difficulty(rows: u64, width: usize, epsilon: f64) -> f64 {
    width.max(1) as f64 / (epsilon.max(1e-9) * rows.max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Whatever the table, the shares are a whole, and every stage that runs has one.
        #[test]
        fn shares_make_a_whole(
            rows in 1_u64..1 << 32, columns in 1_usize..500, hot in 0_usize..500, strata in 1_usize..1024,
            epsilon in 1e-4f64..1000.0, lines: bool,
        ) {
            let lines = if lines || hot == 0 { columns } else { 0 };
            let compared = lines + usize::from(hot > 0);
            let facts = Facts { rows, width: lines + hot, lines, columns, compared, strata, epsilon };
            let directions = Shares::with_directions(&facts);
            let (public, gaussian) = (Shares::with_public_basis(&facts), Shares::for_gaussian(&facts));
            for shares in [Shares::for_table(&facts), directions, Shares::without_marginals(&facts), public, gaussian] {
                prop_assert!(shares.check(&facts).is_ok(), "{shares:?} {facts:?}");
            }
        }
    }
}
