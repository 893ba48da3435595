//! Panels of made-up numbers.

use super::figures::{self, Chance};
use sunprint::evaluate::{
    ChangedCells, ChangedColumn, ColumnError, Distance, Distances, Errors, Grade, Judged, Judgement, PairError,
    Telling, Verdict, VerdictLine,
};
use sunprint::receipt::{Block, Section};
use sunprint::report::page::*;

pub fn privacy() -> Privacy {
    let stage = |name: &str, share: f64, mechanism: &str| StageShare {
        name: name.to_string(),
        share,
        mechanism: mechanism.to_string(),
    };
    let words = |text: &str| Block::Words(text.to_string());
    Privacy {
        origin: Origin::Released,
        sentence: "Whoever sees the release can tell hardly better than before whether one row was another: no chance \
                   changes by more than a factor of 2.72."
            .to_string(),
        epsilon: "1".to_string(),
        delta: None,
        unit: "one row, replaced by any other".to_string(),
        ledger: Some(LedgerEntry { number: 17, hash: "9f2c51d07b1b4a6e8c33".repeat(3) }),
        stages: vec![
            stage("centre and spread", 0.1, "exact discrete Laplace noise on sums"),
            stage("covariance", 0.4, "difference of Wishart matrices on the clipped Gram matrix"),
            stage("cells", 0.5, "exact discrete Laplace noise on counts"),
        ],
        statement: vec![Section {
            heading: "What is promised".to_string(),
            blocks: vec![
                words("The release is 1-differentially private under the replacement of one row."),
                Block::Heading("In numbers".to_string()),
                Block::Facts(vec![("ε".to_string(), "1".to_string()), ("δ".to_string(), "0".to_string())]),
                Block::List(vec!["The number of rows is public.".to_string(), "So is the schema.".to_string()]),
                Block::Table {
                    head: vec!["Belief before".to_string(), "Belief after, at most".to_string()],
                    rows: vec![
                        vec!["1 %".to_string(), "2.7 %".to_string()],
                        vec!["50 %".to_string(), "73 %".to_string()],
                    ],
                },
            ],
        }],
    }
}

pub fn distances() -> DistancePanel {
    let distance = |w1: f64, half: f64| Distance {
        rows: [1_000, 1_000],
        w1,
        interval: Some([w1 - half, w1 + half]),
        draws: Vec::new(),
    };
    DistancePanel {
        origin: Origin::Curator,
        real_rows: 32_561,
        synthetic_rows: 32_561,
        distances: Distances {
            metric: "l2",
            seed: 1,
            synthetic: distance(0.284, 0.006),
            floor: Some(distance(0.213, 0.004)),
            ceiling: distance(0.961, 0.003),
            beyond: Some(0.188),
            spread: 0.62,
        },
        telling: Some(Telling { rows: 10_000, auc: 0.734, chance: 0.004 }),
    }
}

/// A grade for each, and nothing for the last.
pub fn verdict(names: &[String]) -> VerdictPanel {
    let judged = |what, value, good, usable, grade, of: Option<&String>| Judged {
        what,
        value,
        chance: 0.01,
        good,
        usable,
        grade: Some(grade),
        of: of.cloned(),
    };
    let one = |figures: Vec<Judged>| Judgement {
        grade: figures.iter().filter_map(|figure| figure.grade).max(),
        figures,
        why: None,
    };
    let verdict = Verdict {
        columns: one(vec![judged("worst column", 0.12, 0.2, 0.5, Grade::Good, names.first())]),
        pairs: one(vec![judged("correlations lost", 0.41, 0.3, 0.7, Grade::Usable, None)]),
        rows: one(vec![judged("classifier", 0.43, 0.1, 0.3, Grade::Poor, None)]),
        groups: one(vec![judged("shares", 0.02, 0.05, 0.15, Grade::Good, None)]),
        learning: Judgement { why: Some("the schema has no label with categories".to_string()), ..one(Vec::new()) },
    };
    let line = |what, grade, figures: &[String]| VerdictLine { what, grade, figures: figures.to_vec() };
    let lines = vec![
        line(
            "single columns",
            "good",
            &["on average off by 0.031 deviations".to_string(), format!("worst by 0.12: {}", names[0])],
        ),
        line("pairs of columns", "usable", &["41 % of the correlations lost".to_string()]),
        line("whole rows", "poor", &["AUC of real or synthetic 0.930 (0.5 is perfect)".to_string()]),
        line("groups", "good", &["shares off by 0.020 deviations: sex".to_string()]),
        line("learning", "not judged", &["the schema has no label with categories".to_string()]),
    ];
    VerdictPanel { origin: Origin::Curator, verdict, lines }
}

pub fn changed(names: &[String]) -> ChangedPanel {
    let cells = |unlisted: u64| ChangedCells {
        unlisted,
        changed: unlisted,
        share: unlisted as f64 / 32_561.0,
        ..ChangedCells::default()
    };
    let column = |(i, name): (usize, &String)| ChangedColumn {
        name: name.clone(),
        kind: "categorical",
        real: Some(cells(3_500 >> i)),
        synthetic: Some(cells(0)),
    };
    let columns = names.iter().take(3).enumerate().map(column).collect();
    ChangedPanel { origin: Origin::Curator, columns, kept: names.len().saturating_sub(3) }
}

pub fn columns(names: &[String], chance: &mut Chance) -> ColumnPanel {
    let errors =
        |size: f64| Errors { root_mean_square: size / 3.0, worst: ColumnError { name: names[0].clone(), error: size } };
    let count = names.len() as f64;
    let columns = (names.iter().enumerate())
        .map(|(i, name)| figures::column(i, name, 0.081 * (1.0 - i as f64 / count).powi(2), chance))
        .collect();
    ColumnPanel { origin: Origin::Curator, columns, means: errors(0.04), deviations: errors(0.016) }
}

/// Blocks of related coordinates.
fn related(i: usize, j: usize, size: usize) -> f64 {
    let block = (size / 5).max(2);
    let sign = if (i + j).is_multiple_of(7) { -1.0 } else { 1.0 };
    if i / block == j / block { sign * (0.85 - 0.6 * i.abs_diff(j) as f64 / block as f64) } else { 0.06 * sign }
}

pub fn correlations(names: &[String], real: bool, chance: &mut Chance) -> CorrelationPanel {
    let size = names.len();
    let noise: Vec<f64> = (0..1_024).map(|_| 0.04 * chance.bell()).collect();
    let synthetic = |i: usize, j: usize| related(i, j, size) * 0.93 + noise[(i * 37 + j * 101) % noise.len()];
    let mut worst: Vec<PairError> = (1..size.min(40))
        .map(|i| {
            let (real, synthetic) = (related(i, i - 1, size), synthetic(i, i - 1));
            PairError { columns: [names[i].clone(), names[i - 1].clone()], real, synthetic, error: synthetic - real }
        })
        .collect();
    worst.sort_by(|a, b| b.error.abs().total_cmp(&a.error.abs()));
    worst.truncate(if real { 20 } else { 0 });
    CorrelationPanel {
        origin: if real { Origin::Curator } else { Origin::Released },
        names: names.to_vec(),
        real: real.then(|| Triangle::of(size, |i, j| related(i, j, size))),
        synthetic: Triangle::of(size, synthetic),
        root_mean_square: 0.031,
        largest: 0.17,
        worst,
        left_out: if size == 1_000 { 12 } else { 0 },
    }
}

pub fn plane(names: &[String], real: bool, chance: &mut Chance) -> PlanePanel {
    let mut cloud = |rows: usize, spread: f64| -> Vec<[f64; 2]> {
        (0..rows)
            .map(|i| {
                let side = if i.is_multiple_of(3) { 0.5 } else { -0.3 };
                [side + spread * chance.bell(), side / 2.0 + spread * chance.bell()]
            })
            .collect()
    };
    let axis = |skip: usize| Axis {
        weights: names
            .iter()
            .skip(skip)
            .take(5)
            .zip([0.6, -0.5, 0.4, 0.3, -0.2])
            .map(|(n, w)| (n.clone(), w))
            .collect(),
    };
    PlanePanel {
        origin: if real { Origin::Curator } else { Origin::Released },
        of_model: true,
        axes: [axis(0), axis(3)],
        real: if real { cloud(1_000, 0.15) } else { Vec::new() },
        synthetic: cloud(1_000, 0.18),
    }
}

pub fn spectrum(size: usize) -> SpectrumPanel {
    SpectrumPanel {
        origin: Origin::Released,
        variances: (0..size).map(|i| 0.4 * 0.6_f64.powi(i as i32) + 0.002 * (1.0 - i as f64 / size as f64)).collect(),
        edge: 0.004,
        dimension: Some(4),
    }
}

pub fn learning(names: &[String], chance: &mut Chance) -> LearningPanel {
    let class = |class: &str, rows: usize, real: f64, synthetic: Option<f64>| ClassLearning {
        class: class.to_string(),
        rows,
        real: Some(real),
        synthetic,
        auc_real: synthetic.map(|_| 0.88),
        auc_synthetic: synthetic.map(|_| 0.84),
    };
    let weights: Vec<Weight> = (names.iter().take(30))
        .enumerate()
        .map(|(i, name)| {
            let real = 2.0 * chance.bell() / (1.0 + i as f64 / 5.0);
            let synthetic = real * 0.8 + 0.2 * chance.bell();
            Weight { class: "over 50,000".to_string(), coordinate: name.clone(), real, synthetic }
        })
        .collect();
    LearningPanel {
        origin: Origin::Curator,
        labels: vec![Learning {
            label: "income class".to_string(),
            classes: vec!["up to 50,000".to_string(), "over 50,000".to_string()],
            training: 8_000,
            testing: 4_000,
            real: 0.846,
            synthetic: 0.821,
            commonest: 0.759,
            auc_real: Some(0.88),
            auc_synthetic: Some(0.84),
            auc_chance: Some(0.011),
            by_class: vec![
                class("up to 50,000", 3_036, 0.93, Some(0.94)),
                class("over 50,000", 964, 0.58, Some(0.45)),
                class("unknown", 3, 0.0, None),
            ],
            weights,
            more_weights: 4,
        }],
    }
}

pub fn strata(chance: &mut Chance) -> StrataPanel {
    let mut rows = 9_u64;
    let strata = (0..30)
        .map(|i| {
            rows += rows / 4 + 3;
            let share = rows as f64 / 32_561.0;
            let lost = (rows > 20).then(|| 0.9 / (rows as f64).sqrt() * (1.0 + 0.2 * chance.bell()).abs());
            StratumPicture {
                values: vec![["female", "male", "other"][i % 3].to_string(), format!("region {}", i / 3)],
                real_rows: rows,
                real: share,
                synthetic: share * (1.0 + 0.1 * chance.bell()),
                mean_error: lost,
                deviation_error: lost.map(|lost| lost * 0.7),
            }
        })
        .collect();
    let labels = vec!["sex".to_string(), "region".to_string()];
    StrataPanel { origin: Origin::Curator, labels, variation: 0.034, strata, left_out: 3 }
}

pub fn validity(names: &[String]) -> ValidityPanel {
    let rules = (names.iter().enumerate())
        .flat_map(|(i, name)| {
            let rule = |rule: &str, broken: u64, missing| RuleKept {
                what: name.clone(),
                rule: rule.to_string(),
                broken,
                of: 32_561,
                missing,
            };
            let broken = if i == 0 { 4 } else { 0 };
            [
                rule("a whole number", broken, None),
                rule("between 0 and 120", 0, None),
                rule("may be missing", 0, i.is_multiple_of(3).then_some([0.05, 0.06])),
            ]
        })
        .collect();
    ValidityPanel { origin: Origin::Curator, rules }
}

pub fn predicted(names: &[String], chance: &mut Chance) -> PredictedPanel {
    let columns = (names.iter().enumerate())
        .map(|(i, name)| {
            let column = figures::column(i, name, 0.02, chance);
            let own = column.figures;
            let around = |name: &str, value: f64, half: f64| Predicted {
                name: name.to_string(),
                value,
                low: value - half,
                high: value + half,
            };
            let mut figures: Vec<Predicted> =
                own.categories.iter().map(|one| around(&one.value, one.synthetic, 0.004)).collect();
            if let (Some(mean), Some(deviation)) = (own.mean, own.deviation) {
                let (mean, deviation) = (mean.synthetic, deviation.synthetic.abs());
                let half = 0.05 * deviation * (1.0 + chance.next());
                figures.extend([around("mean", mean, half), around("standard deviation", deviation, half)]);
                for (name, z) in [("5 %", -1.6), ("25 %", -0.7), ("median", 0.0), ("75 %", 0.7), ("95 %", 1.6)] {
                    figures.push(around(name, mean + z * deviation, 2.0 * half));
                }
            }
            if let Some(missing) = own.missing {
                figures.push(around("missing", missing.synthetic, 0.003));
            }
            let bars =
                column.bars.map(|bars| PublicBars { edges: bars.edges, scale: bars.scale, synthetic: bars.synthetic });
            PredictedColumn { name: own.name, kind: own.kind, figures, bars }
        })
        .collect();
    let pairs = (1..names.len().min(60))
        .map(|i| PredictedPair {
            columns: [names[i].clone(), names[i - 1].clone()],
            value: 0.9 - 0.01 * i as f64,
            low: 0.86 - 0.011 * i as f64,
            high: 0.93 - 0.009 * i as f64,
        })
        .collect();
    PredictedPanel { origin: Origin::Released, level: 0.9, columns, correlations: Some(0.03), pairs }
}
