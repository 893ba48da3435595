//! Writes the passes of some fits to `fuzz/passes.jsonl`, and to the corpus these passes, the tallies of a few rows, and
//! a model of each kind of fit:
//! `cargo run --release --package sunprint-doors --example corpus`.

use std::fs;
use std::path::Path;
use sunprint::fit::Fit;
use sunprint::plan::{Mechanism, Method, Plan, Shares, budget};
use sunprint::schema::{Form, HOT, Schema};
use sunprint::tally::codes::Codes;
use sunprint_doors::dice::Dice;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    let schema = Schema::load(&folder.join("people.toml"))?;
    let mut dice = Dice::new(1);
    let mut codes = Codes::with_capacity(schema.width(), 400);
    for _ in 0..400 {
        let mut row: Vec<u16> = (0..schema.width()).map(|_| dice.bits() as u16).collect();
        for block in schema.blocks() {
            if block.form == Form::OneHot {
                let among = &mut row[block.start..block.start + block.len];
                among.fill(0);
                among[dice.below(block.len as u64) as usize] = HOT;
            }
            if block.absence {
                row[block.start + block.len] = if dice.below(5) == 0 { HOT } else { 0 };
            }
        }
        codes.push(&row, dice.below(2) as u32);
    }
    // So few rows would have neither values nor sites on their own, nor moments of each stratum.
    let shares =
        Shares { centre: 1000, moments: 4500, marginals: 2000, measure: 500, cells: 2000, ..Shares::default() };
    let directions = Plan { dimension: Some(2), ..Plan::default() };
    let plans = [
        ("survey", "5", Plan::default()),
        ("sites", "5", Plan { shares: Some(shares), ..Plan::default() }),
        ("apart", "40", Plan { shares: Some(shares), ..Plan::default() }),
        ("directions", "5", Plan { mechanism: Mechanism::Pmm, ..directions.clone() }),
        ("lattice", "5", Plan { mechanism: Mechanism::Psmm, ..directions }),
        ("paper", "5", Plan { method: Method::Paper, ..Plan::default() }),
        ("gaussian", "5", Plan { method: Method::Gaussian, ..Plan::default() }),
    ];
    for kind in ["pass", "tally"] {
        for old in fs::read_dir(folder.join("corpus").join(kind))? {
            fs::remove_file(old?.path())?;
        }
    }
    let mut lines = Vec::new();
    for (name, epsilon, plan) in plans {
        let mut fit = Fit::begin(&schema, plan, budget(epsilon.parse()?, None)?, 400)?;
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
        fs::write(folder.join(format!("corpus/model/{name}.json")), fit.finish()?.to_json())?;
    }
    fs::write(folder.join("passes.jsonl"), lines.join("\n") + "\n")?;
    Ok(())
}
