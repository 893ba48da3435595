//! Rows drawn from a model, which is free: what the model expects of whatever is counted.

use super::grow::code;
use super::{Draw, Release};
use crate::measure::Measure;
use crate::schema::Schema;
use crate::source::in_order;
use crate::tally::{SiteIndex, Sites};

/// Any fixed number but those of other draws: what follows from the pool is stored.
const SEED: u64 = 7;
/// Rows that are looked at together.
const TOGETHER: usize = 4096;

/// Drawn rows, as codes.
pub(crate) struct Pool {
    pub width: usize,
    pub codes: Vec<u16>,
    pub strata: Vec<u32>,
}

impl Pool {
    /// So many rows of a release.
    pub fn of(release: &Release, schema: &Schema, rows: usize) -> Pool {
        let width = schema.width();
        let mut pool = Pool { width, codes: Vec::with_capacity(rows * width), strata: Vec::with_capacity(rows) };
        Draw::new(release, width, rows as u64, SEED).each(|drawn| {
            pool.codes.extend(drawn.units.iter().map(|&unit| code(unit)));
            pool.strata.extend(&drawn.strata);
        });
        pool
    }

    /// How many rows of a table with this measure the pool expects near each site, and how many of its own that rests on.
    pub fn expect(&self, sites: &Sites, measure: &Measure) -> (Vec<f64>, Vec<f64>) {
        let (strata, index) = (measure.strata(), sites.index(measure.strata()));
        let mut of_strata = vec![0.0_f64; strata];
        self.strata.iter().for_each(|&s| of_strata[s as usize] += 1.0);
        let one: Vec<f64> = (0..strata).map(|s| measure.rows(s) as f64 / of_strata[s].max(1.0)).collect();
        let (mut expected, mut seen) = (vec![0.0; sites.len()], vec![0.0; sites.len()]);
        for (site, &stratum) in self.nearest(sites, &index).into_iter().zip(&self.strata) {
            expected[site as usize] += one[stratum as usize];
            seen[site as usize] += 1.0;
        }
        (expected, seen)
    }

    /// The site of every row, on all cores.
    fn nearest(&self, sites: &Sites, index: &SiteIndex) -> Vec<u32> {
        let (mut parts, mut found) = ((0..self.rows()).step_by(TOGETHER), Vec::with_capacity(self.rows()));
        let work = |first: usize| {
            let mut point = vec![0; self.width];
            let site = |i: usize| {
                sites.on_grid(self.row(i).iter().copied(), &mut point);
                sites.nearest(index, &point, self.strata[i] as usize) as u32
            };
            Ok((first..self.rows().min(first + TOGETHER)).map(site).collect::<Vec<u32>>())
        };
        let take = |some: Vec<u32>| {
            found.extend(some);
            Ok(())
        };
        // Nothing of this can fail.
        let _ = in_order(|| Ok(parts.next()), work, take);
        found
    }

    pub fn rows(&self) -> usize {
        self.strata.len()
    }

    pub fn row(&self, i: usize) -> &[u16] {
        &self.codes[i * self.width..(i + 1) * self.width]
    }
}
