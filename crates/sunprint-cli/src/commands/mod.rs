//! One file for each command.

mod audit;
mod check;
mod evaluate;
mod fit;
mod ledger;
mod plan;
mod sample;
mod schema;
mod show;
mod synth;

use sunprint::error::Result;

use crate::args::Command;
use crate::demo;
use crate::words::Talk;

pub use sample::{Target, draw_to, load};

/// Runs a command.
pub fn run(command: &Command, talk: Talk) -> Result<()> {
    match command {
        Command::Demo(args) => demo::run(args, talk),
        Command::Schema(args) => schema::run(args, talk),
        Command::Check(args) => check::run(args, talk),
        Command::Plan(args) => plan::run(args),
        Command::Fit(args) => fit::run(args, talk),
        Command::Sample(args) => sample::run(args, talk),
        Command::Synth(args) => synth::run(args, talk),
        Command::Show(args) => show::run(args, talk),
        Command::Evaluate(args) => evaluate::run(args, talk),
        Command::Ledger(args) => ledger::run(args, talk),
        Command::Audit(args) => audit::run(args, talk),
    }
}
