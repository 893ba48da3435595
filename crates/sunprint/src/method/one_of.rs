//! Columns of two values that exclude one another: a category that the table spells as many columns.
//!
//! A Gaussian that is cut at a threshold in each of them would set two of the columns in one row, or none, which no row of
//! the table does. The released moments say how often two columns are set together, so those of which a row sets one at
//! most are found for free, and drawn as one. Post-processing: only released numbers enter.

use crate::model::OneOf;
use crate::schema::Schema;
use crate::subspace::Covariance;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// A column excludes others if it is set together with one of them in at most this part of the rows in which chance alone
/// would do so, and in no more than noise may seem to.
const TOGETHER: f64 = 0.05;
const NOISE: f64 = 2.0;
/// That is said only where chance would be heard: so many times above the noise.
const HEARD: f64 = 6.0;
/// Rows in which none is set are rows of the table where they are more than this part, and more than so many deviations of
/// the noise.
const NONE: f64 = 0.01;
const NONE_NOISE: f64 = 3.0;

/// The coordinates of columns with two values.
pub(super) fn indicators(schema: &Schema) -> Vec<usize> {
    schema.blocks().iter().filter(|block| schema.indicates(block)).map(|block| block.start).collect()
}

/// The lists of columns, among those of two values, of which a row sets one at most. `means` are the columns' means.
///
/// Columns that spell one category stand side by side in a table, as everybody writes them, so only these are asked: a
/// list ends before the first column that is set together with it. (Far apart there are columns that exclude one another
/// for other reasons, as a soil does with the areas where it is not found.) Where a column is so rare that nobody can hear
/// what it excludes, the list goes on; in the end the list is asked as a whole.
pub(super) fn exclusive(covariance: &Covariance, means: &[f64], two_valued: &[usize]) -> Vec<OneOf> {
    let pairs = Pairs { covariance, means, rows: RefCell::default() };
    let mut lists: Vec<Vec<usize>> = Vec::new();
    for &column in two_valued {
        match lists.last_mut() {
            Some(list)
                if list.last().is_some_and(|last| last + 1 == column)
                    && pairs.apart(&[column], list) != Some(false) =>
            {
                list.push(column);
            }
            _ => lists.push(vec![column]),
        }
    }
    lists.iter().filter_map(|list| pairs.one_of(list)).collect()
}

/// How often columns are set together.
struct Pairs<'a> {
    covariance: &'a Covariance,
    means: &'a [f64],
    /// Rows of the covariance, as far as they were asked for.
    rows: RefCell<BTreeMap<usize, Vec<f64>>>,
}

impl Pairs<'_> {
    /// How often one of some columns is set in a row.
    fn often(&self, some: &[usize]) -> f64 {
        some.iter().map(|&column| self.means[column]).sum()
    }

    /// How often one of `some` columns is set together with one of `others`, beyond chance.
    ///
    /// Wide tables may have thousands of columns that are soon found to be apart: one entry costs d, and a row d².
    fn beyond_chance(&self, some: &[usize], others: &[usize]) -> f64 {
        match (some, others) {
            ([i], [j]) => self.covariance.entry(*i, *j),
            _ => {
                let mut rows = self.rows.borrow_mut();
                let mut of = |i: usize| {
                    let row = rows.entry(i).or_insert_with(|| self.covariance.row(i));
                    others.iter().map(|&j| row[j]).sum::<f64>()
                };
                some.iter().map(|&i| of(i)).sum()
            }
        }
    }

    /// Whether some columns exclude others, where that can be heard.
    ///
    /// *Noise.* The covariances of k with l columns have deviation `√(k l) σ` together, for an entry off the diagonal has
    /// `σ² = σ_d²/2`; the product of the sums a and b of their means, with σ₁ in each of them, `√(k b² + l a²) σ₁`.
    fn apart(&self, some: &[usize], others: &[usize]) -> Option<bool> {
        let (a, b, k, l) = (self.often(some), self.often(others), some.len() as f64, others.len() as f64);
        let noise = k * l * self.covariance.diagonal_noise.powi(2) / 2.0;
        let noise = (noise + (k * b * b + l * a * a) * self.covariance.mean_noise.powi(2)).sqrt();
        let chance = a * b;
        let seen = || self.beyond_chance(some, others) + chance;
        (chance > HEARD * noise).then(|| seen() <= TOGETHER * chance + NOISE * noise)
    }

    /// A list without the columns that do not belong to it, not yet calibrated; nothing if nothing is left.
    fn one_of(&self, list: &[usize]) -> Option<OneOf> {
        let others = |column: usize| list.iter().copied().filter(|&other| other != column).collect::<Vec<usize>>();
        let heard: Vec<Option<bool>> = list.iter().map(|&column| self.apart(&[column], &others(column))).collect();
        // What nobody can hear belongs to the list between columns of which it is known, and at its ends if it is heard
        // from all together there.
        let mut first = heard.iter().position(|&apart| apart == Some(true))?;
        let mut last = heard.iter().rposition(|&apart| apart == Some(true))?;
        let known = &list[first..=last];
        if self.apart(&list[..first], known) == Some(true) {
            first = 0;
        }
        if self.apart(&list[last + 1..], known) == Some(true) {
            last = list.len() - 1;
        }
        let inside = list.iter().zip(&heard).enumerate();
        let inside = inside.filter(|(i, (_, apart))| (first..=last).contains(i) && **apart != Some(false));
        let at: Vec<usize> = inside.map(|(_, (&column, _))| column).collect();
        let noise = NONE_NOISE * self.covariance.mean_noise * (at.len() as f64).sqrt();
        let none = 1.0 - self.often(&at) > NONE.max(noise);
        (at.len() > 1).then_some(OneOf { at, none, offsets: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::eigen;
    use crate::math::stream::Stream;

    /// The covariance and the means of rows.
    fn of(rows: &[Vec<f64>]) -> (Covariance, Vec<f64>) {
        let (n, d) = (rows.len() as f64, rows[0].len());
        let means: Vec<f64> = (0..d).map(|j| rows.iter().map(|row| row[j]).sum::<f64>() / n).collect();
        let entry = |i: usize, j: usize| rows.iter().map(|r| (r[i] - means[i]) * (r[j] - means[j])).sum::<f64>() / n;
        let matrix: Vec<f64> = (0..d * d).map(|at| entry(at / d, at % d)).collect();
        let diagonal: Vec<f64> = (0..d).map(|j| matrix[j * d + j]).collect();
        let covariance = Covariance {
            width: d,
            offset: vec![0.0; d],
            measured: vec![0.0; d],
            clipping: 0.0,
            lower: Vec::new(),
            trace: diagonal.iter().sum(),
            diagonal,
            diagonal_noise: 1e-6,
            mean_noise: 1e-6,
            eigen: eigen::symmetric(&matrix, d),
            edge: 1e-6,
            strata: Vec::new(),
        };
        (covariance, means)
    }

    /// Columns 0 to 4 are the five values of a category, 5 to 7 flags of their own, 8 and 9 two of three values, and 10 is
    /// set where 0 is not, but stands apart from it.
    fn rows() -> Vec<Vec<f64>> {
        let mut stream = Stream::new(3, 96, 0);
        let row = |_| {
            let mut row = vec![0.0; 11];
            let first = [0, 0, 0, 0, 0, 1, 1, 2, 3, 4][stream.below(10) as usize];
            row[first] = 1.0;
            (5..8).for_each(|flag| row[flag] = f64::from(u8::from(stream.unit() < 0.3)));
            let third = stream.below(3) as usize;
            if third < 2 {
                row[8 + third] = 1.0;
            }
            row[10] = 1.0 - row[0];
            row
        };
        (0..5000).map(row).collect()
    }

    fn lists(two_valued: &[usize], noise: f64) -> Vec<(Vec<usize>, bool)> {
        let (covariance, means) = of(&rows());
        let covariance = Covariance { diagonal_noise: noise, mean_noise: noise, ..covariance };
        exclusive(&covariance, &means, two_valued).into_iter().map(|one_of| (one_of.at, one_of.none)).collect()
    }

    #[test]
    fn categories_in_many_columns_are_found() {
        let all: Vec<usize> = (0..11).collect();
        assert_eq!(lists(&all, 1e-5), [(vec![0, 1, 2, 3, 4], false), (vec![8, 9], true)]);
        assert_eq!(lists(&[0, 2, 4], 1e-5), [], "columns of more values stand between these");
        assert_eq!(lists(&[5, 6, 7], 1e-5), [], "flags that have nothing to do with one another");
    }

    /// What is as rare as noise belongs to a list if it stands within it, and noise of the size of everything says nothing.
    #[test]
    fn what_cannot_be_heard_is_not_said() {
        assert_eq!(lists(&[0, 1, 2, 3, 4], 4e-3)[0].0, [0, 1, 2, 3, 4]);
        assert_eq!(lists(&(0..11).collect::<Vec<_>>(), 0.3), []);
    }
}
