//! How the budget is divided between the stages.

use super::as_float;
use crate::error::{Error, Kind, Result};
use crate::privacy::{Charge, Privacy};
use crate::schema::{Block, Form, Schema};
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
    /// Columns whose values are counted one by one where that pays: not angles, nor columns of two values. None where
    /// all strata together would need too many counts.
    pub columns: usize,
    /// Those of them that are categories, and how many categories these have together.
    pub listed: (usize, usize),
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
        let mut counted: Vec<&Block> = blocks.iter().filter(|block| counted(schema, block)).collect();
        if most_counts(schema) > MOST_COUNTS {
            counted.clear();
        }
        let listed = counted.iter().filter(|block| block.form == Form::OneHot);
        let listed = listed.fold((0, 0), |(columns, values), block| (columns + 1, values + block.len));
        let (width, columns, strata) = (schema.width(), counted.len(), schema.strata());
        Facts { rows, width, lines, columns, listed, strata, epsilon }
    }

    /// `d/(εn)`.
    pub fn difficulty(&self) -> f64 {
        difficulty(self.rows, self.width, self.epsilon)
    }

    /// Whether the values of columns are counted.
    pub(crate) fn counts_values(&self) -> bool {
        let counts = 2.0 * self.columns as f64 * f64::from(CELLS).sqrt();
        self.columns > 0 && counts / (QUARTER * self.epsilon * self.rows as f64) <= POOR
    }

    /// Whether there are so few rows that directions cannot be found, and all goes into means.
    ///
    /// The moments measure d² numbers at once, the contrasts of k strata (k − 1) d: with few strata these are heard long
    /// before the moments are. The limits were set by eye, from a few
    /// runs on real tables: see `docs/shares.md`.
    pub fn few_rows(&self) -> bool {
        let limit = if (2..=3).contains(&self.strata) { 0.008 } else { 0.05 };
        self.difficulty() > limit
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
    /// Sites, and the strata in the leaves of a tree: where rows really are.
    pub cells: u64,
}

/// Cells of a column's histogram, for predictions.
pub(crate) const CELLS: u32 = 32;
/// A histogram has as many cells as leave this many deviations of its noise for each, within limits.
const NOISES_A_CELL: f64 = 4.0;
const FEWEST_CELLS: f64 = 16.0;
const MOST_CELLS: f64 = 256.0;
/// Values with more counts are never tallied.
const MOST_COUNTS: usize = 1 << 26;
/// Values are counted where a quarter of the budget brings the error of a column's distribution below this.
const POOR: f64 = 0.06;
const QUARTER: f64 = 0.25;
/// The measure's part of what centre and spread leave, where directions are asked for.
const MEASURE: f64 = 0.15;
/// What counts the rows of strata, where there are several.
const SIZES: f64 = 0.03;
/// Rows for each site, times the ε of the sites.
const ROWS_A_SITE: f64 = 12.0;
/// No more sites are ever proposed.
const MOST_SITES: f64 = 16_384.0;
/// Sites pay where εn is at least so many times the coordinates.
const ROWS_A_COORDINATE: f64 = 500.0;
/// Leaves of the tree of questions have so many rows for one deviation of their noise, on average.
const ROWS_FOR_NOISE: f64 = 20.0;
/// They do not pay where a stratum has fewer rows for one deviation, on average.
const FEW_FOR_NOISE: f64 = 40.0;
const MOST_LEAVES: f64 = 1024.0;
/// More strata have no tree of questions.
const MOST_LABELS: usize = 64;
/// What sites, or questions alone, get.
const FOR_SITES: f64 = 0.4;
const FOR_QUESTIONS: f64 = 0.15;
/// More strata have no contrasts: they would be noise.
const MOST_CONTRASTS: usize = 16;
/// Strata have moments of their own where the edge of all their noise is below this part of the variance.
const APART: f64 = 0.15;

/// Which cells the last pass counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CellPlan {
    /// Sites; none where they do not pay.
    pub sites: usize,
    /// Leaves of the tree of questions; none where there is none.
    pub leaves: usize,
}

impl CellPlan {
    /// What is counted of so many rows with an ε for all of it.
    pub fn of(rows: u64, width: usize, strata: usize, epsilon: f64) -> CellPlan {
        let n = rows as f64;
        // Sites and questions share the pass, if there are both.
        let asks = (2..=MOST_LABELS).contains(&strata);
        let noise = |parts: f64| 8.0_f64.sqrt() * parts / epsilon;
        let heard = |parts: f64| n / strata as f64 / noise(parts) >= FEW_FOR_NOISE;
        let sites = epsilon * n >= FOR_SITES * ROWS_A_COORDINATE * width as f64;
        let parts = if sites && asks && heard(2.0) { 2.0 } else { 1.0 };
        let leaves =
            if asks && heard(parts) { (n / (ROWS_FOR_NOISE * noise(parts))).clamp(2.0, MOST_LEAVES) } else { 0.0 };
        let wanted = (epsilon / parts * n / ROWS_A_SITE).clamp(2.0, MOST_SITES);
        CellPlan { sites: if sites { wanted as usize } else { 0 }, leaves: leaves as usize }
    }

    /// The same for a share that is there already and must be spent on something: a few sites, where nothing pays.
    pub fn of_share(rows: u64, width: usize, strata: usize, epsilon: f64) -> CellPlan {
        let plan = CellPlan::of(rows, width, strata, epsilon);
        let few = (epsilon * rows as f64 / ROWS_A_SITE).clamp(2.0, MOST_SITES) as usize;
        if plan.is_empty() { CellPlan { sites: few, leaves: 0 } } else { plan }
    }

    /// Rows of the pool from which the cells are proposed: some for each of them, as far as memory reaches.
    pub fn pool(&self, width: usize) -> usize {
        let wanted = (8 * self.sites).max(64 * self.leaves).max(1 << 15);
        wanted.min((1 << 24) / width.max(1)).max(2048)
    }

    /// In words.
    pub fn describe(&self) -> String {
        match (self.sites, self.leaves) {
            (0, leaves) => format!("the leaves of a tree of at most {leaves} questions"),
            (sites, 0) => format!("about {sites} sites"),
            (sites, leaves) => format!("about {sites} sites, and the leaves of a tree of at most {leaves} questions"),
        }
    }

    fn is_empty(&self) -> bool {
        self.sites == 0 && self.leaves < 2
    }
}

/// Whether strata have moments of their own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Apart {
    pub rows: u64,
    pub width: usize,
    pub strata: usize,
}

impl Apart {
    /// With an ε for the moments. All k together have √k times the noise of one: an edge of `3.33 √k p R/(ε n)`, where R is
    /// about twice the variance of all columns together.
    pub fn pays(&self, epsilon: f64) -> bool {
        let Apart { rows, width, strata } = *self;
        let edge = 3.33 * (strata as f64).sqrt() * (width + 1) as f64 * 2.2 / (epsilon * rows as f64);
        (2..=MOST_LABELS).contains(&strata) && edge < APART
    }
}

/// The ε that pure noise of the same deviation would take: a charge itself, or that of Gaussian noise, for which
/// `1/√(2ρ) = √2/ε`.
pub(crate) fn equivalent_epsilon(charge: &Charge) -> f64 {
    let amount = as_float(&charge.amount());
    match charge.privacy() {
        Privacy::Pure => amount,
        Privacy::Concentrated => 2.0 * amount.sqrt(),
    }
}

/// How many cells a histogram has whose counts have a noise of this deviation.
pub(crate) fn cells_for(rows: u64, noise: f64) -> usize {
    (rows as f64 / (NOISES_A_CELL * noise)).clamp(FEWEST_CELLS, MOST_CELLS) as usize
}

impl Shares {
    /// What the shares add up to.
    pub const WHOLE: u64 = 10_000;

    /// The default shares for a table.
    ///
    /// *Few rows.* Nothing but means can be heard: the centre gets more than half, the contrasts of strata the rest.
    ///
    /// *Values.* With m columns a count has noise of scale `b = 2m/ε₂`, and the distribution function of a column with B
    /// cells an error of about `b √B/n`. They are counted where that is small enough, and then say how wide columns are, so
    /// that no spread is asked for.
    ///
    /// *Cells.* Sites where there are rows enough for every coordinate, questions where there are strata.
    ///
    /// *Moments.* They bring how columns go together and the strata's means, and have the rest.
    pub fn for_table(facts: &Facts) -> Shares {
        if facts.few_rows() { Shares::for_few_rows(facts) } else { Shares::for_survey(facts) }
    }

    fn for_survey(facts: &Facts) -> Shares {
        let values = if facts.counts_values() { QUARTER } else { 0.0 };
        let sizes = if facts.strata > 1 { SIZES } else { 0.0 };
        let cells_of = |share: f64| CellPlan::of(facts.rows, facts.width, facts.strata, share * facts.epsilon);
        let cells = match (cells_of(FOR_SITES), cells_of(FOR_QUESTIONS)) {
            (plan, _) if plan.sites > 0 => FOR_SITES,
            (_, plan) if !plan.is_empty() => FOR_QUESTIONS,
            // Where rows turn out to lie in a plane, they are counted there.
            _ => MEASURE,
        };
        let lines = facts.difficulty() * facts.lines as f64 / facts.width.max(1) as f64;
        let whole = 1.0 - values - sizes - cells;
        let centre = if facts.lines == 0 { 0.0 } else { (16.0 * lines).clamp(0.06, 0.5 * whole) };
        let spread = if facts.lines == 0 || values > 0.0 { 0.0 } else { (2.0 * lines).clamp(0.02, 0.06) };
        Shares::from_parts([centre, spread, sizes, values, cells])
    }

    /// The shares where directions are asked for.
    pub fn with_directions(facts: &Facts) -> Shares {
        let lines = facts.difficulty() * facts.lines as f64 / facts.width.max(1) as f64;
        let centre = if facts.lines == 0 { 0.0 } else { (16.0 * lines).clamp(0.06, 0.50) };
        let spread = if facts.lines == 0 { 0.0 } else { (2.0 * lines).clamp(0.02, 0.06) };
        Shares::from_parts([centre, spread, (1.0 - centre - spread) * MEASURE, 0.0, 0.0])
    }

    fn for_few_rows(facts: &Facts) -> Shares {
        let (strata, contrasts) = (facts.strata > 1, (2..=MOST_CONTRASTS).contains(&facts.strata));
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

    /// The shares when k directions are public: the moments are then those of k coordinates, which need little, and
    /// what the directions would have cost goes to the measure.
    pub fn with_public_basis(facts: &Facts) -> Shares {
        let difficulty = facts.difficulty();
        let (centre, spread) = match facts.lines {
            0 => (0.0, 0.0),
            _ => ((16.0 * difficulty).clamp(0.06, 0.50), (2.0 * difficulty).clamp(0.02, 0.06)),
        };
        let usual = Shares::from_parts([centre, spread, 0.0, 0.0, 0.0]);
        let both = usual.moments;
        Shares { moments: both / 4, measure: both - both / 4, ..usual }
    }

    /// The shares of a Gaussian baseline.
    pub fn for_gaussian(facts: &Facts) -> Shares {
        let measure = if facts.strata > 1 { 0.05 } else { 0.0 };
        let centre = if facts.lines == 0 { 0.0 } else { (16.0 * facts.difficulty()).clamp(0.1, 0.50) };
        Shares::from_parts([centre, if facts.lines == 0 { 0.0 } else { 0.04 }, measure, 0.0, 0.0])
    }

    fn from_parts(parts: [f64; 5]) -> Shares {
        let whole = Shares::WHOLE as f64;
        let part = |share: f64| (share * whole).round() as u64;
        let [centre, spread, measure, marginals, cells] = parts.map(part);
        let moments = Shares::WHOLE - centre - spread - measure - marginals - cells;
        Shares { centre, spread, moments, marginals, measure, cells, contrasts: 0 }
    }

    /// Refuses shares that do not make a whole, and a stage that has to run on nothing.
    pub(crate) fn check(&self, facts: &Facts) -> Result<()> {
        let Shares { centre, spread, contrasts, moments, marginals, measure, cells } = *self;
        let parts = [centre, spread, contrasts, moments, marginals, measure, cells];
        let sum: u128 = parts.map(u128::from).iter().sum();
        if sum != u128::from(Shares::WHOLE) {
            return Err(Error::new(
                Kind::Usage,
                format!("the budget shares add up to {sum} ten-thousandths and must add up to {}", Shares::WHOLE),
            ));
        }
        // Where values are counted these say how wide columns are.
        let open = facts.lines == 0 || centre > 0 && (spread > 0 || marginals > 0);
        let strata = facts.strata == 1 || measure > 0;
        let either = moments == 0 || contrasts == 0;
        if !open || !strata || !either {
            return Err(Error::new(Kind::Usage, "every stage of the fit needs a share of the budget").hint(
                "give centre, spread, moments and measure at least one ten-thousandth each, or contrasts instead of \
                 moments",
            ));
        }
        // A share that nothing spends would be promised and wasted.
        let spent = (facts.lines > 0 || centre == 0 && spread == 0)
            && (facts.strata > 1 || contrasts == 0)
            && (facts.columns > 0 && moments > 0 || marginals == 0)
            && (moments > 0 || cells == 0)
            && (spread == 0 || marginals == 0);
        if !spent {
            return Err(Error::new(Kind::Usage, "a share of the budget belongs to a stage that would not run").hint(
                "contrasts need strata, values and cells need moments, values need no spread, and centre and spread need \
                 numbers",
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

/// How many counts the marginals of a table may need: what will be counted depends on released numbers, but is never
/// more. A share for counts that are then too many would be promised and not spent.
fn most_counts(schema: &Schema) -> usize {
    let most = |block: &Block| if block.form == Form::OneHot { block.len } else { 300 * schema.strata() };
    schema.blocks().iter().filter(|block| counted(schema, block)).map(most).sum()
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
            let listed = (usize::from(hot > 0), hot);
            let facts = Facts { rows, width: lines + hot, lines, columns, listed, strata, epsilon };
            let directions = Shares::with_directions(&facts);
            let (public, gaussian) = (Shares::with_public_basis(&facts), Shares::for_gaussian(&facts));
            for shares in [Shares::for_table(&facts), directions, public, gaussian] {
                prop_assert!(shares.check(&facts).is_ok(), "{shares:?} {facts:?}");
            }
        }
    }

    /// Columns of some or all kinds that are counted, beside a label of so many categories.
    fn wide(columns: usize, few: usize, strata: usize) -> Schema {
        let kinds = [
            "kind = \"continuous\"\nmin = 0\nmax = 1\nmissing = \"allow\"",
            "kind = \"integer\"\nmin = 1\nmax = 40\nmissing = \"allow\"",
            "kind = \"categorical\"\nvalues = [\"a\", \"b\", \"c\"]",
            "kind = \"boolean\"",
        ];
        let column = |c: usize| format!("[[column]]\nname = \"x{c}\"\n{}\n", kinds[c % few]);
        let values: Vec<String> = (0..strata).map(|s| format!("\"{s}\"")).collect();
        let label = format!(
            "[[column]]\nname = \"y\"\nkind = \"categorical\"\nrole = \"label\"\nvalues = [{}]\n",
            values.join(", ")
        );
        let text = (0..columns).map(column).chain([label]).collect::<String>();
        Schema::parse(&text, "wide.toml").unwrap()
    }

    /// Marginals that would be too many get no share, so that none is promised and not spent.
    #[test]
    fn too_many_counts_get_no_share() {
        let (rows, epsilon) = (1 << 32, 10.0);
        let [many, fewer] = [1024, 512].map(|strata| Facts::of(&wide(2000, 1, strata), rows, epsilon));
        assert_eq!(Shares::for_table(&many).marginals, 0, "{many:?}");
        assert!(Shares::for_table(&fewer).marginals > 0, "{fewer:?}");
        let by_hand = Shares { marginals: 1000, ..Shares::for_table(&many) };
        let by_hand = Shares { moments: by_hand.moments - 1000, ..by_hand };
        assert!(by_hand.check(&many).is_err() && by_hand.check(&fewer).is_ok());
    }

    /// What a fit counts is never more than what was thought of, and the limit is that of the tally.
    #[test]
    fn no_fit_counts_more_than_foreseen() {
        use crate::fit::Fit;
        use crate::privacy::{Budget, Kernel};
        use crate::tally::codes::Codes;
        use crate::tally::{Histogram, Marginals, Work};
        let schema = wide(4, 4, 3);
        let mut codes = Codes::with_capacity(schema.width(), 50);
        (0..50).for_each(|i| codes.push(&vec![1300 * i; schema.width()], u32::from(i) % 3));
        let shares = Shares { centre: 1000, moments: 5000, marginals: 2000, measure: 2000, ..Shares::default() };
        let plan = crate::plan::Plan { shares: Some(shares), ..Default::default() };
        let budget = Budget::pure("1".parse().unwrap());
        let mut fit = Fit::begin_with_danger_kernel(&schema, plan, budget, 50, Kernel::quiet()).unwrap();
        let mut counts = None;
        while let Some(pass) = fit.next_pass() {
            if let Work::Marginals(marginals) = &pass.work {
                counts = Some(marginals.leaves(3));
            }
            fit.absorb(pass.tally(&codes)).unwrap();
        }
        let counts = counts.unwrap();
        assert!(counts <= most_counts(&schema) && 2 * counts > most_counts(&schema), "{counts}");
        let hot = |len: usize| Marginals { histograms: vec![Histogram::Hot { at: 0, len }] };
        assert!(hot(MOST_COUNTS).countable(1) && !hot(MOST_COUNTS + 1).countable(1));
    }
}
