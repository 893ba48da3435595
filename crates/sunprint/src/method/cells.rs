//! The last pass of every method: counts in the cells of a tree (PMM) or of a lattice (PSMM).

use super::attune::Ground;
use super::course::{Ahead, Course, Measurement, Next, counts_of};
use super::default::Later;
use super::mechanism::whole_allocation;
use super::moments::NO_DIRECTION;
use super::{BASIS_BITS, fixed_point};
use crate::error::Result;
use crate::math::rounding::{largest_remainders, nearest_shares};
use crate::measure::{
    Allocation, Consistency, Geometry, LatticePlan, Measure, MeasurePlan, Side, consistent, nearest_measure,
};
use crate::model::{Frame, Known, Noisy, OneOf, Release, Settle, Spot, Target, balance};
use crate::plan::Method;
use crate::privacy::{Charge, Law, PathTree, Sensitive};
use crate::subspace::Texture;
use crate::tally::codes::Q;
use crate::tally::{Answer, Cells, Coordinates, Grid, GridSide, Place, Work};

/// What the last pass needs.
pub(super) struct CellStage {
    pub charge: Charge,
    pub partition: Partition,
    pub frame: Frame,
    pub texture: Texture,
    pub spot: Spot,
    pub spectrum: Vec<f64>,
    pub edge: f64,
    /// What is wanted of the values of each block; empty where that was not measured.
    pub targets: Vec<Target>,
    /// Columns that exclude one another.
    pub one_of: Vec<OneOf>,
    /// What the moments said, where rows are drawn from it.
    pub ground: Option<Ground>,
    /// For further passes; nothing where the counts are the end, and rows are drawn from them as they are.
    pub later: Option<Later>,
}

/// Which cells are counted, and what is made of the counts.
pub(super) enum Partition {
    /// PMM.
    Tree { cells: Cells, tree: PathTree, consistency: Consistency },
    /// PSMM.
    Lattice { grid: Grid, plan: LatticePlan },
}

impl Partition {
    /// The leaves of a tree over the box that directions span.
    pub fn tree(space: &Space<'_>, plan: MeasurePlan, consistency: Consistency) -> Partition {
        Partition::Tree { cells: tree_cells(space, &plan.cuts, &plan.depths), tree: plan.tree, consistency }
    }

    /// The leaves of a tree over the columns themselves.
    pub fn columns(plan: MeasurePlan, consistency: Consistency) -> Partition {
        let cells = Cells { coordinates: Coordinates::Columns, cuts: plan.cuts, depths: plan.depths };
        Partition::Tree { cells, tree: plan.tree, consistency }
    }

    /// The cells of lattices over the box that directions span.
    pub fn lattice(space: &Space<'_>, plan: LatticePlan) -> Partition {
        let strata = plan.strata.iter().map(grid_sides).collect();
        let grid = Grid { centre: space.centre.to_vec(), vectors: fixed_point(space.vectors), strata };
        Partition::Lattice { grid, plan }
    }

    /// In words, for the receipt.
    pub fn describe(&self) -> String {
        match self {
            Partition::Tree { cells, .. } => {
                let depths = || cells.depths.iter().copied();
                let (least, most) = (depths().min().unwrap_or(0), depths().max().unwrap_or(0));
                let depth = if least == most { format!("{most}") } else { format!("{least} to {most}") };
                format!("PMM: a tree of depth {depth}")
            }
            Partition::Lattice { plan, .. } => plan.describe(),
        }
    }
}

/// Where the box stands: the centre in codes, the directions, and the sides along them.
pub(super) struct Space<'a> {
    pub centre: &'a [u16],
    pub vectors: &'a [Vec<f64>],
    pub sides: &'a [Side],
}

impl Measurement for CellStage {
    fn work(&self) -> Work {
        match &self.partition {
            Partition::Tree { cells, .. } => Work::Cells(cells.clone()),
            Partition::Lattice { grid, .. } => Work::Grid(grid.clone()),
        }
    }

    fn is_last(&self) -> bool {
        self.later.as_ref().is_none_or(Later::is_empty)
    }

    fn ahead(&self) -> Option<Ahead> {
        match &self.partition {
            Partition::Tree { .. } => None,
            Partition::Lattice { plan, .. } => {
                Some(Ahead { cells: plan.shares.sizes.iter().map(|&size| size as u64).sum(), seconds: plan.seconds() })
            }
        }
    }

    /// Noisy counts, then the measure nearest to them.
    fn release(
        self: Box<Self>,
        course: &mut Course,
        answer: Sensitive<Answer>,
        watch: &dyn Fn(u64, u64),
    ) -> Result<Next> {
        let CellStage { charge, partition, frame, texture, spot, spectrum, edge, targets, one_of, ground, later } =
            *self;
        let leaves = counts_of(answer);
        let rows = course.rows;
        let (mut measure, noise) = match partition {
            Partition::Tree { cells, tree, consistency } => {
                let (counts, laws) = course.kernel.path_counts("measure", &tree, leaves, charge)?.into_parts();
                let coarsest = laws.strata.iter().filter_map(|levels| levels.first()).map(Law::deviation);
                let noise = coarsest.fold(f64::INFINITY, f64::min);
                (consistent(&counts, &laws, cells.cuts, rows, &consistency), noise)
            }
            Partition::Lattice { plan, .. } => {
                // The noise of all cells of a stratum together is that of one, times the root of their number.
                let most = plan.shares.sizes.iter().copied().max().unwrap_or(1).max(1) as f64;
                let (counts, laws) =
                    course.kernel.lattice_counts("measure", &plan.shares, leaves, charge)?.into_parts();
                let noise = laws.cells.deviation() * most.sqrt();
                (nearest_measure(&counts, &laws, &plan, rows, watch)?, noise)
            }
        };
        course.remark_on_few_rows(noise, measure.strata());
        if let Some(ground) = ground.as_ref().filter(|ground| ground.stratum_rows.len() > 1) {
            agree_on_sizes(&mut measure, &ground.stratum_rows, noise, rows);
        }
        let settle = Settle::plain(&course.schema, one_of);
        let release = Release {
            frame,
            measure,
            texture,
            spot,
            spectrum,
            edge,
            settle,
            sieves: Vec::new(),
            ancestors: Vec::new(),
            weights: Vec::new(),
        };
        match later {
            None => Ok(Next::Done(Box::new(release))),
            later => course.done(release, &targets, ground.as_ref(), later),
        }
    }
}

impl Course {
    /// The end of every fit: means are kept where they were measured, and values come as often as was released.
    pub(super) fn done(
        &mut self,
        mut release: Release,
        targets: &[Target],
        ground: Option<&Ground>,
        later: Option<Later>,
    ) -> Result<Next> {
        let frame = release.frame.clone();
        if self.plan.texture && matches!(self.plan.method, Method::Default | Method::Gaussian) {
            // Where values are counted, these say where the means are.
            let counted = targets.iter().any(Target::measured);
            let known = ground.filter(|_| !counted).map(|ground| Known { means: &ground.means, noise: ground.noise.0 });
            balance(&mut release, self.schema.width(), known);
        }
        let mut targets = targets.to_vec();
        targets.resize(self.schema.blocks().len(), Target::default());
        let (release, targets) = self.attuned(release, &frame, &targets, ground);
        // Where cells were counted, these said how many rows each stratum has.
        let counted = matches!(&release.frame, Frame::Basis { vectors, .. } if !vectors.is_empty());
        let sizes = ground.filter(|_| !counted).map_or_else(Vec::new, |ground| ground.stratum_rows.clone());
        self.after_measure(release, targets, later, sizes)
    }

    /// Says so where the counts of strata, with noise of this deviation, are noise: half of a stratum or more.
    pub(super) fn remark_on_few_rows(&mut self, noise: f64, strata: usize) {
        let said = self.receipt.remarks.iter().any(|remark| remark == NO_DIRECTION);
        if !said && noise >= self.rows as f64 / (2 * strata.max(1)) as f64 {
            self.receipt.remarks.push(
                "the table has so few rows that at this ε the cell counts are little more than noise: the output says \
                 next to nothing about the table"
                    .to_string(),
            );
        }
    }

    /// What the measure may know of its charge.
    pub(super) fn allocation(&self, charge: &Charge) -> Allocation {
        whole_allocation(charge, self.rows, self.schema.strata(), &self.plan)
    }
}

/// How many rows each stratum has was measured twice, by the moments and by the cells: each is weighed by its noise.
fn agree_on_sizes(measure: &mut Measure, known: &[Noisy], noise: f64, rows: u64) {
    let counted: Vec<f64> = (0..measure.strata()).map(|s| measure.rows(s) as f64).collect();
    if known.len() != counted.len() {
        return;
    }
    let whole = rows as f64;
    let both = known.iter().zip(&counted).map(|(known, &value)| known.and(Noisy { value, noise }).value / whole);
    // A stratum without cells has no place to put rows.
    let parts: Vec<f64> = nearest_shares(&both.collect::<Vec<f64>>());
    let parts: Vec<f64> =
        parts.iter().zip(&counted).map(|(part, rows)| if *rows > 0.0 { *part } else { 0.0 }).collect();
    if parts.iter().sum::<f64>() > 0.0 {
        measure.resize(&largest_remainders(rows, &parts));
    }
}

/// One unit of the box in the pass's integers: 2⁻³⁰ codes.
fn unit() -> f64 {
    f64::from(Q) * f64::from(BASIS_BITS).exp2()
}

/// An interval in the pass's integers. The step is rounded up, so that the last cell still reaches the upper end.
fn place(low: f64, step: f64) -> Place {
    Place { low: (low * unit()).floor() as i64, step: (step * unit()).ceil().max(1.0) as i64 }
}

/// The pass's integer description of float directions and sides: `V_int = round(2³⁰ V)`, steps in 2⁻³⁰ codes.
///
/// Only coordinates that are cut are sent.
fn tree_cells(space: &Space<'_>, cuts: &[u16], depths: &[u8]) -> Cells {
    let mut cells = Cells { coordinates: Coordinates::Columns, cuts: cuts.to_vec(), depths: depths.to_vec() };
    let bits = cells.bits();
    let sides = space.sides.iter().zip(&bits);
    let places = sides.map(|(side, &bits)| place(side.low, side.width / f64::from(bits).exp2())).collect();
    let vectors = fixed_point(&space.vectors[..bits.len()]);
    cells.coordinates = Coordinates::Basis { centre: space.centre.to_vec(), vectors, places };
    cells
}

fn grid_sides(geometry: &Geometry) -> Vec<GridSide> {
    let side = |(&low, &cells): (&f64, &u32)| GridSide { place: place(low, geometry.cell), cells };
    geometry.lows.iter().zip(&geometry.shape).map(side).collect()
}
