//! `cargo bench`: nanoseconds for a row (or a draw) on one thread, beside a plain loop that does the same work.
//!
//! Both are measured in turns and the quickest turn counts, which is the one that was disturbed least. The plain loops
//! are written to be read, not to be fast; a ratio that falls tells of a step back on any machine.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Instant;
use sunprint::door::{Door, Raw};
use sunprint::fit::Fit;
use sunprint::math::stream::Stream;
use sunprint::model::{BLOCK, Model};
use sunprint::plan::{Plan, budget};
use sunprint::privacy::{Kernel, Ratio};
use sunprint::schema::Schema;
use sunprint::tally::codes::Codes;
use sunprint::tally::{Cells, ClippedMoments, Coordinates, Pass, Place, Sums, Work};

/// Each side takes about this many seconds of a turn.
const TURN: f64 = 0.05;
const TURNS: usize = 7;

fn main() {
    // Asked for anything but a measurement, for example for its tests, it has nothing to do.
    if !std::env::args().any(|word| word == "--bench") {
        return;
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    println!("{:<34}{:>12}{:>12}{:>9}", "ns", "ours", "plain", "ratio");
    let parts: [(&str, fn()); 6] = [
        ("gram", || [10, 50, 200, 784].into_iter().for_each(gram)),
        ("sums", || [10, 50, 784].into_iter().for_each(sums)),
        ("cells", || [(50, 3), (784, 5)].into_iter().for_each(cells)),
        ("door", door),
        ("laplace", laplace),
        ("draw", draw),
    ];
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            part();
        }
    }
}

/// Seconds of one call, from as many calls as fill a turn.
fn seconds(calls: usize, work: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    (0..calls).for_each(|_| work());
    start.elapsed().as_secs_f64() / calls as f64
}

/// Measures both and prints a line; each call of either does `rows` rows.
fn compare<A, B>(name: &str, rows: usize, mut ours: impl FnMut() -> A, mut plain: impl FnMut() -> B) {
    let mut ours = || drop(black_box(ours()));
    let mut plain = || drop(black_box(plain()));
    let calls = |work: &mut dyn FnMut()| ((TURN / seconds(1, work)) as usize).clamp(1, 1_000_000);
    let (of_ours, of_plain) = (calls(&mut ours), calls(&mut plain));
    let mut best = [f64::INFINITY; 2];
    for _ in 0..TURNS {
        best[0] = best[0].min(seconds(of_ours, &mut ours));
        best[1] = best[1].min(seconds(of_plain, &mut plain));
    }
    let [ours, plain] = best.map(|seconds| 1e9 * seconds / rows as f64);
    println!("{name:<34}{ours:>12.2}{plain:>12.2}{:>9.2}", plain / ours);
}

const ROWS: usize = 4096;

fn codes(width: usize) -> Codes {
    let mut stream = Stream::new(1, 30, 0);
    let values = (0..ROWS * width).map(|_| 24_576 + (stream.bits() >> 50) as u16).collect();
    Codes::from_parts(width, values, vec![0; ROWS])
}

fn pass(width: usize, work: Work) -> Pass {
    Pass::new(1, width, 1, work)
}

fn rows(codes: &Codes) -> impl Iterator<Item = &[u16]> {
    (0..codes.rows()).map(|row| codes.row(row))
}

fn gram(width: usize) {
    let codes = codes(width);
    let radius = (16_384.0 * (width as f64 / 12.0).sqrt()) as u32;
    let spec = ClippedMoments { centre: vec![32_768; width], radius, plane: None };
    let pass = pass(width, Work::Moments(spec));
    let mut tallying = pass.begin();
    let plain = || {
        let mut products = vec![0_i64; width * width];
        for row in rows(&codes) {
            let u: Vec<i64> = row.iter().map(|&x| i64::from(x) - 32_768).collect();
            let norm = u.iter().map(|x| x * x).sum::<i64>().isqrt().max(i64::from(radius));
            let v: Vec<i64> = u.iter().map(|x| x * 8_000 / norm).collect();
            for i in 0..width {
                for j in 0..=i {
                    products[i * width + j] += v[i] * v[j];
                }
            }
        }
        products
    };
    compare(&format!("gram, a row of {width}"), ROWS, || tallying.add(black_box(&codes)), plain);
    black_box(tallying.finish());
}

fn sums(width: usize) {
    let codes = codes(width);
    let pass = pass(width, Work::Sums(Sums { counted: vec![true; width] }));
    let mut tallying = pass.begin();
    let plain = || {
        let (mut sums, mut squares) = (vec![0_i64; width], 0_i64);
        for row in rows(&codes) {
            for (sum, &x) in sums.iter_mut().zip(row) {
                *sum += i64::from(x);
                squares += (2 * i64::from(x) - 65_535).pow(2);
            }
        }
        (sums, squares)
    };
    compare(&format!("sums, a row of {width}"), ROWS, || tallying.add(black_box(&codes)), plain);
    black_box(tallying.finish());
}

fn cells((width, dimension): (usize, usize)) {
    let codes = codes(width);
    let mut stream = Stream::new(1, 31, 0);
    let mut vector = || {
        let v: Vec<f64> = (0..width).map(|_| stream.normal()).collect();
        let length = v.iter().map(|x| x * x).sum::<f64>().sqrt();
        v.iter().map(|x| (x / length * f64::from(1 << 30)) as i32).collect::<Vec<i32>>()
    };
    let vectors: Vec<Vec<i32>> = (0..dimension).map(|_| vector()).collect();
    let side = Place { low: -(1 << 44), step: 1 << 41 };
    let cuts = (0..4 * dimension).map(|cut| (cut % dimension) as u16).collect();
    let coordinates =
        Coordinates::Basis { centre: vec![32_768; width], vectors: vectors.clone(), places: vec![side; dimension] };
    let pass = pass(width, Work::Cells(Cells { coordinates, cuts, depths: vec![4 * dimension as u8] }));
    let mut tallying = pass.begin();
    let plain = || {
        let mut counts = vec![0_u64; 1 << (4 * dimension)];
        for row in rows(&codes) {
            let mut cell = 0;
            for vector in &vectors {
                let inner: i64 = row.iter().zip(vector).map(|(&x, &v)| (i64::from(x) - 32_768) * i64::from(v)).sum();
                cell = cell * 16 + ((inner - side.low) / side.step).clamp(0, 15) as usize;
            }
            counts[cell] += 1;
        }
        counts
    };
    let name = format!("cells, a row of {width}, d' = {dimension}");
    compare(&name, ROWS, || tallying.add(black_box(&codes)), plain);
    black_box(tallying.finish());
}

/// Columns of real numbers between 0 and 1.
fn schema(columns: usize) -> Schema {
    let mut text = String::new();
    for j in 0..columns {
        let _ = writeln!(text, "[[column]]\nname = \"x{j}\"\nkind = \"continuous\"\nmin = 0.0\nmax = 1.0");
    }
    Schema::parse(&text, "bench").expect("a schema as it is written above")
}

fn door() {
    let schema = schema(1);
    let door = Door::new(&schema);
    let gate = door.gate(0);
    let mut stream = Stream::new(1, 32, 0);
    let texts: Vec<String> = (0..ROWS).map(|_| format!("{:.6}", stream.unit())).collect();
    let code = |x: f64| ((x.clamp(0.0, 1.0) * 65_535.0).round()) as u16;
    let ours = || texts.iter().map(|text| gate.encode(Raw::Text(text))).max();
    let plain = || texts.iter().map(|text| text.parse().map_or(32_768, code)).max();
    compare("door, a text of six decimals", ROWS, ours, plain);
    let numbers: Vec<f64> = (0..ROWS).map(|_| stream.unit()).collect();
    let ours = || numbers.iter().map(|&x| gate.encode(Raw::Number(x))).max();
    let plain = || numbers.iter().map(|&x| code(x)).max();
    compare("door, a number", ROWS, ours, plain);
}

/// The plain draw inverts the distribution function in floating point: quick, and not private.
fn laplace() {
    let (mut kernel, mut stream) = (Kernel::seeded(1), Stream::new(1, 33, 0));
    let scale = Ratio::new(655_360, 10).expect("a scale");
    let ours = || (0..ROWS).map(|_| kernel.draw_laplace(scale)).max();
    let plain = || {
        let mut one = || 65_536.0 * (libm::log(stream.unit() + 1e-300) - libm::log(stream.unit() + 1e-300));
        (0..ROWS).map(|_| one() as i64).max()
    };
    compare("discrete Laplace, one draw", ROWS, ours, plain);
}

/// The plain draw is one normal number for each column, and nothing else.
fn draw() {
    const WIDTH: usize = 50;
    let model = fitted(WIDTH);
    let draw = model.draw(1 << 40, 7);
    let (mut block, mut drawn) = (0, sunprint::source::Drawn::default());
    let ours = || {
        draw.fill(block, &mut drawn);
        block += 1;
        black_box(&drawn);
    };
    let mut stream = Stream::new(1, 34, 0);
    let plain = || {
        let units: Vec<f64> =
            (0..BLOCK as usize * WIDTH).map(|_| (0.5 + 0.1 * stream.normal()).clamp(0.0, 1.0)).collect();
        units
    };
    compare(&format!("draw, a row of {WIDTH}"), BLOCK as usize, ours, plain);
}

fn fitted(width: usize) -> Model {
    let codes = codes(width);
    let budget = budget("1".parse().expect("an epsilon"), None).expect("a budget");
    let fit = Fit::begin_with_danger_kernel(&schema(width), Plan::default(), budget, ROWS as u64, Kernel::seeded(1));
    let mut fit = fit.expect("a plan that fits its schema");
    while let Some(pass) = fit.next_pass() {
        fit.absorb(pass.tally(&codes)).expect("a tally of its pass");
    }
    fit.finish().expect("a fit with all its answers")
}
