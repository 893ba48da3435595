//! How long a fit takes and how much memory it needs, on a file made for the purpose.

use std::path::Path;
use std::time::Instant;
use sunprint::error::{Error, Kind, Result};
use sunprint::math::stream::Stream;
use sunprint::plan::{Plan, budget};
use sunprint::run::fit_table;
use sunprint::source::{Drawn, Format, Input, Layout, Output, Physical, PhysicalType, Silent, Table, TableWriter};

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
}

/// Writes a Parquet file of float64 columns: normal values around the middle with four common factors.
pub fn write_table(path: &Path, rows: usize, width: usize) -> Result<()> {
    let schema = unit_schema(width);
    let float = |name: &String| Physical { name: name.clone(), physical: PhysicalType::Float64, nullable: false };
    let layout = Layout { columns: schema.columns.iter().map(|column| float(&column.name)).collect() };
    let mut writer = TableWriter::create(&Output::new(path, None), Format::Parquet, &schema, &layout)?;
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
    let start = Instant::now();
    let table = Table::open(&Input::new(path, None), &schema, &Silent)?;
    let read = start.elapsed().as_secs_f64();
    let start = Instant::now();
    fit_table(&table, &schema, Plan::default(), budget(epsilon.parse()?, None)?, &Silent)?;
    Ok(Speed { read, fit: start.elapsed().as_secs_f64(), peak: peak() })
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
