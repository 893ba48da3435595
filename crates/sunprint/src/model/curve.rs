//! Monotone maps that give drawn numbers the shares that are wanted of them, also where drawn numbers are equal and where
//! what is wanted is a single value.
//!
//! *Why that can be.* Let x have any distribution function F, with `F(x−)` the part below x, and V uniform on [0, 1]. Then
//! `U = F(x−) + V (F(x) − F(x−))` is uniform: for u between the parts F(y−) and F(y) of a number y that comes with
//! probability `p = F(y) − F(y−) > 0`, `P(U ≤ u) = F(y−) + p (u − F(y−))/p = u`, and where no number has a probability U is
//! F(x). So for any wanted distribution with quantile function G, `G(U)` is distributed just as wanted, and it grows with
//! x. Here F is that of a trial draw; G climbs from `low` to `high` within a piece, and jumps between pieces.

use super::calibrate::Piece;
use crate::math::stream::Stream;
use serde::{Deserialize, Serialize};

/// A monotone curve through points; constant beyond the first and the last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    /// Drawn numbers, ascending.
    pub from: Vec<f64>,
    /// As many, ascending, in `[0, 1]`.
    pub to: Vec<f64>,
    /// The part of the rows below each point; as many, or none where no number is drawn twice. Points with the same
    /// number stand for the rows that have it: each goes to a random place between them, by these parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<f64>,
}

/// When a value is missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Limit {
    /// Above this it is.
    pub above: f64,
    /// At this it is with this probability.
    pub tied: f64,
}

impl Limit {
    /// Nothing is missing.
    pub const NEVER: Limit = Limit { above: f64::MAX, tied: 0.0 };

    /// The limit that a part of sorted numbers passes.
    pub fn of(sorted: &[f64], part: f64) -> Limit {
        let (part, rows) = (part.clamp(0.0, 1.0), sorted.len() as f64);
        if part <= 0.0 || sorted.is_empty() {
            return Limit::NEVER;
        }
        if part >= 1.0 {
            return Limit { above: f64::MIN, tied: 0.0 };
        }
        let above = quantile(sorted, 1.0 - part);
        let (low, high) = equal(sorted, above);
        if high - low < 2 {
            return Limit { above, tied: 0.0 };
        }
        let passed = part * rows - (sorted.len() - high) as f64;
        Limit { above, tied: (passed / (high - low) as f64).clamp(0.0, 1.0) }
    }

    pub fn is_passed(self, x: f64, random: &mut Stream) -> bool {
        x > self.above || (self.tied > 0.0 && x == self.above && random.unit() < self.tied)
    }
}

impl Curve {
    /// The curve that gives sorted numbers the shares of ascending pieces.
    pub(super) fn through(sorted: &[f64], pieces: &[Piece]) -> Curve {
        let total: f64 = pieces.iter().map(|piece| piece.share).sum();
        if sorted.is_empty() || total <= 0.0 {
            return Curve::default();
        }
        let mut before = 0.0;
        let mut wanted: Vec<(f64, f64)> = Vec::with_capacity(2 * pieces.len());
        for piece in pieces.iter().filter(|piece| piece.share > 0.0) {
            wanted.push((before, piece.low));
            before = (before + piece.share / total).min(1.0);
            wanted.push((before, piece.high));
        }
        // Points where a piece ends; and the ends of every run of equal numbers within which one does.
        let mut points: Vec<(f64, f64, f64)> = Vec::with_capacity(wanted.len());
        let (mut tied, mut last) = (false, None);
        for &(part, to) in &wanted {
            let x = quantile(sorted, part);
            let (low, high) = equal(sorted, x);
            let ends = (low as f64 / sorted.len() as f64, high as f64 / sorted.len() as f64);
            if high - low >= 2 && last != Some(low) && ends.0 < part && part < ends.1 {
                points.push((ends.0, x, climb(&wanted, ends.0)));
                points.push((ends.1, x, climb(&wanted, ends.1)));
                (tied, last) = (true, Some(low));
            }
            points.push((part, x, to));
        }
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.total_cmp(&b.2)));
        Curve {
            from: points.iter().map(|point| point.1).collect(),
            to: points.iter().map(|point| point.2).collect(),
            parts: points.iter().filter(|_| tied).map(|point| point.0).collect(),
        }
    }

    /// The place of a drawn number.
    pub fn at(&self, x: f64, random: &mut Stream) -> f64 {
        let above = self.from.partition_point(|&from| from <= x);
        if above == 0 {
            return self.to.first().copied().unwrap_or_else(|| x.clamp(0.0, 1.0));
        }
        if !self.parts.is_empty() && self.from[above - 1] == x {
            let first = self.from.partition_point(|&from| from < x);
            return self.between(first, above, random);
        }
        let (low, to) = (self.from[above - 1], self.to[above - 1]);
        match (self.from.get(above), self.to.get(above)) {
            (Some(high), Some(next)) => to + (next - to) * ((x - low) / (high - low)).clamp(0.0, 1.0),
            _ => to,
        }
    }

    /// A random place between points that have the same number.
    fn between(&self, first: usize, end: usize, random: &mut Stream) -> f64 {
        let parts = &self.parts[first..end];
        let (low, high) = (parts[0], parts[parts.len() - 1]);
        let part = if high > low { low + random.unit() * (high - low) } else { low };
        // The last one that is not above it; at least the first.
        let at = parts.partition_point(|&other| other <= part).clamp(1, parts.len());
        let (start, to) = (parts[at - 1], self.to[first + at - 1]);
        match parts.get(at) {
            Some(&next) if next > start => to + (self.to[first + at] - to) * ((part - start) / (next - start)),
            _ => to,
        }
    }

    /// What drawing relies on.
    pub(super) fn fits(&self) -> bool {
        let inside = self.to.iter().all(|x| (0.0..=1.0).contains(x)) && self.from.iter().all(|x| x.is_finite());
        let parts = self.parts.is_empty() || self.parts.len() == self.from.len();
        let shares = self.parts.iter().all(|x| (0.0..=1.0).contains(x)) && self.parts.is_sorted();
        self.from.len() == self.to.len() && inside && self.from.is_sorted() && self.to.is_sorted() && parts && shares
    }
}

/// The number below which a part of sorted numbers lies.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    sorted[((part * sorted.len() as f64) as usize).min(sorted.len() - 1)]
}

/// Where numbers that are equal to one begin and end.
fn equal(sorted: &[f64], x: f64) -> (usize, usize) {
    (sorted.partition_point(|&other| other < x), sorted.partition_point(|&other| other <= x))
}

/// The wanted place below which a part of the rows lies; `wanted` are the ends of pieces, ascending, with the part of the
/// rows below each.
fn climb(wanted: &[(f64, f64)], part: f64) -> f64 {
    let above = wanted.partition_point(|&(other, _)| other <= part);
    if above == 0 {
        return wanted.first().map_or(0.0, |&(_, to)| to);
    }
    let (start, to) = wanted[above - 1];
    match wanted.get(above) {
        Some(&(end, next)) if end > start => to + (next - to) * (part - start) / (end - start),
        _ => to,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn random() -> Stream {
        Stream::new(5, 0, 0)
    }

    #[test]
    fn a_curve_steps_and_slopes() {
        let curve = Curve { from: vec![-1.0, 0.0, 0.0, 2.0], to: vec![0.0, 0.0, 0.5, 1.0], parts: Vec::new() };
        for (x, y) in [(-9.0, 0.0), (-0.5, 0.0), (0.0, 0.5), (1.0, 0.75), (2.0, 1.0), (9.0, 1.0)] {
            assert!((curve.at(x, &mut random()) - y).abs() < 1e-12, "{x}");
        }
        assert_eq!(Curve::default().at(7.0, &mut random()), 1.0, "without points it clamps");
    }

    /// Pieces that touch or leave gaps, single values among them.
    fn pieces() -> impl Strategy<Value = Vec<Piece>> {
        prop::collection::vec((0.0_f64..1.0, prop_oneof![Just(0.0), 0.0_f64..1.0], any::<bool>()), 1..12).prop_map(
            |drawn| {
                let mut at = 0.0;
                let mut piece = |(gap, share, single): (f64, f64, bool)| {
                    let low: f64 = at + 0.02 * gap;
                    at = if single { low } else { low + 0.05 };
                    let piece = Piece { low, high: at, share };
                    at += 1e-3;
                    piece
                };
                let mut pieces: Vec<Piece> = drawn.into_iter().map(&mut piece).collect();
                pieces[0].share += 0.1;
                pieces
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever is drawn, equal numbers or not, every piece gets its share, and a larger number never a smaller place.
        ///
        /// 20,000 rows: by Hoeffding a share is off by more than 0.03 with probability below 2 exp(−2·20,000·0.0009) <
        /// 10⁻¹⁵; the steps of the trial itself are within 1/400.
        #[test]
        fn every_piece_gets_its_share(
            values in prop::collection::vec(prop_oneof![-1.0_f64..1.0, Just(0.25), Just(-0.5)], 400),
            all_equal in any::<bool>(),
            pieces in pieces(),
        ) {
            let mut sorted = if all_equal { vec![0.3; 400] } else { values };
            sorted.sort_by(f64::total_cmp);
            let curve = Curve::through(&sorted, &pieces);
            prop_assert!(curve.fits(), "{curve:?}");
            let mut random = random();
            let mut settled: Vec<(f64, f64)> =
                (0..20_000).map(|i| sorted[i % 400]).map(|x| (x, curve.at(x, &mut random))).collect();
            let total: f64 = pieces.iter().map(|piece| piece.share).sum();
            for piece in &pieces {
                let inside = settled.iter().filter(|(_, y)| (piece.low - 1e-9..=piece.high + 1e-9).contains(y)).count();
                let off = inside as f64 / 20_000.0 - piece.share / total;
                prop_assert!(off.abs() < 0.03, "{off} {piece:?} {curve:?}");
            }
            settled.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut highest = f64::NEG_INFINITY;
            for run in settled.chunk_by(|a, b| a.0 == b.0) {
                let (low, high) = run.iter().fold((f64::MAX, f64::MIN), |(low, high), (_, y)| (low.min(*y), high.max(*y)));
                prop_assert!(low >= highest - 1e-12);
                highest = high;
            }
        }

        /// As many values are missing as wanted, also where the numbers that say so are equal.
        #[test]
        fn a_limit_is_passed_by_its_part(values in prop::collection::vec(prop_oneof![0.0_f64..1.0, Just(0.5)], 400), part in 0.0_f64..1.0) {
            let mut sorted = values;
            sorted.sort_by(f64::total_cmp);
            let (limit, mut random) = (Limit::of(&sorted, part), random());
            let missing = (0..20_000).filter(|i| limit.is_passed(sorted[i % 400], &mut random)).count();
            prop_assert!((missing as f64 / 20_000.0 - part).abs() < 0.03);
        }
    }

    /// The curve as it was before knew no parts: rows that are equal went to the end of the last piece that they touch.
    #[test]
    fn without_parts_equal_rows_land_at_one_end() {
        let pieces = [Piece { low: 0.0, high: 0.0, share: 0.8 }, Piece { low: 0.6, high: 0.7, share: 0.2 }];
        let curve = Curve::through(&[0.3; 100], &pieces);
        let mean = |curve: &Curve| {
            let mut random = random();
            (0..10_000).map(|_| curve.at(0.3, &mut random)).sum::<f64>() / 1e4
        };
        assert!((mean(&curve) - 0.2 * 0.65).abs() < 0.02);
        assert!(mean(&Curve { parts: Vec::new(), ..curve }) > 0.59, "the control");
    }
}
