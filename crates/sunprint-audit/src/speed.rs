//! How long a fit takes and how much memory it needs, on a file made for the purpose.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use sunprint::error::{Error, Kind, Result};
use sunprint::math::stream::Stream;
use sunprint::plan::{Plan, budget};
use sunprint::run::fit_table;
use sunprint::source::{
    Drawn, Existing, Format, Input, Layout, Output, Physical, PhysicalType, Progress, Table, TableWriter, Unit,
};
use sunprint::tally::codes::Codes;
use sunprint::tally::{ClippedMoments, Pass, Work};

use crate::synthesise::unit_schema;

/// What one fit took.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Speed {
    /// Seconds for reading the file alone.
    pub read: f64,
    /// Seconds for the fit alone: three passes, the noise, the model.
    pub fit: f64,
    /// The largest resident memory of the process, in megabytes (10⁶ bytes); 0 where the system does not tell.
    pub peak: f64,
    /// Where the time went, in the order of the work: what, and seconds.
    pub phases: Vec<(String, f64)>,
}

/// Writes a Parquet file of float64 columns: normal values around the middle with four common factors.
pub fn write_table(path: &Path, rows: usize, width: usize) -> Result<()> {
    let schema = unit_schema(width);
    let float = |name: &String| Physical { nullable: false, ..Physical::new(name, PhysicalType::Float64) };
    let layout = Layout { columns: schema.columns.iter().map(|column| float(&column.name)).collect() };
    let output = Output::new(path, None).over(Existing::Replace);
    let mut writer = TableWriter::create(&output, Format::Parquet, &schema, &layout)?;
    let mut weights = Stream::new(1, 20, 0);
    let loadings: Vec<[f64; 4]> = (0..width).map(|_| [0; 4].map(|_| 0.05 * weights.normal())).collect();
    const BATCH: usize = 8192;
    for batch in 0..rows.div_ceil(BATCH) {
        let mut stream = Stream::new(1, 21, batch as u64);
        let count = BATCH.min(rows - batch * BATCH);
        let mut units = Vec::with_capacity(count * width);
        for _ in 0..count {
            let factors = [0; 4].map(|_| stream.normal());
            units.extend(loadings.iter().map(|loading| {
                let common: f64 = loading.iter().zip(&factors).map(|(l, f)| l * f).sum();
                (0.5 + common + 0.05 * stream.normal()).clamp(0.0, 1.0)
            }));
        }
        writer.write(&Drawn { width, units, strata: vec![0; count] })?;
    }
    writer.finish()
}

/// Reads and fits the file once. Run it in a process of its own: the peak is the whole process's.
pub fn fit_once(path: &Path, width: usize, epsilon: &str) -> Result<Speed> {
    let schema = unit_schema(width);
    let watch = Stopwatch::new();
    let start = Instant::now();
    let table = Table::open(&Input::new(path, None), &schema, &watch)?;
    let read = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let model = fit_table(&table, &schema, Plan::default(), budget(epsilon.parse()?, None)?, &watch)?;
    let fit = start.elapsed().as_secs_f64();
    watch.turn("writing the model");
    std::hint::black_box(model.to_json());
    Ok(Speed { read, fit, peak: peak(), phases: watch.phases() })
}

/// Someone who watches a fit with a stopwatch in his hand.
struct Stopwatch {
    laps: Mutex<Laps>,
}

struct Laps {
    what: String,
    since: Instant,
    over: Vec<(String, f64)>,
}

impl Stopwatch {
    fn new() -> Stopwatch {
        let laps = Laps { what: "reading".to_owned(), since: Instant::now(), over: Vec::new() };
        Stopwatch { laps: Mutex::new(laps) }
    }

    fn laps(&self) -> MutexGuard<'_, Laps> {
        self.laps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something else begins.
    fn turn(&self, what: &str) {
        let mut laps = self.laps();
        let lap = (std::mem::replace(&mut laps.what, what.to_owned()), laps.since.elapsed().as_secs_f64());
        laps.over.push(lap);
        laps.since = Instant::now();
    }

    /// What was done, neighbours of one name together.
    fn phases(&self) -> Vec<(String, f64)> {
        self.turn("");
        let mut phases: Vec<(String, f64)> = Vec::new();
        for (what, seconds) in std::mem::take(&mut self.laps().over) {
            match phases.last_mut() {
                Some(last) if last.0 == what => last.1 += seconds,
                _ => phases.push((what, seconds)),
            }
        }
        phases
    }
}

impl Progress for Stopwatch {
    fn start(&self, what: &str, _: Option<u64>, _: Unit) {
        let what = match what {
            pass if pass.starts_with("measuring, ") => pass.trim_start_matches("measuring, "),
            file if file.starts_with("reading ") => "reading",
            other => other,
        };
        self.turn(what);
    }

    fn advance(&self, _: u64) {}

    fn done(&self) {
        let before = self.laps().what.clone();
        self.turn(match before.as_str() {
            "pass 1" => "noise, centre and spread",
            "pass 2" => "noise, directions and cells",
            "pass 3" | "finding the measure" => "noise and measure",
            other => other,
        });
    }
}

/// What the moments pass took over codes in memory.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Moments {
    /// The rows.
    pub rows: usize,
    /// The columns.
    pub width: usize,
    /// Seconds of each run after the warm-up.
    pub seconds: Vec<f64>,
}

/// Times the moments pass: centring, clipping and the products of all columns, in exact integers. The rows are spread
/// so that about half of them are clipped. Each thread keeps one tally and adds every piece of its rows to it.
pub fn moments(rows: usize, width: usize, threads: usize, runs: usize) -> Moments {
    const CHUNK: usize = 8192;
    let mut stream = Stream::new(1, 22, 0);
    let noise: Vec<u16> = (0..CHUNK * width + CHUNK).map(|_| 24_576 + (stream.bits() >> 50) as u16).collect();
    let chunks: Vec<Codes> = (0..rows.div_ceil(CHUNK))
        .map(|chunk| {
            let count = CHUNK.min(rows - chunk * CHUNK);
            let shift = chunk % CHUNK;
            Codes::from_parts(width, noise[shift..shift + count * width].to_vec(), vec![0; count])
        })
        .collect();
    // The root of the mean square of a row of uniform numbers on 2¹⁴ codes: 2¹⁴ √(d/12).
    let radius = (16_384.0 * (width as f64 / 12.0).sqrt()) as u32;
    let spec = ClippedMoments { centre: vec![32_768; width], radius, plane: None };
    let pass = Pass::new(2, width, 1, Work::Moments(spec));
    let once = || {
        let start = Instant::now();
        let part = |thread: usize| {
            let mut tallying = pass.begin();
            chunks.iter().skip(thread).step_by(threads.max(1)).for_each(|codes| tallying.add(codes));
            tallying.finish()
        };
        let tally = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|thread| scope.spawn(move || part(thread))).collect();
            let mut tally = part(0);
            for other in others {
                tally.merge(other.join().expect("a thread that adds")).expect("tallies of one pass");
            }
            tally
        });
        assert_eq!(std::hint::black_box(tally).rows(), rows as u64);
        start.elapsed().as_secs_f64()
    };
    once();
    Moments { rows, width, seconds: (0..runs.max(1)).map(|_| once()).collect() }
}

/// Fits the file in a process of its own, which is this program with the hidden word `fit-once`.
pub fn fit_apart(path: &Path, width: usize, epsilon: &str) -> Result<Speed> {
    let failed = |_| Error::new(Kind::Io, "the measuring program could not start itself");
    let program = std::env::current_exe().map_err(failed)?;
    let mut command = std::process::Command::new(program);
    command.arg("fit-once").arg(path).arg(width.to_string()).arg(epsilon);
    let output = command.output().map_err(failed)?;
    serde_json::from_slice(&output.stdout).map_err(|_| Error::new(Kind::Io, "the measured fit did not finish"))
}

/// `VmHWM` of this process in megabytes.
pub(crate) fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    let kibibytes: f64 = line.split_whitespace().nth(1).and_then(|word| word.parse().ok()).unwrap_or(0.0);
    kibibytes * 1024.0 / 1e6
}
