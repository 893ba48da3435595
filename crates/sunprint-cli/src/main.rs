//! The `sunprint` command: options, files, words and bars around the library.
//!
//! Exit codes: 0 good, 1 refused or failed, 2 wrong usage.

#![forbid(unsafe_code)]

mod args;
mod basis;
mod commands;
mod crash;
mod demo;
mod files;
mod ledgers;
mod measure;
mod pages;
mod pictures;
mod progress;
mod usage;
mod verdict;
mod words;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::FromArgMatches;
use sunprint::error::{Error, Kind};
use sunprint::source::AtomicFile;

use crate::args::Cli;
use crate::words::Talk;

/// The exit code of a program that was told to stop, by the custom of shells.
const INTERRUPTED: i32 = 130;

fn main() -> ExitCode {
    let talk = Talk::early();
    // A file that grows beyond what the system allows becomes an error of writing, like a full disk.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::new(AtomicBool::new(false)));
    // Without this the program stops all the same, but leaves its unfinished file.
    let _ = ctrlc::set_handler(|| AtomicFile::discard_all_then(stop));
    ExitCode::from(crash::contain(talk, || run(talk)))
}

/// Ends the program from another thread than its own, once nothing is left that a destructor would remove.
#[allow(clippy::disallowed_methods)]
fn stop() {
    progress::wipe();
    std::process::exit(INTERRUPTED);
}

fn run(early: Talk) -> u8 {
    let parsed = args::command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => return usage::report(&error, early),
    };
    let talk = Talk::new(cli.talk);
    match commands::run(&cli.command, talk) {
        Ok(()) => 0,
        // `sunprint sample … | head` has done what was wanted.
        Err(error) if error.is_closed_pipe() => 0,
        Err(error) => {
            talk.error(&error);
            exit_code(&error)
        }
    }
}

fn exit_code(error: &Error) -> u8 {
    if error.kind() == Kind::Usage { 2 } else { 1 }
}
