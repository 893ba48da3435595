//! Processes that fork from one another share memory, and no noise.
//!
//! One test, so that no other thread of the tests holds a lock when the process forks.
#![cfg(unix)]

mod common;

use common::{plan, promise, random_rows, schema, table};
use fork::{Fork, waitpid};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use sunprint::fit::Fit;
use sunprint::plan::Method;
use sunprint::privacy::Kernel;
use sunprint::tally::Opened;
use sunprint::tally::codes::Codes;

const ROWS: usize = 20_000;
const WIDTH: usize = 3;
/// The fewest counts of a pass that counts.
const CELLS: usize = 16;
const METHODS: [Method; 4] = [Method::Default, Method::Paper, Method::Cube, Method::Gaussian];

/// Goes on with a fit in a child of this process, and gives the model that came out there.
#[expect(clippy::disallowed_methods, reason = "a child must end where it is, and has no destructor to wait for")]
fn finished_in_a_child(fit: Fit, codes: &Codes, file: &Path) -> (String, Fit) {
    match fork::fork().expect("a child") {
        Fork::Parent(child) => {
            waitpid(child).expect("the child ends");
            let model = std::fs::read_to_string(file).expect("the child wrote its model");
            std::fs::remove_file(file).expect("the file goes");
            assert!(model.contains("\"release\""), "the child failed");
            (model, fit)
        }
        Fork::Child => {
            let work = || {
                let mut fit = fit;
                while let Some(pass) = fit.next_pass() {
                    fit.absorb(pass.tally(codes)).unwrap();
                }
                std::fs::write(file, fit.finish().unwrap().to_json()).unwrap();
            };
            // A child must not come back into the test runner.
            std::process::exit(i32::from(catch_unwind(AssertUnwindSafe(work)).is_err()))
        }
    }
}

/// The models of two children of one fit that fork off after so many passes; nothing if it has no more passes.
fn twins(mut fit: Fit, after: u32, codes: &Codes, file: &Path) -> Option<[String; 2]> {
    for _ in 0..after {
        let pass = fit.next_pass()?;
        fit.absorb(pass.tally(codes)).unwrap();
    }
    let next = fit.next_pass()?;
    if let Opened::Cells(counts) = next.empty().open_danger() {
        assert!(counts.leaves.len() >= CELLS, "{} counts", counts.leaves.len());
    }
    let (one, fit) = finished_in_a_child(fit, codes, file);
    let (other, _) = finished_in_a_child(fit, codes, file);
    Some([one, other])
}

/// The children fit the same rows, so that models differ by their noise alone. At ε = 0.1 a count has noise of scale 20 or
/// more, equal in both with a probability of about 1/80, and a pass of counts has sixteen of them or more: a false alarm has
/// a probability below 1e-30. The other passes release sums, with noise of a million values.
///
/// The control is a kernel that keeps its key across a fork, which the seeded double does: all its twins are equal.
#[test]
fn children_of_one_fit_draw_different_noise() {
    let codes = table(WIDTH, &random_rows(WIDTH, 1, ROWS, 1));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("model");
    let mut tried = 0;
    for method in METHODS {
        for after in 0..8 {
            let budget = || promise("0.1", None);
            let rows = ROWS as u64;
            let fresh = Fit::begin(&schema(WIDTH, 1), plan(method), budget(), rows).unwrap();
            let Some([one, other]) = twins(fresh, after, &codes, &file) else { break };
            assert!(one != other, "{method:?}, forked after {after} passes: the noise was repeated");
            let kept = Kernel::seeded(1);
            let kept = Fit::begin_with_danger_kernel(&schema(WIDTH, 1), plan(method), budget(), rows, kept).unwrap();
            let [one, other] = twins(kept, after, &codes, &file).unwrap();
            assert!(one == other, "{method:?}, forked after {after} passes: the control is not repeated");
            tried += 1;
        }
    }
    assert!(tried > METHODS.len(), "forks before the first pass and in between: {tried}");
}
