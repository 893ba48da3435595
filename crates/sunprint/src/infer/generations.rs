//! Children of candidates, from which the next sites are taken.
//!
//! Candidates that were corrected stand where the rows are, but only where some candidate stood before. So each has children
//! near it, as many as it weighs: the normal numbers z of which it is made become `√(1 − h²) z + h z′`, which are as normal
//! as they were, so that with equal weights nothing would change, whatever h is. (This is the proposal of preconditioned
//! Crank–Nicolson; see Cotter, Roberts, Stuart and White, *MCMC methods for functions*, 2013.) The larger h, the more is
//! explored, and the more of what was heard is lost. A child should go about as far as the counts can tell: with the largest
//! h for which half of the children of equal parents stay in the cell of their parent. Nothing here sees rows.

use crate::model::{Generation, Pool, Release};
use crate::schema::Schema;
use crate::tally::Histogram;

/// Parents that are tried.
const TRIED: usize = 4096;
/// Halvings by which h is found.
const HALVINGS: u32 = 6;

/// h for the children of a model's candidates, whose cells were counted last.
pub(crate) fn nearby(release: &Release, schema: &Schema, cells: &Histogram) -> f64 {
    let mut equal = Release { weights: Vec::new(), ..release.clone() };
    let strata = schema.strata();
    let of = |release: &Release| Pool::of(release, schema, TRIED).cells(cells, strata);
    let parents = of(&equal);
    equal.ancestors.push(Generation { weights: vec![1; TRIED], fresh: 0.0 });
    let last = equal.ancestors.len() - 1;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        equal.ancestors[last].fresh = middle;
        let same = of(&equal).iter().zip(&parents).filter(|(child, parent)| child == parent).count();
        if 2 * same >= parents.len() { low = middle } else { high = middle }
    }
    low
}
