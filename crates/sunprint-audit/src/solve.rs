//! Problems of transport and flow in, answers out, one JSON object in each line: so that programs in any language can
//! compare these solvers with others.
//!
//! ```text
//! {"problem": "transport", "a": [[0, 0]], "b": [[3, 4]], "weights_a": null, "weights_b": null, "metric": "l2"}
//! {"problem": "flow", "supplies": [2, -2], "arcs": [[0, 1, 5, null], [0, 1, 3, 1]]}
//! {"problem": "lattice", "shape": [2, 2], "metric": "linf", "supplies": [3, -1, 0, 0], "total": 2}
//! ```
//!
//! A list of numbers may also be the name of a file that holds them, eight bytes each, little-endian; points are then
//! `{"file": name, "width": coordinates of each}`. With `"whole": true` the plan and the proof come with the answer.

use serde::{Deserialize, Serialize};
use std::io::{BufRead, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use sunprint::error::{Error, Kind, Result};
use sunprint::math::flow::Network;
use sunprint::math::lattice::Lattice;
use sunprint::math::transport::{Metric, Points, wasserstein1};

use crate::speed::peak;

#[derive(Deserialize)]
#[serde(tag = "problem", rename_all = "lowercase", deny_unknown_fields)]
enum Problem {
    Transport {
        a: PointList,
        b: PointList,
        #[serde(default)]
        weights_a: Option<Numbers<f64>>,
        #[serde(default)]
        weights_b: Option<Numbers<f64>>,
        metric: String,
        #[serde(default)]
        whole: bool,
    },
    Flow {
        supplies: Numbers<i64>,
        /// From, to, cost, capacity.
        arcs: Vec<(usize, usize, i64, Option<u64>)>,
        #[serde(default)]
        whole: bool,
    },
    Lattice {
        shape: Vec<u32>,
        metric: String,
        supplies: Numbers<i64>,
        total: u64,
        #[serde(default)]
        whole: bool,
    },
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Numbers<T> {
    Here(Vec<T>),
    File(PathBuf),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum PointList {
    Here(Vec<Vec<f64>>),
    File { file: PathBuf, width: usize },
}

/// What is said about every problem that could be solved.
#[derive(Serialize)]
struct Answer {
    /// Whether the proof holds; it is always checked.
    verified: bool,
    /// Processor time of the solution alone, all threads together, without reading and without the check of the proof.
    cpu: f64,
    /// Wall-clock time of the same.
    elapsed: f64,
    /// The largest memory of this process so far, in megabytes (10⁶ bytes), the check of the proof included.
    peak: f64,
    #[serde(flatten)]
    found: Found,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Found {
    Transport {
        cost: f64,
        lower: f64,
        #[serde(flatten)]
        proof: Option<TransportProof>,
    },
    Flow {
        cost: i128,
        #[serde(flatten)]
        proof: Option<FlowProof>,
    },
    Lattice {
        cost: i128,
        unit: i64,
        factor: f64,
        #[serde(flatten)]
        proof: Option<LatticeProof>,
    },
}

#[derive(Serialize)]
struct TransportProof {
    plan: Vec<(usize, usize, f64)>,
    unit: f64,
    rows: Vec<i64>,
    columns: Vec<i64>,
}

#[derive(Serialize)]
struct FlowProof {
    amounts: Vec<u64>,
    potentials: Vec<i64>,
}

#[derive(Serialize)]
struct LatticeProof {
    measure: Vec<u64>,
    moved: Vec<(u32, u32, u64)>,
    bank: Vec<(u32, i64)>,
    potentials: Vec<i64>,
    bank_potential: i64,
}

#[derive(Serialize)]
struct Refusal {
    error: String,
}

/// Answers each line of `problems`, until there is none. What cannot be solved is answered with `{"error": …}`.
///
/// # Errors
/// If lines can no longer be read or written.
pub fn answer_all(problems: impl BufRead, mut answers: impl Write) -> Result<()> {
    let broken = |_| Error::new(Kind::Io, "the problems cannot be read or the answers cannot be written");
    for line in problems.lines() {
        let answer = match answer(&line.map_err(broken)?) {
            Ok(answer) => serde_json::to_string(&answer),
            Err(error) => serde_json::to_string(&Refusal { error: error.to_string() }),
        };
        writeln!(answers, "{}", answer.expect("answers are plain numbers")).map_err(broken)?;
        answers.flush().map_err(broken)?;
    }
    Ok(())
}

fn answer(line: &str) -> Result<Answer> {
    let problem = serde_json::from_str(line)
        .map_err(|error| Error::new(Kind::Usage, format!("the problem cannot be understood: {error}")))?;
    match problem {
        Problem::Transport { a, b, weights_a, weights_b, metric, whole } => {
            let ((a, a_width), (b, b_width)) = (a.read("a")?, b.read("b")?);
            let weights_a = weights_a.map(Numbers::read).transpose()?;
            let weights_b = weights_b.map(Numbers::read).transpose()?;
            transport(
                &points(&a, a_width, weights_a.as_deref())?,
                &points(&b, b_width, weights_b.as_deref())?,
                metric.parse()?,
                whole,
            )
        }
        Problem::Flow { supplies, arcs, whole } => flow(&supplies.read()?, &arcs, whole),
        Problem::Lattice { shape, metric, supplies, total, whole } => {
            lattice(&Lattice::new(&shape, metric.parse()?)?, &supplies.read()?, total, whole)
        }
    }
}

fn points<'a>(coordinates: &'a [f64], width: usize, weights: Option<&'a [f64]>) -> Result<Points<'a>> {
    let points = Points::new(coordinates, width)?;
    weights.map_or(Ok(points), |weights| points.weighted(weights))
}

fn transport(a: &Points, b: &Points, metric: Metric, whole: bool) -> Result<Answer> {
    let (found, taken) = Taken::by(|| wasserstein1(a, b, metric));
    let found = found?;
    let verified = found.verify(a, b);
    let proof = whole.then(|| TransportProof {
        plan: found.plan().map(|step| (step.from, step.to, step.mass)).collect(),
        unit: found.certificate.unit,
        rows: found.certificate.rows.clone(),
        columns: found.certificate.columns.clone(),
    });
    Ok(taken.answer(verified, Found::Transport { cost: found.cost, lower: found.certificate.lower, proof }))
}

fn flow(supplies: &[i64], arcs: &[(usize, usize, i64, Option<u64>)], whole: bool) -> Result<Answer> {
    let mut network = Network::new(supplies);
    for &(from, to, cost, capacity) in arcs {
        network.arc(from, to, cost, capacity)?;
    }
    let (found, taken) = Taken::by(|| network.solve());
    let found = found?;
    let verified = found.verify(&network);
    let cost = found.cost;
    let proof = whole.then_some(FlowProof { amounts: found.amounts, potentials: found.potentials });
    Ok(taken.answer(verified, Found::Flow { cost, proof }))
}

fn lattice(lattice: &Lattice, supplies: &[i64], total: u64, whole: bool) -> Result<Answer> {
    if supplies.len() != lattice.cells() {
        let rule = format!("there are {} `supplies` for {} cells", supplies.len(), lattice.cells());
        return Err(Error::new(Kind::Data, rule));
    }
    let size = supplies.iter().map(|supply| u128::from(supply.unsigned_abs())).sum::<u128>() + u128::from(total);
    if size > 1 << 62 {
        return Err(Error::new(Kind::Data, "the `supplies` and the `total` add up to more than 2^62"));
    }
    let (found, taken) = Taken::by(|| lattice.nearest(supplies, total, &|_| {}));
    let verified = found.verify(lattice, supplies, total);
    let cost = found.cost;
    let proof = whole.then(|| LatticeProof {
        measure: found.measure,
        moved: found.moved.iter().map(|step| (step.from, step.to, step.amount)).collect(),
        bank: found.bank,
        potentials: found.potentials,
        bank_potential: found.bank_potential,
    });
    Ok(taken.answer(verified, Found::Lattice { cost, unit: lattice.unit(), factor: lattice.factor(), proof }))
}

/// What a solution took.
struct Taken {
    cpu: f64,
    elapsed: f64,
}

impl Taken {
    fn by<T>(work: impl FnOnce() -> T) -> (T, Taken) {
        let (cpu, start) = (processor_time(), Instant::now());
        let done = work();
        (done, Taken { elapsed: start.elapsed().as_secs_f64(), cpu: processor_time() - cpu })
    }

    fn answer(self, verified: bool, found: Found) -> Answer {
        Answer { verified, cpu: self.cpu, elapsed: self.elapsed, peak: peak(), found }
    }
}

/// Seconds of processor time of this process, threads that have ended included; 0 where the system does not tell.
#[cfg(unix)]
fn processor_time() -> f64 {
    let clock = nix::time::ClockId::CLOCK_PROCESS_CPUTIME_ID;
    nix::time::clock_gettime(clock).map_or(0.0, |time| std::time::Duration::from(time).as_secs_f64())
}

#[cfg(not(unix))]
fn processor_time() -> f64 {
    0.0
}

/// A number that a file holds in eight bytes.
trait EightBytes: Sized {
    fn from_eight(bytes: [u8; 8]) -> Self;
}

impl EightBytes for f64 {
    fn from_eight(bytes: [u8; 8]) -> Self {
        f64::from_le_bytes(bytes)
    }
}

impl EightBytes for i64 {
    fn from_eight(bytes: [u8; 8]) -> Self {
        i64::from_le_bytes(bytes)
    }
}

fn read_numbers<T: EightBytes>(file: &Path) -> Result<Vec<T>> {
    let place = || file.display().to_string();
    let bytes =
        std::fs::read(file).map_err(|_| Error::new(Kind::Io, "a file of numbers cannot be read").at(place()))?;
    let (numbers, rest) = bytes.as_chunks::<8>();
    if !rest.is_empty() {
        return Err(Error::new(Kind::Data, "a file of numbers must have eight bytes for each").at(place()));
    }
    Ok(numbers.iter().map(|&number| T::from_eight(number)).collect())
}

impl<T: EightBytes> Numbers<T> {
    fn read(self) -> Result<Vec<T>> {
        match self {
            Numbers::Here(numbers) => Ok(numbers),
            Numbers::File(file) => read_numbers(&file),
        }
    }
}

impl PointList {
    /// The coordinates, point by point, and the width.
    fn read(self, side: &str) -> Result<(Vec<f64>, usize)> {
        let rows = match self {
            PointList::File { file, width } => return Ok((read_numbers(&file)?, width)),
            PointList::Here(rows) => rows,
        };
        // Without a point any width will do: the solver is to say what is wrong.
        let width = rows.first().map_or(1, Vec::len);
        if let Some((at, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != width) {
            let rule = format!("point {at} of `{side}` has {} coordinates, those before it have {width}", row.len());
            return Err(Error::new(Kind::Data, rule));
        }
        Ok((rows.concat(), width))
    }
}
