//! Which cells of a column have rows at all.
//!
//! A cell that holds nothing shows the positive half of its noise. Taken at their word, empty cells far out would put rows
//! where no row is, and a few of these move means and correlations more than all the rest. A cell is *heard* if its count
//! exceeds `b ln B` for B cells with Laplace noise of scale b: of all empty cells together, fewer than one in two is heard
//! by chance (`B · ½ e^{−ln B} = ½`). Between the outermost cells that are heard, whatever stands above its noise counts.
//! Beyond them tails are heard together: going outwards, counts add up until they exceed two deviations of their sum.

/// Cells between the outermost that are heard count if they exceed this many deviations.
const INSIDE: f64 = 1.0;
/// Tails count if what was added up exceeds this many deviations of its noise.
const OUTSIDE: f64 = 2.0;

/// The cells that have rows, in ascending order; all of them where none is heard. `noise` is the deviation of a count.
pub(crate) fn heard(counts: &[f64], noise: f64) -> Vec<usize> {
    let limit = noise / std::f64::consts::SQRT_2 * (counts.len().max(2) as f64).ln();
    let loud = |count: &f64| *count > limit;
    let (Some(first), Some(last)) = (counts.iter().position(loud), counts.iter().rposition(loud)) else {
        return (0..counts.len()).collect();
    };
    let mut some: Vec<usize> = (first..=last).filter(|&i| counts[i] > INSIDE * noise).collect();
    some.extend(tail(counts, noise, (last + 1)..counts.len()));
    some.extend(tail(counts, noise, (0..first).rev()));
    some.sort_unstable();
    some.dedup();
    some
}

/// The cells of a tail up to the last place where it was heard.
fn tail(counts: &[f64], noise: f64, outwards: impl Iterator<Item = usize>) -> Vec<usize> {
    let (mut sum, mut since, mut some) = (0.0, Vec::new(), Vec::new());
    for i in outwards {
        sum += counts[i];
        since.push(i);
        if sum > OUTSIDE * noise * (since.len() as f64).sqrt() {
            some.append(&mut since);
            sum = 0.0;
        }
    }
    some
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;

    /// Laplace noise of deviation 100.
    fn noise(random: &mut Stream) -> f64 {
        let u = random.unit() - 0.5;
        -u.signum() * 100.0 / 2.0_f64.sqrt() * (1.0 - 2.0 * u.abs()).ln()
    }

    /// Of forty cells ten have rows: these are found, and of the others few. A fixed seed.
    #[test]
    fn empty_cells_are_rarely_heard() {
        let mut random = Stream::new(5, 3, 0);
        let (mut missed, mut false_alarms) = (0, 0);
        for _ in 0..200 {
            let counts: Vec<f64> =
                (0..40).map(|i| if (5..15).contains(&i) { 1000.0 } else { 0.0 } + noise(&mut random)).collect();
            let some = heard(&counts, 100.0);
            missed += (5..15).filter(|i| !some.contains(i)).count();
            false_alarms += some.iter().filter(|i| !(5..15).contains(*i)).count();
        }
        assert!(missed == 0 && false_alarms < 200 * 4, "{missed} {false_alarms}");
    }

    /// A tail of many cells none of which is heard alone, and a table of noise.
    #[test]
    fn tails_are_heard_together() {
        let mut counts = vec![0.0; 30];
        counts[3] = 5000.0;
        counts[4..24].fill(150.0);
        assert!(heard(&counts, 100.0).contains(&20));
        assert_eq!(heard(&[5.0, -3.0, 1.0], 100.0), [0, 1, 2]);
        assert!(heard(&[], 1.0).is_empty());
    }
}
