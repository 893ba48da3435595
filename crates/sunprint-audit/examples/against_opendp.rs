//! Nanoseconds for each draw of ours and of OpenDP's, and their ratio.

use std::time::Instant;

use opendp::traits::samplers::{sample_discrete_gaussian, sample_discrete_laplace};
use sunprint::privacy::{Kernel, Ratio};

fn each(draws: u32, mut draw: impl FnMut() -> i128) -> f64 {
    let start = Instant::now();
    let mut sum = 0i128;
    for _ in 0..draws {
        sum = sum.wrapping_add(draw());
    }
    std::hint::black_box(sum);
    start.elapsed().as_nanos() as f64 / f64::from(draws)
}

fn main() -> Result<(), sunprint::error::Error> {
    let mut kernel = Kernel::seeded(1);
    for scale in [1u32, 10, 65535] {
        let exact = Ratio::whole(scale.into());
        let ours = each(1_000_000, || kernel.draw_laplace(exact));
        let theirs = each(100_000, || {
            let draw = sample_discrete_laplace(f64::from(scale).try_into().expect("finite"));
            draw.ok().and_then(|draw| i128::try_from(draw).ok()).unwrap_or(0)
        });
        println!(
            "discrete Laplace, scale {scale}: ours {ours:.0} ns, OpenDP {theirs:.0} ns, {:.1} times",
            theirs / ours
        );
        let variance = Ratio::whole(u128::from(scale).pow(2));
        let ours = each(300_000, || kernel.draw_gaussian(variance));
        let theirs = each(50_000, || {
            let draw = sample_discrete_gaussian(f64::from(scale).try_into().expect("finite"));
            draw.ok().and_then(|draw| i128::try_from(draw).ok()).unwrap_or(0)
        });
        println!(
            "discrete Gaussian, sigma {scale}: ours {ours:.0} ns, OpenDP {theirs:.0} ns, {:.1} times",
            theirs / ours
        );
    }
    Ok(())
}
