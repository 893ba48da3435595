//! Tallies as bytes, and what is read back: damage, other passes and impossible numbers are refused.

use super::bytes::{Reader, Writer};
use super::cells::CellTally;
use super::moments::{GRID, MomentTally};
use super::origin::{Hex, Origin};
use super::pass::{Answer, MOST_ROWS, Pass, Tally, VERSION, Work};
use super::sums::{ProductTally, SumTally};
use crate::error::{Error, Kind, Result};

/// The largest entry that one row can add: a product of two shifted codes.
const MOST_OF_A_ROW: i128 = 1 << 30;

impl Tally {
    /// The tally as bytes, for a worker that may see the rows. Secret: see the type.
    pub fn to_secret_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new(VERSION, self.shape().0);
        out.u64(u64::from(self.origin.number));
        out.u64(self.rows);
        out.bytes(&self.origin.fit.0);
        out.bytes(&self.origin.pass.0);
        match &self.answer {
            Answer::Sums(t) => {
                out.integers(&t.sums);
                out.i128(t.square);
            }
            Answer::Products(t) => {
                out.integers(&t.sums);
                out.integers(&t.products);
            }
            Answer::Moments(t) => {
                out.integers(&t.products);
                out.integers(&t.stratum_sums);
                out.integers(&t.stratum_rows);
            }
            Answer::Cells(t) => out.integers(&t.leaves.iter().map(|&count| count as i64).collect::<Vec<_>>()),
        }
        out.finish()
    }

    /// Reads a tally of `pass` back, refusing damage, another version, another pass or another fit.
    pub fn from_secret_bytes(bytes: &[u8], pass: &Pass) -> Result<Tally> {
        let damaged = || Error::new(Kind::Protocol, "these bytes are not a tally of this pass");
        let (tally, none) = (Self::read(bytes).ok_or_else(damaged)?, pass.empty());
        if let Some(apart) = tally.origin.apart(&none.origin) {
            return Err(apart.refused(
                "these bytes are a tally of another fit",
                "these bytes are a tally of another pass of this fit",
            ));
        }
        // Whoever forges the mark may forge the rest.
        Some(tally).filter(|tally| tally.shape() == none.shape() && tally.is_possible(pass)).ok_or_else(damaged)
    }

    fn read(bytes: &[u8]) -> Option<Tally> {
        let (mut input, kind) = Reader::new(bytes, VERSION)?;
        let number = u32::try_from(input.u64()?).ok()?;
        let rows = input.u64()?;
        let origin = Origin { fit: Hex(input.take()?), number, pass: Hex(input.take()?) };
        let answer = match kind {
            0 => Answer::Sums(SumTally { sums: input.integers()?, square: input.i128()? }),
            1 => Answer::Products(ProductTally { sums: input.integers()?, products: input.integers()? }),
            2 => Answer::Moments(MomentTally {
                products: input.integers()?,
                stratum_sums: input.integers()?,
                stratum_rows: input.integers()?,
            }),
            3 => Answer::Cells(CellTally { leaves: input.integers()?.into_iter().map(|count| count as u64).collect() }),
            _ => return None,
        };
        input.at_end().then_some(Tally { origin, rows, answer })
    }

    /// Could any `rows` rows give these numbers in answer to this pass, whose shape they have? A coarse question, but one
    /// that keeps later sums inside 64 bits. What rows can give is never refused.
    fn is_possible(&self, pass: &Pass) -> bool {
        let whole = i128::from(self.rows);
        let most = whole * MOST_OF_A_ROW;
        let within = |entries: &[i64]| entries.iter().all(|&entry| i128::from(entry).abs() <= most);
        let all = |counts: &[u64]| counts.iter().map(|&count| i128::from(count)).sum::<i128>() == whole;
        self.rows <= MOST_ROWS
            && match &self.answer {
                // One row's square is at most d Q², and Q² < 4 · 2³⁰.
                Answer::Sums(t) => within(&t.sums) && (0..=most * 4 * t.sums.len() as i128).contains(&t.square),
                Answer::Products(t) => within(&t.sums) && within(&t.products),
                Answer::Moments(t) => {
                    let counts: i128 = t.stratum_rows.iter().map(|&count| i128::from(count)).sum();
                    let counted = t.stratum_rows.iter().all(|&count| count >= 0) && counts == whole;
                    // |v| ≤ K, or the reach: a stratum's sum is at most that times its rows, and all of them together at
                    // most that times n, which is then multiplied by a constant.
                    let entry = match &pass.work {
                        Work::Clamped(spec) => i128::from(spec.reach),
                        _ => i128::from(GRID),
                    };
                    let width = t.stratum_sums.len() / pass.strata.max(1);
                    let summed = t.stratum_sums.chunks(width.max(1)).zip(&t.stratum_rows).all(|(sums, &count)| {
                        sums.iter().all(|&sum| i128::from(sum).abs() <= i128::from(count) * entry)
                    });
                    within(&t.products) && counted && summed
                }
                Answer::Cells(t) => match &pass.work {
                    Work::Marginals(marginals) => marginals.columns(&t.leaves, pass.strata).all(all),
                    _ => all(&t.leaves),
                },
            }
    }
}
