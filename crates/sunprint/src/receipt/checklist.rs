//! The points that NIST SP 800-226, *Guidelines for Evaluating Differential Privacy Guarantees*, asks of a release,
//! from the top of its pyramid to the bottom, in our own words, and how this release answers them.

use super::{Block, Receipt};
use crate::plan::as_float;

/// Who sees to a point.
#[derive(Clone, Copy)]
enum Answer {
    Done,
    Curator,
    Open,
}

use Answer::{Curator, Done, Open};

impl Answer {
    fn words(self) -> &'static str {
        match self {
            Done => "done by Sunprint",
            Curator => "up to the curator",
            Open => "not covered",
        }
    }
}

type Point = (&'static str, Answer, String);

/// All points, a table for each part of the pyramid.
pub(super) fn blocks(receipt: &Receipt) -> Vec<Block> {
    let head: Vec<String> = ["point", "answer", "how"].iter().map(ToString::to_string).collect();
    let mut blocks = vec![Block::Words(
        "The publication sees a guarantee as a pyramid: what stands above holds only if what lies below does. Its points, \
         in our words, from the top down."
            .to_string(),
    )];
    for (part, points) in [
        ("Parameters and unit", parameters(receipt)),
        ("Algorithms and their correctness", fixed(ALGORITHMS)),
        ("Utility and bias", fixed(UTILITY)),
        ("Synthetic data", fixed(SYNTHETIC)),
        ("Trust, security and data collection", fixed(GROUND)),
    ] {
        let row = |(point, answer, how): Point| vec![point.to_string(), answer.words().to_string(), how];
        blocks.push(Block::Heading(part.to_string()));
        blocks.push(Block::Table { head: head.clone(), rows: points.into_iter().map(row).collect() });
    }
    blocks
}

fn fixed(points: &[(&'static str, Answer, &str)]) -> Vec<Point> {
    points.iter().map(|(point, answer, how)| (*point, *answer, how.to_string())).collect()
}

fn parameters(receipt: &Receipt) -> Vec<Point> {
    let strength = match as_float(&receipt.epsilon) {
        epsilon if epsilon <= 1.0 => "a strong promise, also in the worst case",
        epsilon if epsilon <= 5.0 => "a moderate promise: in the worst case an attacker can become fairly sure",
        epsilon if epsilon <= 10.0 => {
            "a weak promise in the worst case; what protects then is that attackers know less"
        }
        _ => "so large that the worst case is hardly bounded at all: do not rely on it alone",
    };
    let delta = match (&receipt.delta, receipt.rows) {
        (None, _) => (Done, "There is none: no event is left out of the promise.".to_string()),
        (Some(delta), Some(rows)) if as_float(delta) * rows as f64 >= 1.0 => {
            let how = format!(
                "δ = {delta} is not below one over the number of rows: a release of one row in the clear would keep it."
            );
            (Open, how)
        }
        (Some(delta), _) => (Curator, format!("δ = {delta}. It should lie far below one over the number of rows.")),
    };
    let releases = match &receipt.ledger {
        Some(entry) => (
            Done,
            format!(
                "Recorded before the table was opened, as entry {} of a ledger that adds up and keeps ceilings. Fits under another name or in another ledger are not in it.",
                entry.number
            ),
        ),
        None => (
            Curator,
            "Recorded in no ledger. What other releases of the same rows spent adds up with this one.".to_string(),
        ),
    };
    let text = str::to_string;
    vec![
        ("ε is stated and judged", Done, format!("ε = {}: {strength}.", receipt.epsilon)),
        ("δ is small", delta.0, delta.1),
        (
            "the kind of promise is named",
            Done,
            text("See the accounting above; ε, δ and their parts are exact fractions."),
        ),
        (
            "the unit is a person, not an event",
            Curator,
            text("The unit is one row. It is a person if nobody has a second one; Sunprint cannot know."),
        ),
        (
            "neighbours are named",
            Done,
            text(
                "One row is replaced, so the number of rows is public. If it is secret itself, this promise is the wrong one.",
            ),
        ),
        ("several releases are added up", releases.0, releases.1),
    ]
}

const ALGORITHMS: &[(&str, Answer, &str)] = &[
    (
        "mechanisms are known and proved",
        Done,
        "Laplace, Gaussian, cube and Wishart-difference noise; every proof is in docs/proofs.md and beside its code.",
    ),
    (
        "sensitivities are bounded",
        Done,
        "Values are clamped and rows clipped, in integers, so that the bounds hold for every table.",
    ),
    (
        "bounds and categories are not read from the data",
        Curator,
        "Sunprint takes them from the schema alone. Who copied them from the rows has no promise.",
    ),
    ("parts compose", Done, "Shares are exact fractions that add up to the whole; each can be used once."),
    (
        "choices by the data are paid for",
        Curator,
        "Dimension, cells and the like are chosen from public and released numbers. Who compares several fits with the rows and publishes the best makes a choice that is not paid for.",
    ),
    (
        "floating point",
        Done,
        "No statistic of rows and no noise is a float; what is released is an exactly drawn integer.",
    ),
    ("randomness", Done, "ChaCha20 with a fresh key from the operating system; the noise cannot be seeded."),
    (
        "the implementation is tested for its promise",
        Done,
        "Lower bounds of ε are measured on worst-case neighbours, and mechanisms broken on purpose are caught.",
    ),
    (
        "reviewed by a third party",
        Open,
        "Nobody independent has certified this version. Source and proofs are open to anybody.",
    ),
];

const UTILITY: &[(&str, Answer, &str)] = &[
    (
        "accuracy is known",
        Curator,
        "`plan` predicts it from public numbers; `evaluate` measures it for the curator's eyes, and its numbers are not private.",
    ),
    (
        "bias by clamping, clipping and rounding",
        Open,
        "Values beyond the bounds and rows far from the middle are drawn in, and counts are made non-negative. Nothing in the release corrects later analyses for it.",
    ),
    (
        "small groups",
        Open,
        "The noise is the same for all, so it weighs most on the smallest groups. Rare categories can be lost or made up.",
    ),
    (
        "bias of the data and of people",
        Open,
        "Synthetic rows repeat how the rows were collected, with what was wrong about it.",
    ),
];

const SYNTHETIC: &[(&str, Answer, &str)] = &[
    (
        "rows are drawn from private numbers alone",
        Done,
        "No real row is copied. One that looks like a real one does so by chance or because many do.",
    ),
    (
        "what is kept and what is lost",
        Open,
        "Means, variances, correlations and the shape in few directions are kept as far as the noise allows. What was not measured is not there.",
    ),
    (
        "uncertainty of results",
        Open,
        "Drawn rows carry the noise of the measurement. Error bars that take them for real rows are too small, however many are drawn.",
    ),
    (
        "further questions cost nothing",
        Done,
        "Whatever is done with the model or with its rows is covered by the promise.",
    ),
];

const GROUND: &[(&str, Answer, &str)] = &[
    ("trust model", Curator, "Central: the curator holds the rows in the clear and is trusted with them."),
    (
        "security of the machine that computes",
        Curator,
        "Disks, memory, swap, crash dumps and backups of that machine are protected by whoever runs it.",
    ),
    (
        "access to the rows and to exact results",
        Curator,
        "`check` and `evaluate` print exact numbers, and say that they are for the curator's eyes.",
    ),
    (
        "side channels: time",
        Open,
        "How long a fit takes depends on the noise and a little on the rows. The attacker is taken to see the release, not the clock.",
    ),
    (
        "side channels: messages, errors, file names",
        Done,
        "No value causes a failure and no message shows one. The shape of a file, such as a ragged line, is not protected.",
    ),
    (
        "data collection",
        Curator,
        "What is asked of people, what they agreed to, and what was seen of it before the fit.",
    ),
    (
        "retention and deletion",
        Curator,
        "A release cannot be called back. Deleting a row later does not change what was released.",
    ),
];
