//! `sunprint-doors kills | fuzz | clock`: see the library.

#![forbid(unsafe_code)]
#![allow(clippy::disallowed_methods)]

use clap::{Parser, Subcommand};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;
use sunprint_doors::{clock, fuzz};

/// Kills, hostile files and clocks.
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Kills `fit` and `synth` at random moments, and looks at what is left.
    Kills {
        /// How many times.
        #[arg(long, default_value_t = 1000)]
        times: usize,
        /// Rows of the table.
        #[arg(long, default_value_t = 200_000)]
        rows: usize,
        /// Which moments.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// No kill begins after so many minutes.
        #[arg(long, default_value_t = 60)]
        minutes: u64,
        /// The program; the one that stands beside this one unless said otherwise.
        #[arg(long)]
        program: Option<PathBuf>,
    },
    /// Hands damaged and hostile files to every door.
    Fuzz {
        /// Executions in all.
        #[arg(long, default_value_t = 10_000_000)]
        executions: u64,
        /// Which changes.
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// One door alone.
        #[arg(long)]
        door: Option<String>,
        /// Where files that fail are kept.
        #[arg(long, default_value = "fuzz/failed")]
        keep: PathBuf,
        /// Processes at a time.
        #[arg(long, default_value_t = 2)]
        workers: usize,
        /// This process executes, and no other.
        #[arg(long, hide = true)]
        worker: bool,
    },
    /// Times a fit with different rows of the same shape.
    Clock {
        /// Rows of the table.
        #[arg(long, default_value_t = 200_000)]
        rows: usize,
        /// Runs for each table.
        #[arg(long, default_value_t = 11)]
        times: usize,
        /// The program.
        #[arg(long)]
        program: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    let done = match Cli::parse().task {
        #[cfg(unix)]
        Task::Kills { times, rows, seed, minutes, program } => kill(times, rows, seed, minutes, program),
        #[cfg(not(unix))]
        Task::Kills { .. } => Err("there is no kill -9 on this system".to_string()),
        Task::Fuzz { executions, seed, door: Some(door), keep, worker: true, .. } => {
            work(&door, executions, seed, &keep)
        }
        Task::Fuzz { executions, seed, door, keep, workers, .. } => spread(executions, seed, door, &keep, workers),
        Task::Clock { rows, times, program } => time(rows, times, program),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(sentence) => {
            eprintln!("error: {sentence}");
            ExitCode::FAILURE
        }
    }
}

fn beside() -> PathBuf {
    let here = std::env::current_exe().unwrap_or_default();
    here.with_file_name("sunprint")
}

#[cfg(unix)]
fn kill(times: usize, rows: usize, seed: u64, minutes: u64, program: Option<PathBuf>) -> Result<bool, String> {
    use sunprint_doors::kills::{self, Orders};
    let program = program.unwrap_or_else(beside);
    let orders = Orders { program, rows, times, seed, most: Duration::from_secs(60 * minutes) };
    let found = kills::run(&orders, |line| eprintln!("{line}"))?;
    let [reserved, opened, spent, _] = found.states;
    println!("{} killed, {} ended before their moment", found.killed, found.ended);
    println!("charges: {} none yet, {reserved} reserved, {opened} opened, {spent} spent", found.states[3]);
    println!("{} with an output; {} hidden files, all removed by the next run", found.outputs, found.hidden);
    println!("{} faults", found.faults.len());
    found.faults.iter().for_each(|fault| println!("  {fault}"));
    Ok(found.faults.is_empty())
}

/// One door in this process, with a limit on its memory.
fn work(door: &str, executions: u64, seed: u64, keep: &std::path::Path) -> Result<bool, String> {
    #[cfg(unix)]
    {
        use nix::sys::resource::{Resource, setrlimit};
        let limited = setrlimit(Resource::RLIMIT_AS, fuzz::MOST_ADDRESSES, fuzz::MOST_ADDRESSES);
        limited.map_err(|fault| format!("memory cannot be limited: {fault}"))?;
    }
    let door = fuzz::Door::named(door).ok_or("there is no such door")?;
    let found = fuzz::run(door, executions, seed, &fuzz::corpus(), Some(keep)).map_err(|fault| fault.to_string())?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("?").trim();
    println!(
        "{:9} {:>9} executions {:>8.0} a second, {:>8} accepted, {:>4} sentences, slowest {:>6.1} ms, peak {peak}, {} faults",
        door.name,
        found.executions,
        found.executions as f64 / found.time.as_secs_f64(),
        found.accepted,
        found.sentences,
        1000.0 * found.slowest.as_secs_f64(),
        found.faults.len()
    );
    found.faults.iter().for_each(|fault| println!("  {fault}"));
    let kilobytes: u64 = peak.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0);
    Ok(found.faults.is_empty() && kilobytes << 10 <= fuzz::MOST_MEMORY)
}

/// Every door in a process of its own, a few at a time.
fn spread(
    executions: u64,
    seed: u64,
    only: Option<String>,
    keep: &std::path::Path,
    workers: usize,
) -> Result<bool, String> {
    std::fs::create_dir_all(keep).map_err(|fault| format!("{}: {fault}", keep.display()))?;
    let this = std::env::current_exe().map_err(|fault| fault.to_string())?;
    let mut doors: Vec<&fuzz::Door> =
        fuzz::DOORS.iter().filter(|door| only.as_ref().is_none_or(|only| door.name == only)).collect();
    if doors.is_empty() {
        return Err("there is no such door".to_string());
    }
    let start = |door: &'static fuzz::Door| {
        let share = if only.is_some() { executions } else { (executions * door.share).div_ceil(1000) };
        Command::new(&this)
            .args(["fuzz", "--worker", "--door", door.name])
            .args(["--executions", &share.to_string(), "--seed", &seed.to_string()])
            .arg("--keep")
            .arg(keep)
            .env("SUNPRINT_THREADS", "1")
            .stdin(Stdio::null())
            .spawn()
            .map(|child| (door, child))
            .map_err(|fault| fault.to_string())
    };
    let mut running = Vec::new();
    let mut good = true;
    while !doors.is_empty() || !running.is_empty() {
        while running.len() < workers.max(1)
            && let Some(door) = doors.pop()
        {
            running.push(start(door)?);
        }
        std::thread::sleep(Duration::from_millis(20));
        let mut left = Vec::new();
        for (door, mut child) in running {
            match child.try_wait().map_err(|fault| fault.to_string())? {
                None => left.push((door, child)),
                Some(status) => {
                    good &= status.success();
                    if status.code().is_none() {
                        let name = keep.join(format!("{}-died-{seed}", door.name));
                        let bytes = fuzz::last_note(keep, door).unwrap_or_default();
                        let _ = std::fs::write(&name, bytes);
                        println!("{:9} died ({status}): {}", door.name, name.display());
                    }
                    let _ = std::fs::remove_file(keep.join(format!("{}.current", door.name)));
                }
            }
        }
        running = left;
    }
    Ok(good)
}

fn time(rows: usize, times: usize, program: Option<PathBuf>) -> Result<bool, String> {
    let timed = clock::run(&program.unwrap_or_else(beside), rows, times)?;
    let first = timed.first().map_or(1.0, |one| one.median.as_secs_f64());
    for one in &timed {
        let ms = |time: Duration| 1000.0 * time.as_secs_f64();
        let (low, high) = one.range;
        println!(
            "{:24} {:7.1} ms  ({:.1} to {:.1})  {:.3} of the first",
            one.rows,
            ms(one.median),
            ms(low),
            ms(high),
            one.median.as_secs_f64() / first
        );
    }
    Ok(true)
}
