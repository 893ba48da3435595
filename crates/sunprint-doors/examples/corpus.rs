//! Writes the passes of some fits to `fuzz/passes.jsonl`, and to the corpus these passes and the tallies of a few rows:
//! `cargo run --release --package sunprint-doors --example corpus`.

use std::fs;
use std::path::Path;
use sunprint::fit::Fit;
use sunprint::plan::{Mechanism, Method, Plan, budget};
use sunprint::schema::Schema;
use sunprint::tally::codes::Codes;
use sunprint_doors::dice::Dice;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let schema = Schema::load(&folder.join("people.toml"))?;
    let mut dice = Dice::new(1);
    let mut codes = Codes::with_capacity(schema.width(), 400);
    for _ in 0..400 {
        let row: Vec<u16> = (0..schema.width()).map(|_| dice.bits() as u16).collect();
        codes.push(&row, dice.below(2) as u32);
    }
    let plans = [
        Plan::default(),
        Plan { mechanism: Mechanism::Psmm, ..Plan::default() },
        Plan { method: Method::Paper, ..Plan::default() },
        Plan { method: Method::Gaussian, ..Plan::default() },
    ];
    let mut lines = Vec::new();
    for plan in plans {
        let mut fit = Fit::begin(&schema, plan, budget("5".parse()?, None)?, 400)?;
        while let Some(pass) = fit.next_pass() {
            let tally = pass.tally(&codes);
            let mut bytes = vec![u8::try_from(lines.len())?];
            bytes.extend(tally.to_secret_bytes());
            if bytes.len() < 1 << 14 && !lines.contains(&pass.to_json()) {
                fs::write(folder.join(format!("corpus/tally/{}", lines.len())), bytes)?;
                fs::write(folder.join(format!("corpus/pass/{}.json", lines.len())), pass.to_json())?;
                lines.push(pass.to_json());
            }
            fit.absorb(tally)?;
        }
    }
    fs::write(folder.join("passes.jsonl"), lines.join("\n") + "\n")?;
    Ok(())
}
