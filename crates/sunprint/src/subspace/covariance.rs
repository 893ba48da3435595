//! The second release: noisy moments become a covariance, its spectrum, the noise edge, and stratum means.

use super::centre::Centre;
use crate::math::doubt::{Difference, beyond_noise};
use crate::math::eigen::{self, Eigen};
use crate::privacy::NoisyMoments;
use crate::tally::codes::Q;
use crate::tally::{ANCHOR, MomentLayout, STRATUM_ANCHOR, grid_radius, packed_index};

/// What the moments say, in units.
#[derive(Clone, Debug)]
pub struct Covariance {
    /// d.
    pub width: usize,
    /// Mean minus the released centre, shrunk by what is known of both noises.
    pub offset: Vec<f64>,
    /// The same as it was released.
    pub measured: Vec<f64>,
    /// How far clipping seems to have moved means, in deviations of their columns.
    pub clipping: f64,
    /// Estimated diagonal of the covariance.
    pub diagonal: Vec<f64>,
    /// The trace: accurate, because the noise of d diagonal entries averages out against d large ones.
    pub trace: f64,
    /// The matrix as it was released, its lower triangle row by row.
    pub lower: Vec<f64>,
    /// Standard deviation of the noise in a diagonal entry; off the diagonal it is √2 times less.
    pub diagonal_noise: f64,
    /// Standard deviation of the noise in a coordinate of the mean.
    pub mean_noise: f64,
    /// Spectrum and directions, largest first.
    pub eigen: Eigen,
    /// Eigenvalues at or below this are noise.
    pub edge: f64,
    /// For each stratum with a one-hot block: estimated rows, mean minus the table's mean, noise of one coordinate.
    pub strata: Vec<StratumMean>,
}

/// One stratum's released mean.
#[derive(Clone, Debug)]
pub struct StratumMean {
    /// Estimated rows.
    pub rows: f64,
    /// Rows as they were released.
    pub counted: f64,
    /// Standard deviation of the noise in the rows.
    pub rows_noise: f64,
    /// Mean of the stratum minus the mean of the table.
    pub offset: Vec<f64>,
    /// Standard deviation of the noise in one coordinate of it.
    pub noise: f64,
}

impl Covariance {
    /// A row of the matrix, put together again.
    pub fn row(&self, j: usize) -> Vec<f64> {
        let mut row = vec![0.0; self.width];
        for (value, v) in self.eigen.values.iter().zip(&self.eigen.vectors) {
            row.iter_mut().zip(v).for_each(|(x, k)| *x += value * v[j] * k);
        }
        row
    }

    /// One entry of the matrix.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        self.eigen.values.iter().zip(&self.eigen.vectors).map(|(value, v)| value * v[i] * v[j]).sum()
    }

    /// Reads released moments.
    ///
    /// With `f = C/(K′ Q)` units per grid step: mean offset `m̂ = G₀ⱼ/(t n) f`, covariance `Gᵢⱼ/n f² − m̂m̂ᵀ`.
    pub fn read(moments: &NoisyMoments, layout: MomentLayout, rows: u64, radius: u32, centre: &Centre) -> Covariance {
        let (d, n) = (layout.width, rows as f64);
        let unit = f64::from(radius) / (grid_radius(d) as f64 * f64::from(Q));
        let (entry_noise, edge) = (moments.scale.entry(layout.order()), moments.scale.edge(layout.order()));
        let at = |i: usize, j: usize| moments.lower[packed_index(i.max(j), i.min(j))] as f64;
        let mean_noise = entry_noise / (ANCHOR as f64 * n) * unit;
        // The offset of the mean from the centre is itself the centre's noise, of known variance: the best linear
        // estimate multiplies what was measured by the ratio of the variances.
        let typical = centre.doubts.iter().map(|x| x * x).sum::<f64>() / centre.doubts.len().max(1) as f64;
        let trust = |j: usize, moved: f64| {
            // In the coordinates of a plane the doubts of all columns are mixed.
            let prior = if centre.doubts.len() == d { centre.doubts[j] * centre.doubts[j] } else { typical };
            prior / (prior + mean_noise * mean_noise + moved).max(f64::MIN_POSITIVE)
        };
        let measured: Vec<f64> = (0..d).map(|j| at(1 + j, 0) / (ANCHOR as f64 * n) * unit).collect();
        let variance = |j: usize| (at(1 + j, 1 + j) * unit * unit / n - measured[j] * measured[j]).max(0.0);
        // The centre is of whole rows and the moments are of clipped ones: what they differ by beyond their noise is what
        // clipping has moved, and counts as noise of the moments.
        let differs = |j: usize| {
            let noise = centre.doubts[j].powi(2) + mean_noise * mean_noise;
            Difference { square: measured[j] * measured[j], noise, size: variance(j) }
        };
        let open = (0..d).filter(|&j| centre.open.len() == d && centre.open[j]);
        let clipping = beyond_noise(&open.map(differs).collect::<Vec<_>>());
        let offset: Vec<f64> = (0..d).map(|j| trust(j, clipping * variance(j)) * measured[j]).collect();
        let square = unit * unit / n;
        let mut matrix = vec![0.0; d * d];
        let mut lower = Vec::with_capacity(d * (d + 1) / 2);
        for i in 0..d {
            for j in 0..=i {
                let entry = at(1 + i, 1 + j) * square - offset[i] * offset[j];
                lower.push(entry);
                matrix[i * d + j] = entry;
                matrix[j * d + i] = entry;
            }
        }
        let diagonal: Vec<f64> = (0..d).map(|j| matrix[j * d + j]).collect();
        let strata = (0..layout.strata)
            .map(|s| {
                let row = 1 + d + s;
                // The stratum's size stands beside the constant. Where that is mostly noise it is drawn towards an
                // equal share, with a prior deviation as large as the share itself.
                let count = at(row, 0) / (ANCHOR * STRATUM_ANCHOR) as f64;
                let count_noise = entry_noise / (ANCHOR * STRATUM_ANCHOR) as f64;
                let equal = n / layout.strata as f64;
                let trust = equal * equal / (equal * equal + count_noise * count_noise);
                let size = (trust * count + (1.0 - trust) * equal).clamp((0.1 * equal).max(1.0), n);
                let scale = unit / (STRATUM_ANCHOR as f64 * size);
                let mean = (0..d).map(|j| at(row, 1 + j) * scale - offset[j]).collect();
                StratumMean {
                    rows: size,
                    counted: count,
                    rows_noise: count_noise,
                    offset: mean,
                    noise: entry_noise * scale,
                }
            })
            .collect();
        Covariance {
            width: d,
            offset,
            measured,
            clipping: clipping.sqrt(),
            lower,
            trace: diagonal.iter().sum(),
            diagonal,
            diagonal_noise: std::f64::consts::SQRT_2 * entry_noise * square,
            mean_noise,
            eigen: eigen::symmetric(&matrix, d),
            edge: edge * square,
            strata,
        }
    }

    /// Each stratum's mean minus the mean of them all, with the noise of one coordinate.
    pub fn centred_strata(&self) -> Vec<(Vec<f64>, f64)> {
        let shares = self.stratum_shares();
        let mut common = vec![0.0; self.width];
        for (stratum, share) in self.strata.iter().zip(&shares) {
            common.iter_mut().zip(&stratum.offset).for_each(|(c, x)| *c += share * x);
        }
        let centred = |s: &StratumMean| s.offset.iter().zip(&common).map(|(x, c)| x - c).collect();
        self.strata.iter().map(|s| (centred(s), s.noise)).collect()
    }

    /// Each stratum's part of the rows.
    pub fn stratum_shares(&self) -> Vec<f64> {
        let total: f64 = self.strata.iter().map(|s| s.rows).sum();
        self.strata.iter().map(|s| s.rows / total.max(1.0)).collect()
    }

    /// Each stratum's rows; equally many where they were not measured.
    pub fn rows_of_strata(&self, rows: u64, strata: usize) -> Vec<f64> {
        match self.strata.as_slice() {
            [] => vec![rows as f64 / strata.max(1) as f64; strata],
            measured => measured.iter().map(|stratum| stratum.rows).collect(),
        }
    }

    /// A covariance measured in the coordinates of a known plane, seen from the whole space: vectors `a` of k
    /// coordinates become `Σ a_i v_i`. The plane's orthonormal vectors keep eigenvectors orthonormal.
    #[must_use]
    pub fn lifted(self, plane: &[Vec<f64>]) -> Covariance {
        let width = plane.first().map_or(0, Vec::len);
        let lift = |a: &Vec<f64>| -> Vec<f64> {
            (0..width).map(|j| a.iter().zip(plane).map(|(a, v)| a * v[j]).sum()).collect()
        };
        let strata = self.strata.iter().map(|s| StratumMean { offset: lift(&s.offset), ..s.clone() }).collect();
        let vectors = self.eigen.vectors.iter().map(&lift).collect();
        let eigen = Eigen { values: self.eigen.values, vectors };
        let (offset, measured) = (lift(&self.offset), lift(&self.measured));
        Covariance { width, offset, measured, lower: Vec::new(), diagonal: Vec::new(), eigen, strata, ..self }
    }

    /// Eigenvalue i without its noise: `λ̃ = (λ̂ + √(λ̂² − e²))/2` above the edge, nothing below it.
    pub fn shrunk(&self, i: usize) -> f64 {
        let value = self.eigen.values[i];
        if value <= self.edge { 0.0 } else { 0.5 * (value + (value * value - self.edge * self.edge).sqrt()) }
    }

    /// How many leading eigenvalues clear the edge by `margin`.
    pub fn above_edge(&self, margin: f64) -> usize {
        self.eigen.values.iter().take_while(|&&value| value > margin * self.edge).count()
    }
}
