//! Until `math::transport::wasserstein1` is here.
use crate::error::Result;
use crate::math::transport as old;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    Euclidean,
    Largest,
    Manhattan,
}

impl Metric {
    pub fn name(self) -> &'static str {
        match self {
            Metric::Euclidean => "l2",
            Metric::Largest => "linf",
            Metric::Manhattan => "l1",
        }
    }
}

pub struct Points<'a> {
    coordinates: &'a [f64],
    width: usize,
}

impl<'a> Points<'a> {
    pub fn new(coordinates: &'a [f64], width: usize) -> Result<Points<'a>> {
        Ok(Points { coordinates, width })
    }
    pub fn count(&self) -> usize {
        self.coordinates.len() / self.width
    }
}

pub struct Certificate {
    pub lower: f64,
}

pub struct Transport {
    pub cost: f64,
    pub certificate: Certificate,
}

pub fn wasserstein1(a: &Points, b: &Points, metric: Metric) -> Result<Transport> {
    let gcd = |mut x: usize, mut y: usize| {
        while y > 0 {
            (x, y) = (y, x % y);
        }
        x
    };
    let (m, n) = (a.count(), b.count());
    let g = gcd(m, n);
    let metric = if metric == Metric::Largest { old::Metric::Largest } else { old::Metric::Euclidean };
    let found = old::w1(&a.coordinates.repeat(n / g), &b.coordinates.repeat(m / g), a.width, metric);
    Ok(Transport { cost: found.value, certificate: Certificate { lower: found.value - found.unit / 2.0 } })
}
