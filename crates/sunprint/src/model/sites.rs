//! Which of the drawn rows are kept, so that there are as many near every site as were counted.

use super::grow::code;
use super::sieve::normalised;
use crate::tally::{SiteIndex, Sites};
use serde::{Deserialize, Serialize};

/// Sites, and how often a row that belongs to each is kept: a probability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SiteSieve {
    /// The sites.
    pub sites: Sites,
    /// One number for each.
    pub keep: Vec<f64>,
}

impl SiteSieve {
    /// A sieve after which there are more rows near each site by these factors; `seen` rows were drawn near each. Strata
    /// are drawn by themselves, so each is divided by what is largest in it.
    pub(crate) fn of(sites: Sites, factors: &[f64], seen: &[f64]) -> SiteSieve {
        let width = sites.axes.len().max(1);
        let mut keep = Vec::with_capacity(factors.len());
        for groups in sites.groups.chunk_by(|a, b| a.stratum == b.stratum) {
            let size: usize = groups.iter().map(|group| group.sites.len() / width).sum();
            let range = keep.len()..keep.len() + size;
            keep.extend(normalised(&factors[range.clone()], &seen[range]));
        }
        SiteSieve { sites, keep }
    }

    /// How often a settled row is kept.
    pub(super) fn keep(&self, index: &SiteIndex, stratum: usize, row: &[f64]) -> f64 {
        let mut point = vec![0; row.len()];
        self.sites.on_grid(row.iter().map(|&unit| code(unit)), &mut point);
        self.keep.get(self.sites.nearest(index, &point, stratum)).copied().unwrap_or(1.0)
    }

    /// What drawing relies on; rows have `width` coordinates.
    pub(super) fn fits(&self, width: usize, strata: usize) -> bool {
        let factor = |keep: &f64| (0.0..=1.0).contains(keep);
        self.sites.fit(width, strata) && self.keep.len() == self.sites.len() && self.keep.iter().all(factor)
    }
}
