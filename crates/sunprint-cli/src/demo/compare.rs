//! Real against synthetic, in a few numbers. The clinic is simulated, so looking is allowed; with real rows, numbers
//! like these are for the curator alone.

use sunprint::error::{Error, Kind, Result};
use sunprint::evaluate::{Distances, Moments, Settings, distances};
use sunprint::schema::Schema;
use sunprint::source::{Silent, Table};

use super::columns::{COLUMNS, DIAGNOSES, place};

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

/// One number of both tables.
pub struct Pair {
    /// What it is.
    pub title: String,
    /// In the real table.
    pub real: f64,
    /// In the synthetic table.
    pub synthetic: f64,
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

impl Comparison {
    /// Compares the real and the synthetic clinic, read by the clinic's schema; the seed chooses the subsamples.
    pub fn between(real: &Table, synthetic: &Table, schema: &Schema, seed: u64) -> Result<Comparison> {
        let settings = Settings { rows: Some(SUBSAMPLE), draws: 1, seed, ..Settings::default() };
        let distances = distances(real, synthetic, schema, &settings, &Silent)?;
        let moments = |table: &Table| {
            let other = || Error::new(Kind::Data, "the table is not the clinic's").hint("run the demo again");
            Moments::of(table, schema, &Silent).ok_or_else(other)
        };
        let (real, synthetic) = (moments(real)?, moments(synthetic)?);
        let pair = |title: &str, number: &dyn Fn(&Moments) -> f64| Pair {
            title: title.to_owned(),
            real: number(&real),
            synthetic: number(&synthetic),
        };
        let means =
            MEANS.map(|name| pair(COLUMNS[place(name)].title, &|table| own(place(name), table.mean(place(name)))));
        let shares = DIAGNOSES.iter().enumerate().map(|(i, name)| pair(name, &|table| table.stratum_shares()[i]));
        let within = WITHIN.map(|(diagnosis, name, title)| {
            let wanted = DIAGNOSES.iter().position(|name| *name == diagnosis);
            // An average over nobody is not a number.
            pair(title, &|table| own(place(name), table.mean_within(place(name), wanted).unwrap_or(f64::NAN)))
        });
        let correlations =
            PAIRS.map(|(one, other, title)| pair(title, &|table| table.correlation(place(one), place(other))));
        Ok(Comparison {
            means: means.into(),
            shares: shares.collect(),
            within: within.into(),
            correlations: correlations.into(),
            distances,
        })
    }
}

/// A mean in the column's own unit.
fn own(column: usize, unit: f64) -> f64 {
    COLUMNS[column].min + unit * (COLUMNS[column].max - COLUMNS[column].min)
}

#[cfg(test)]
mod tests {
    use super::{Comparison, Pair};
    use crate::demo::clinic::Clinic;

    fn compared_with_itself(rows: usize) -> Comparison {
        let (table, schema) = Clinic::simulate(rows, 1).to_table();
        Comparison::between(&table, &table, &schema, 1).unwrap()
    }

    #[test]
    fn a_table_compares_well_with_itself() {
        let comparison = compared_with_itself(2_000);
        let all =
            [comparison.means, comparison.shares, comparison.within, comparison.correlations].into_iter().flatten();
        for pair in all {
            assert_eq!(pair.real, pair.synthetic, "{}", pair.title);
        }
    }

    #[test]
    fn the_clinic_is_as_a_physician_expects() {
        let comparison = compared_with_itself(20_000);
        let number = |pairs: &[Pair], title: &str| pairs.iter().find(|pair| pair.title == title).unwrap().real;
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
}
