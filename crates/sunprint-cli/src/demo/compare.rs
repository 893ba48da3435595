//! Real against synthetic, in a few numbers. The clinic is simulated, so looking is allowed; with real rows, numbers
//! like these are for the curator alone.

use sunprint::math::stream::Stream;
use sunprint::math::transport::{Metric, Points, wasserstein1};

use super::clinic::Clinic;
use super::columns::{COLUMNS, DIAGNOSES, QUANTITIES, place};

/// Keeps the choice of rows apart from the simulation and the draw, which may have the same seed.
const PURPOSE: u64 = u64::from_be_bytes(*b"\0compare");

/// Rows that the distance is measured on.
pub const SUBSAMPLE: usize = 1_000;

/// The averages that are shown.
const MEANS: [&str; 7] = [
    "age_years",
    "bmi_kg_m2",
    "systolic_mmhg",
    "haemoglobin_g_l",
    "hba1c_pct",
    "c_reactive_protein_mg_l",
    "egfr_ml_min",
];

/// The correlations that are shown: what goes together, and why.
const PAIRS: [(&str, &str, &str); 6] = [
    ("fasting_glucose_mmol_l", "hba1c_pct", "glucose and HbA1c"),
    ("bmi_kg_m2", "triglycerides_mmol_l", "body mass index and triglycerides"),
    ("neutrophils_10e9_l", "temperature_c", "neutrophils and temperature"),
    ("haemoglobin_g_l", "red_cells_10e12_l", "haemoglobin and red cells"),
    ("age_years", "egfr_ml_min", "age and filtration rate"),
    ("creatinine_umol_l", "egfr_ml_min", "creatinine and filtration rate"),
];

/// The averages within a diagnosis that are shown.
const WITHIN: [(&str, &str, &str); 3] = [
    ("diabetes", "hba1c_pct", "HbA1c in diabetes, %"),
    ("infection", "temperature_c", "temperature in infection, °C"),
    ("kidney disease", "egfr_ml_min", "filtration in kidney disease"),
];

/// Rows on the scale of their bounds: 0 is the lower bound, 1 the upper.
#[derive(Default)]
pub struct Sheet {
    units: Vec<[f64; QUANTITIES]>,
    diagnoses: Vec<usize>,
}

/// One number of both tables.
pub struct Pair {
    /// What it is.
    pub title: String,
    /// In the real table.
    pub real: f64,
    /// In the synthetic table.
    pub synthetic: f64,
}

/// How far tables are apart: W1, the mean distance over which rows must be moved to turn one table into the other.
pub struct Distances {
    /// Between two parts of the real table: chance alone.
    pub floor: f64,
    /// Between real and synthetic.
    pub synthetic: f64,
    /// Between real and rows that are uniform between the bounds.
    pub ceiling: f64,
}

/// Everything that the report shows.
pub struct Comparison {
    /// Averages of columns.
    pub means: Vec<Pair>,
    /// Shares of the diagnoses.
    pub shares: Vec<Pair>,
    /// Averages within a diagnosis.
    pub within: Vec<Pair>,
    /// Correlations.
    pub correlations: Vec<Pair>,
    /// Distances between whole rows.
    pub distances: Distances,
}

impl Sheet {
    /// The real rows.
    pub fn of_clinic(clinic: &Clinic) -> Sheet {
        let mut sheet = Sheet::default();
        for (values, &diagnosis) in clinic.values.iter().zip(&clinic.diagnoses) {
            let units: Vec<f64> = values
                .iter()
                .zip(&COLUMNS)
                .map(|(value, column)| (value - column.min) / (column.max - column.min))
                .collect();
            sheet.push(&units, diagnosis);
        }
        sheet
    }

    /// Appends a row. Only the first [`QUANTITIES`] numbers count, and missing ones are in the middle.
    pub fn push(&mut self, units: &[f64], diagnosis: usize) {
        let mut row = [0.5; QUANTITIES];
        row.iter_mut().zip(units).for_each(|(to, from)| *to = *from);
        self.units.push(row);
        self.diagnoses.push(diagnosis);
    }

    /// A column's average over the rows that `keep` chooses, in the column's own unit.
    fn mean(&self, column: usize, keep: impl Fn(usize) -> bool) -> f64 {
        let kept = self.units.iter().zip(&self.diagnoses).filter(|(_, diagnosis)| keep(**diagnosis));
        let (sum, count) = kept.fold((0.0, 0.0), |(sum, count), (row, _)| (sum + row[column], count + 1.0));
        COLUMNS[column].min + sum / count * (COLUMNS[column].max - COLUMNS[column].min)
    }

    fn share(&self, diagnosis: usize) -> f64 {
        let count = self.diagnoses.iter().filter(|found| **found == diagnosis).count();
        count as f64 / self.diagnoses.len() as f64
    }

    /// Pearson's correlation of two columns; 0 if one of them is constant.
    fn correlation(&self, one: usize, other: usize) -> f64 {
        let rows = self.units.len() as f64;
        let mean = |column: usize| self.units.iter().map(|row| row[column]).sum::<f64>() / rows;
        let (mean_one, mean_other) = (mean(one), mean(other));
        let product = |a: usize, mean_a: f64, b: usize, mean_b: f64| {
            self.units.iter().map(|row| (row[a] - mean_a) * (row[b] - mean_b)).sum::<f64>()
        };
        let scale = product(one, mean_one, one, mean_one) * product(other, mean_other, other, mean_other);
        if scale > 0.0 { product(one, mean_one, other, mean_other) / scale.sqrt() } else { 0.0 }
    }

    /// `count` different rows, drawn at random, flat.
    fn some_rows(&self, count: usize, dice: &mut Stream) -> Vec<f64> {
        dice.choose(self.units.len(), count).into_iter().flat_map(|row| self.units[row]).collect()
    }
}

impl Comparison {
    /// Compares a real and a synthetic sheet; the seed chooses the subsamples.
    pub fn between(real: &Sheet, synthetic: &Sheet, seed: u64) -> Comparison {
        let pair = |title: &str, number: &dyn Fn(&Sheet) -> f64| Pair {
            title: title.to_owned(),
            real: number(real),
            synthetic: number(synthetic),
        };
        let means = MEANS.map(|name| pair(COLUMNS[place(name)].title, &|sheet| sheet.mean(place(name), |_| true)));
        let shares = DIAGNOSES.iter().enumerate().map(|(i, name)| pair(name, &|sheet| sheet.share(i)));
        let within = WITHIN.map(|(diagnosis, column, title)| {
            let wanted = DIAGNOSES.iter().position(|name| *name == diagnosis);
            pair(title, &|sheet| sheet.mean(place(column), |found| Some(found) == wanted))
        });
        let correlations =
            PAIRS.map(|(one, other, title)| pair(title, &|sheet| sheet.correlation(place(one), place(other))));
        Comparison {
            means: means.into(),
            shares: shares.collect(),
            within: within.into(),
            correlations: correlations.into(),
            distances: Distances::between(real, synthetic, &mut Stream::new(seed, PURPOSE, 0)),
        }
    }
}

impl Distances {
    fn between(real: &Sheet, synthetic: &Sheet, dice: &mut Stream) -> Distances {
        let both = real.some_rows(2 * SUBSAMPLE, dice);
        let (one, other) = both.split_at(both.len() / 2);
        let drawn = synthetic.some_rows(SUBSAMPLE, dice);
        let noise: Vec<f64> = (0..one.len()).map(|_| dice.unit()).collect();
        let distance = |rows: &[f64]| {
            let points = Points::new(one, QUANTITIES).and_then(|one| Ok((one, Points::new(rows, QUANTITIES)?)));
            let found = points.and_then(|(a, b)| wasserstein1(&a, &b, Metric::Euclidean));
            found.expect("whole rows of numbers between 0 and 1").cost
        };
        Distances { floor: distance(other), synthetic: distance(&drawn), ceiling: distance(&noise) }
    }

    /// How much of the way from knowing the bounds alone to having real rows the synthetic table covers, from 0 to 1.
    pub fn covered(&self) -> f64 {
        ((self.ceiling - self.synthetic) / (self.ceiling - self.floor)).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Clinic, Comparison, Distances, Sheet};

    #[test]
    fn a_table_compares_well_with_itself() {
        let sheet = Sheet::of_clinic(&Clinic::simulate(2_000, 1));
        let comparison = Comparison::between(&sheet, &sheet, 1);
        let all =
            [comparison.means, comparison.shares, comparison.within, comparison.correlations].into_iter().flatten();
        for pair in all {
            assert_eq!(pair.real, pair.synthetic, "{}", pair.title);
        }
    }

    #[test]
    fn the_clinic_is_as_a_physician_expects() {
        let sheet = Sheet::of_clinic(&Clinic::simulate(20_000, 1));
        let comparison = Comparison::between(&sheet, &sheet, 1);
        let number = |pairs: &[super::Pair], title: &str| pairs.iter().find(|pair| pair.title == title).unwrap().real;
        let expected = [
            (number(&comparison.means, "age, years"), 45.0, 60.0),
            (number(&comparison.means, "systolic pressure, mmHg"), 115.0, 135.0),
            (number(&comparison.means, "haemoglobin, g/L"), 130.0, 150.0),
            (number(&comparison.shares, "healthy"), 0.5, 0.7),
            (number(&comparison.within, "HbA1c in diabetes, %"), 6.5, 8.5),
            (number(&comparison.within, "temperature in infection, °C"), 37.3, 38.5),
            (number(&comparison.within, "filtration in kidney disease"), 25.0, 60.0),
            (number(&comparison.correlations, "glucose and HbA1c"), 0.75, 0.95),
            (number(&comparison.correlations, "creatinine and filtration rate"), -0.9, -0.6),
        ];
        for (found, low, high) in expected {
            assert!((low..high).contains(&found), "{found} is not between {low} and {high}");
        }
    }

    #[test]
    fn the_way_covered_runs_from_none_to_all() {
        let covered = |synthetic: f64| Distances { floor: 0.2, synthetic, ceiling: 1.2 }.covered();
        assert_eq!([covered(1.3), covered(1.2), covered(0.7), covered(0.1)], [0.0, 0.0, 0.5, 1.0]);
    }
}
