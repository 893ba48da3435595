//! The simulated clinic: its patients as a table, as CSV, and its schema.

use std::fmt::Write;

use sunprint::math::stream::Stream;

use super::columns::{COLUMNS, DIAGNOSES, QUANTITIES};
use super::patient::Patient;

/// The name of the label column.
pub const LABEL: &str = "diagnosis";

/// Keeps the simulation's numbers apart from those of the draw, which may have the same seed.
const PURPOSE: u64 = u64::from_be_bytes(*b"\0\0clinic");

/// The table: simulated, and so public.
pub struct Clinic {
    /// Rounded as a laboratory reports them, inside the bounds.
    pub values: Vec<[f64; QUANTITIES]>,
    /// One diagnosis for each patient.
    pub diagnoses: Vec<usize>,
}

impl Clinic {
    /// Simulates `rows` patients; the same for the same seed, on every machine.
    pub fn simulate(rows: usize, seed: u64) -> Clinic {
        let mut dice = Stream::new(seed, PURPOSE, 0);
        let mut clinic = Clinic { values: Vec::with_capacity(rows), diagnoses: Vec::with_capacity(rows) };
        for _ in 0..rows {
            let patient = Patient::draw(&mut dice);
            let mut values = patient.values;
            for (value, column) in values.iter_mut().zip(&COLUMNS) {
                let unit = 10f64.powi(column.decimals as i32);
                *value = libm::round(value.clamp(column.min, column.max) * unit) / unit;
            }
            clinic.values.push(values);
            clinic.diagnoses.push(patient.diagnosis);
        }
        clinic
    }

    /// The table as CSV.
    pub fn to_csv(&self) -> String {
        let mut text = String::with_capacity(self.values.len() * 220);
        for column in &COLUMNS {
            text.push_str(column.name);
            text.push(',');
        }
        text.push_str(LABEL);
        text.push('\n');
        for (values, &diagnosis) in self.values.iter().zip(&self.diagnoses) {
            for (value, column) in values.iter().zip(&COLUMNS) {
                let _ = write!(text, "{value:.*},", column.decimals);
            }
            text.push_str(DIAGNOSES[diagnosis]);
            text.push('\n');
        }
        text
    }
}

/// The schema: what a physician knows without seeing a patient.
pub fn schema_toml() -> String {
    let mut text = String::from(
        "# The simulated clinic. Bounds are what a physician would call possible, written without seeing the rows.\n\n\
         [dataset]\nname = \"clinic\"\nunit = \"row\"  # one patient, one row\n",
    );
    for column in &COLUMNS {
        let (kind, digits) = if column.decimals == 0 { ("integer", 0) } else { ("continuous", 1) };
        let _ = write!(
            text,
            "\n[[column]]\nname = \"{}\"\nkind = \"{kind}\"\nmin = {:.digits$}\nmax = {:.digits$}\n",
            column.name, column.min, column.max
        );
    }
    let values: Vec<String> = DIAGNOSES.iter().map(|diagnosis| format!("\"{diagnosis}\"")).collect();
    let _ = write!(
        text,
        "\n[[column]]\nname = \"{LABEL}\"\nkind = \"categorical\"\nvalues = [{}]\nrole = \"label\"\n",
        values.join(", ")
    );
    text
}

#[cfg(test)]
mod tests {
    use sunprint::door::Door;
    use sunprint::schema::Schema;
    use sunprint::source::Table;
    use sunprint::tally::codes::Codes;

    use super::{Clinic, schema_toml};
    use crate::demo::columns::COLUMNS;

    impl Clinic {
        /// The table in memory, as it is read from its file, and its schema.
        pub fn to_table(&self) -> (Table, Schema) {
            let schema = Schema::parse(&schema_toml(), "clinic.toml").unwrap();
            let door = Door::new(&schema);
            let mut codes = Codes::with_capacity(COLUMNS.len(), self.values.len());
            for (values, &diagnosis) in self.values.iter().zip(&self.diagnoses) {
                let row: Vec<u16> = values.iter().enumerate().map(|(j, &value)| door.encode_f64(j, value)).collect();
                codes.push(&row, diagnosis as u32);
            }
            (Table::of_codes(vec![codes], &schema).unwrap(), schema)
        }
    }

    #[test]
    fn a_seed_gives_the_same_clinic() {
        assert_eq!(Clinic::simulate(50, 3).to_csv(), Clinic::simulate(50, 3).to_csv());
        assert_ne!(Clinic::simulate(50, 3).to_csv(), Clinic::simulate(50, 4).to_csv());
    }

    #[test]
    fn hardly_any_patient_touches_a_bound() {
        let clinic = Clinic::simulate(5_000, 1);
        for (j, column) in COLUMNS.iter().enumerate() {
            let edge = |row: &&[f64; 40]| row[j] <= column.min || row[j] >= column.max;
            let touching = clinic.values.iter().filter(edge).count();
            // Oxygen saturation ends at 100 %, and many healthy people are there.
            assert!(touching <= 100 || column.max == 100.0, "{}: {touching} of 5,000 at a bound", column.name);
        }
    }

    #[test]
    fn every_bound_of_the_schema_is_the_column_s() {
        for decimal_places in COLUMNS.iter().filter(|column| column.decimals > 0) {
            let tenths = decimal_places.min * 10.0;
            assert!((tenths - tenths.round()).abs() < 1e-9, "{} loses digits", decimal_places.name);
        }
        assert_eq!(schema_toml().matches("[[column]]").count(), 41);
    }
}
