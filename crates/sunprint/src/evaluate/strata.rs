//! Means and deviations within every stratum.

use crate::source::Table;
use crate::tally::codes::{Codes, Q};

/// What is taken from a code, so that squares add up within 64 bits: at most 2³⁰ for each of 2³² rows.
const SHIFT: i64 = 32_768;

/// Sums within every stratum of a table. Private, like the rows.
pub(crate) struct StratumSums {
    width: usize,
    rows: Vec<u64>,
    /// Strata × d: sums of shifted codes, and of their squares.
    sums: Vec<i64>,
    squares: Vec<i64>,
}

impl StratumSums {
    /// The sums of a table that was read by a schema with so many strata.
    pub(crate) fn of(table: &Table, strata: usize) -> StratumSums {
        let width = table.width();
        let mut all = StratumSums {
            width,
            rows: vec![0; strata],
            sums: vec![0; strata * width],
            squares: vec![0; strata * width],
        };
        table.chunks().iter().for_each(|codes| all.add(codes));
        all
    }

    fn add(&mut self, codes: &Codes) {
        for row in 0..codes.rows() {
            let stratum = codes.stratum(row) as usize;
            self.rows[stratum] += 1;
            let places = stratum * self.width..(stratum + 1) * self.width;
            let sums = self.sums[places.clone()].iter_mut().zip(&mut self.squares[places]);
            for ((sum, square), &code) in sums.zip(codes.row(row)) {
                let shifted = i64::from(code) - SHIFT;
                *sum += shifted;
                *square += shifted * shifted;
            }
        }
    }

    /// The rows of a stratum.
    pub(crate) fn rows(&self, stratum: usize) -> u64 {
        self.rows[stratum]
    }

    /// Mean and standard deviation of a coordinate within a stratum that has rows, in units of its width.
    pub(crate) fn moments(&self, stratum: usize, coordinate: usize) -> (f64, f64) {
        let at = stratum * self.width + coordinate;
        let (n, sum, square) =
            (i128::from(self.rows[stratum]), i128::from(self.sums[at]), i128::from(self.squares[at]));
        let scale = n as f64 * f64::from(Q);
        ((sum + n * i128::from(SHIFT)) as f64 / scale, ((n * square - sum * sum) as f64).sqrt() / scale)
    }

    /// The root mean squares, over the coordinates, of the differences between means and between deviations of a stratum
    /// in two tables; none if one of them has no such rows.
    pub(crate) fn errors(&self, other: &StratumSums, stratum: usize) -> Option<[f64; 2]> {
        if self.rows[stratum] == 0 || other.rows[stratum] == 0 {
            return None;
        }
        let mut squares = [0.0; 2];
        for coordinate in 0..self.width {
            let (a, b) = (self.moments(stratum, coordinate), other.moments(stratum, coordinate));
            squares[0] += (a.0 - b.0) * (a.0 - b.0);
            squares[1] += (a.1 - b.1) * (a.1 - b.1);
        }
        Some(squares.map(|sum| (sum / self.width.max(1) as f64).sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;
    use crate::schema::Schema;

    #[test]
    fn they_are_those_of_plain_sums() {
        let schema = Schema::parse(
            "[[column]]\nname = \"a\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n\
             [[column]]\nname = \"b\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n\
             [[column]]\nname = \"c\"\nkind = \"categorical\"\nrole = \"label\"\nvalues = [\"x\", \"y\", \"z\"]\n",
            "s",
        )
        .unwrap();
        let mut random = Stream::new(3, 0, 0);
        let mut rows: Vec<([u16; 2], u32)> = Vec::new();
        for _ in 0..200 {
            let code = |random: &mut Stream| random.below(65_536) as u16;
            rows.push(([code(&mut random), code(&mut random)], random.below(2) as u32));
        }
        let mut parts = vec![Codes::with_capacity(2, 0), Codes::with_capacity(2, 0)];
        rows.iter().enumerate().for_each(|(i, (row, stratum))| parts[i % 2].push(row, *stratum));
        let sums = StratumSums::of(&Table::of_codes(parts, &schema).unwrap(), 3);
        for stratum in 0..2 {
            for j in 0..2 {
                let units: Vec<f64> = rows
                    .iter()
                    .filter(|row| row.1 as usize == stratum)
                    .map(|row| f64::from(row.0[j]) / f64::from(Q))
                    .collect();
                let mean = units.iter().sum::<f64>() / units.len() as f64;
                let square = units.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / units.len() as f64;
                let found = sums.moments(stratum, j);
                assert!((found.0 - mean).abs() < 1e-12 && (found.1 - square.sqrt()).abs() < 1e-12);
            }
        }
        assert_eq!(sums.errors(&sums, 0), Some([0.0, 0.0]));
        assert_eq!((sums.errors(&sums, 2), sums.rows(2)), (None, 0));
    }
}
