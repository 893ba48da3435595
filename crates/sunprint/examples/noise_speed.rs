//! Nanoseconds for each draw, and the time of the Wishart-difference mechanism.
//!
//! `cargo run --release -p sunprint --features seam --example noise_speed [order …]`

use std::time::Instant;

use sunprint::privacy::{Budget, Epsilon, Kernel, Ratio, Sensitive};

/// Time on the processor of this thread where the system tells it (a busy machine does not distort it), else wall time.
fn nanoseconds(start: Instant) -> u128 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let on_processor = told.and_then(|text| text.split(' ').next().and_then(|word| word.parse().ok()));
    on_processor.unwrap_or_else(|| start.elapsed().as_nanos())
}

fn each(name: &str, draws: u32, mut draw: impl FnMut() -> i128) {
    let start = Instant::now();
    let before = nanoseconds(start);
    let mut sum = 0i128;
    for _ in 0..draws {
        sum = sum.wrapping_add(draw());
    }
    let time = (nanoseconds(start) - before) / u128::from(draws);
    println!("{name:40} {time:6} ns   (sum {sum})");
}

fn main() -> Result<(), sunprint::error::Error> {
    let mut kernel = Kernel::seeded(1);
    for (num, den) in [(1, 1), (10, 1), (65535, 1), (655_350, 3), (1 << 50, 1), (1 << 80, 1)] {
        let scale = Ratio::new(num, den).unwrap_or(Ratio::ONE);
        each(&format!("discrete Laplace, scale {scale}"), 1_000_000, || kernel.draw_laplace(scale));
    }
    for variance in [1, 100, 1_000_000, 1 << 50, 1 << 70, 1 << 120] {
        let variance = Ratio::whole(variance);
        each(&format!("discrete Gaussian, variance {variance}"), 300_000, || kernel.draw_gaussian(variance));
    }
    each("normal", 1_000_000, || kernel.draw_normal());

    let asked: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    for order in if asked.is_empty() { vec![50, 785] } else { asked } {
        let gram = Sensitive::new(vec![0i64; order * (order + 1) / 2]);
        let [charge] = Budget::pure("1".parse::<Epsilon>()?).split([1])?;
        let start = Instant::now();
        let before = nanoseconds(start);
        kernel.moments("speed", gram, order, 1 << 27, charge)?;
        let (wall, processor) = (start.elapsed().as_secs_f64(), (nanoseconds(start) - before) / 1_000_000);
        println!("Wishart difference, order {order:5}: {wall:.3} s ({processor} ms of this thread on the processor)");
    }
    Ok(())
}
