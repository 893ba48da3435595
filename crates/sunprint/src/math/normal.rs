//! Standard normal numbers for synthetic rows (not for privacy noise), the same on every machine.

use super::stream::Stream;

impl Stream {
    /// A standard normal number, by Marsaglia's polar method.
    ///
    /// (x, y) uniform in the unit disc has an angle independent of q = x² + y², and q is uniform on (0, 1); so
    /// √(−2 ln q) · (x, y)/√q is a pair of independent normals. Division and square root are exactly rounded by IEEE
    /// 754 and the logarithm is `libm`'s own code, so every machine computes the same bits.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        loop {
            let (x, y) = self.point();
            let q = x * x + y * y;
            if q > 0.0 && q < 1.0 {
                let stretch = (-2.0 * libm::log(q) / q).sqrt();
                self.spare = Some(y * stretch);
                return x * stretch;
            }
        }
    }

    /// A standard normal number that lies between two bounds.
    ///
    /// By rejection: normal numbers until one lies between bounds that hold the middle, or places between narrow or
    /// distant bounds, taken with the probability `exp(−(x² − x₀²)/2)`, where x₀ is the place nearest to 0; that is, if
    /// `−2 ln u` of a uniform u exceeds `x² − x₀²`. After some tries in vain, which only very distant bounds can cause,
    /// the last place is taken as it is.
    pub fn normal_between(&mut self, low: f64, high: f64) -> f64 {
        const TRIES: usize = 24;
        let roomy = low < -0.5 && high > 0.5;
        let nearest = 0.0_f64.max(low).min(high);
        let mut place = nearest;
        for _ in 0..TRIES {
            if roomy {
                let x = self.normal();
                if x >= low && x <= high {
                    return x;
                }
            } else {
                place = low + (high - low) * self.unit();
                let excess = place * place - nearest * nearest;
                if -2.0 * libm::log(1.0 - self.unit()) >= excess {
                    return place;
                }
            }
        }
        place
    }

    /// As many standard normal numbers as there are places: the same that [`Stream::normal`] gives one by one.
    pub fn normals(&mut self, out: &mut [f64]) {
        let taken = match out.first_mut() {
            Some(first) => self.spare.take().map(|spare| *first = spare).map_or(0, |()| 1),
            None => return,
        };
        for pairs in out[taken..].chunks_mut(2 * TOGETHER) {
            self.pairs(pairs);
        }
    }

    /// Some pairs together. Whether a point lies in the disc cannot be foretold, so nothing is decided on it: a point
    /// that does not is written over by the next. As many points are tried as pairs are missing, so that none is tried
    /// too many.
    fn pairs(&mut self, out: &mut [f64]) {
        let wanted = out.len().div_ceil(2);
        let mut found = [(0.0, 0.0, 0.0); TOGETHER + 1];
        let mut have = 0;
        while have < wanted {
            for _ in 0..wanted - have {
                let (x, y) = self.point();
                let q = x * x + y * y;
                found[have] = (x, y, q);
                have += usize::from(q > 0.0 && q < 1.0);
            }
        }
        for (pair, (x, y, q)) in out.chunks_mut(2).zip(found) {
            let stretch = (-2.0 * libm::log(q) / q).sqrt();
            pair[0] = x * stretch;
            match pair.get_mut(1) {
                Some(second) => *second = y * stretch,
                None => self.spare = Some(y * stretch),
            }
        }
    }

    /// A point of the square around the disc.
    #[inline]
    fn point(&mut self) -> (f64, f64) {
        (2.0 * self.unit() - 1.0, 2.0 * self.unit() - 1.0)
    }
}

/// Pairs that are found together.
const TOGETHER: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_tails_are_normal() {
        let mut stream = Stream::new(1, 0, 0);
        let draws: Vec<f64> = (0..400_000).map(|_| stream.normal()).collect();
        let moment = |p: i32| draws.iter().map(|x| x.powi(p)).sum::<f64>() / draws.len() as f64;
        // Standard deviations of the moments over √400,000: 0.0016, 0.0022, 0.0061, 0.0155; bounds are five of each.
        assert!(moment(1).abs() < 0.008);
        assert!((moment(2) - 1.0).abs() < 0.011);
        assert!(moment(3).abs() < 0.031);
        assert!((moment(4) - 3.0).abs() < 0.08);
        for (edge, tail) in [(1.0, 0.158_655), (2.0, 0.022_750), (3.0, 0.001_350)] {
            let beyond = draws.iter().filter(|&&x| x > edge).count() as f64 / draws.len() as f64;
            assert!((beyond - tail).abs() < 5.0 * (tail / draws.len() as f64).sqrt(), "P(X > {edge})");
        }
        let pairs = draws.chunks_exact(2).map(|p| p[0] * p[1]).sum::<f64>() / (draws.len() / 2) as f64;
        assert!(pairs.abs() < 0.0112, "the two of a pair are uncorrelated");
    }

    #[test]
    fn many_together_are_the_same_as_one_by_one() {
        let (mut alone, mut together) = (Stream::new(5, 1, 2), Stream::new(5, 1, 2));
        for count in (0..200).chain([1, 1, 0, 1000, 3]) {
            let mut many = vec![0.0; count];
            together.normals(&mut many);
            let one_by_one: Vec<f64> = (0..count).map(|_| alone.normal()).collect();
            assert_eq!(many, one_by_one, "{count}");
            // Other numbers of the stream come in between.
            assert_eq!((alone.bits(), alone.spare), (together.bits(), together.spare));
        }
    }

    #[test]
    fn the_numbers_never_change() {
        let mut stream = Stream::new(7, 1, 2);
        let bits: Vec<u64> = (0..3).map(|_| stream.normal().to_bits()).collect();
        assert_eq!(bits, WRITTEN_DOWN);
    }

    // Written down once: a model's draws must stay the same for ever.
    const WRITTEN_DOWN: [u64; 3] = [13_810_995_311_585_242_140, 13_807_162_977_042_237_653, 13_826_583_180_462_554_357];
}
