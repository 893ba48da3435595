//! The verdict: five things, each good, usable or poor by limits that mean the same on any table.
//!
//! Every limit stands here, with its reason. Errors are taken beyond chance, so that a table is not blamed for having few
//! rows; and where chance alone would be above a limit, nothing better than the next grade is said, so that few rows do
//! not flatter either.

use super::changed::{ChangedColumn, WORTH_SAYING};
use super::relative::{self, beyond};
use super::telling::FEWEST_ROWS;
use super::{ColumnFigures, CorrelationErrors, Distances, LabelFigures, Learning, Telling};
use serde::Serialize;

/// Columns on average, and shares of labels: in deviations. A twentieth of a deviation moves a median from the 50th
/// percentile of a normal column to the 52nd, three twentieths to the 56th.
const TYPICAL: [f64; 2] = [0.05, 0.15];
/// The worst column, the worst group and whole rows: in deviations. A fifth and a half of a deviation are what statistics
/// calls a small and a medium effect.
const WORST: [f64; 2] = [0.2, 0.5];
/// The part of the relations that is lost: 0 is none, and 1 is what rows without any relation lose. Where every
/// correlation is shrunk alike, 0.1 is a tenth of it, and 0.3 nearly a third.
const LOST: [f64; 2] = [0.1, 0.3];
/// Relations weaker than a correlation of 0.02 are nothing that could be lost.
const NO_RELATION: f64 = 0.02;
/// How far the AUC of a classifier that tells real from synthetic is from a coin's 0.5. At 0.6 it is right in six of ten
/// pairs, at 0.8 in eight of ten.
const TOLD: [f64; 2] = [0.1, 0.3];
/// The part of what real rows teach that synthetic rows do not: from a coin's AUC of 0.5 to that of real rows.
const UNLEARNT: [f64; 2] = [0.1, 0.3];
/// A label whose AUC is nearer to a coin's teaches nothing that could be lost.
const NO_LESSON: f64 = 0.05;
/// Where the schema changed a larger part of a real column, that column is not in the synthetic table at all.
const SPOILT: f64 = 0.1;

/// How good something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Grade {
    /// As good as real rows for most purposes.
    Good,
    /// Good enough to explore and to try programs on; look at the figures before relying on a number.
    Usable,
    /// Do not rely on it.
    Poor,
}

impl Grade {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Grade::Good => "good",
            Grade::Usable => "usable",
            Grade::Poor => "poor",
        }
    }
}

/// The verdict on a synthetic table. Private, like everything that it comes from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// Every column by itself.
    pub columns: Judgement,
    /// Every pair of columns: correlations.
    pub pairs: Judgement,
    /// Whole rows: W1, and a classifier that tells real from synthetic.
    pub rows: Judgement,
    /// Groups: the shares of the labels' categories, and the means within them.
    pub groups: Judgement,
    /// Learning labels from synthetic rows.
    pub learning: Judgement,
}

/// One of the five.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Judgement {
    /// The worst grade of the figures; none where there is nothing to judge, or too few rows to tell.
    pub grade: Option<Grade>,
    /// What it was judged by.
    pub figures: Vec<Judged>,
    /// Why there is no grade, or no better one, where the figures do not say it.
    pub why: Option<String>,
}

/// One figure with its limits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judged {
    /// What it is: `typical column`, `worst column`, `correlations lost`, `row distance`, `classifier`, `shares`, `means
    /// within lost`, `worst group`, `learning lost`.
    pub what: &'static str,
    /// The figure: 0 is perfect.
    pub value: f64,
    /// What chance can make of it.
    pub chance: f64,
    /// It is good up to this.
    pub good: f64,
    /// It is usable up to this.
    pub usable: f64,
    /// The grade.
    pub grade: Option<Grade>,
    /// The column, label or group that it is about.
    pub of: Option<String>,
}

impl Judged {
    fn new(what: &'static str, value: f64, chance: f64, [good, usable]: [f64; 2], of: Option<&str>) -> Judged {
        let grade = match (value, chance) {
            // Where chance is so large, only an error that is far beyond it says something.
            _ if chance > usable => (value > 3.0 * chance).then_some(Grade::Poor),
            _ if value > usable => Some(Grade::Poor),
            _ if value > good || chance > good => Some(Grade::Usable),
            _ => Some(Grade::Good),
        };
        Judged { what, value, chance, good, usable, grade, of: of.map(str::to_owned) }
    }
}

impl Judgement {
    fn of(figures: Vec<Judged>) -> Judgement {
        let grade = match figures.iter().filter_map(|figure| figure.grade).max() {
            // What cannot be told may be bad.
            Some(Grade::Poor) => Some(Grade::Poor),
            worst if figures.iter().all(|figure| figure.grade.is_some()) => worst,
            _ => None,
        };
        let why = match grade {
            None if !figures.is_empty() => Some("there are too few rows to tell: chance alone is above the limit"),
            Some(Grade::Usable) if figures.iter().all(|figure| figure.value <= figure.good) => {
                Some("there are too few rows to call it good: chance alone is above that limit")
            }
            _ => None,
        };
        let why = why.map(str::to_owned);
        Judgement { grade, figures, why }
    }

    fn nothing(why: &str) -> Judgement {
        Judgement { grade: None, figures: Vec::new(), why: Some(why.to_owned()) }
    }

    /// No better than this, and why.
    fn at_best(&mut self, grade: Grade, why: &str) {
        if self.grade.is_some_and(|own| own < grade) {
            self.grade = Some(grade);
            self.why = Some(why.to_owned());
        }
    }
}

impl Verdict {
    /// The five with their titles.
    pub fn all(&self) -> [(&'static str, &Judgement); 5] {
        [
            ("single columns", &self.columns),
            ("pairs of columns", &self.pairs),
            ("whole rows", &self.rows),
            ("groups", &self.groups),
            ("learning", &self.learning),
        ]
    }
}

/// What is left unsure of a root mean square when the square of chance was taken away from it: the mean of k squares of
/// normals has the deviation √(2/k). Relations of the same columns have to do with each other, so k is not more than the
/// columns.
fn unsure(chance: f64, k: usize) -> f64 {
    chance * (2.0 / k.max(2) as f64).sqrt().sqrt()
}

/// Everything that is judged.
pub(super) struct Evidence<'a> {
    pub(super) columns: &'a [ColumnFigures],
    pub(super) correlations: &'a CorrelationErrors,
    pub(super) distances: &'a Distances,
    pub(super) telling: Option<&'a Telling>,
    pub(super) labels: &'a [LabelFigures],
    pub(super) learning: &'a [Learning],
    /// Why labels could not be learnt.
    pub(super) not_learnt: &'a [String],
    pub(super) changed: &'a [ChangedColumn],
}

impl Evidence<'_> {
    pub(super) fn verdict(&self) -> Verdict {
        let mut verdict = Verdict {
            columns: self.columns(),
            pairs: self.pairs(),
            rows: self.rows(),
            groups: self.groups(),
            learning: self.learning(),
        };
        let worst = self.changed.iter().max_by(|a, b| a.real_share().total_cmp(&b.real_share()));
        if let Some(worst) = worst.filter(|worst| worst.real_share() > WORTH_SAYING) {
            let why =
                format!("the schema changed {:.1} % of the real cells of {}", 100.0 * worst.real_share(), worst.name);
            if worst.real_share() > SPOILT {
                // However many rows there are.
                (verdict.columns.grade, verdict.columns.why) = (Some(Grade::Poor), Some(why.clone()));
            }
            let Verdict { columns, pairs, rows, groups, learning } = &mut verdict;
            [columns, pairs, rows, groups, learning].into_iter().for_each(|one| one.at_best(Grade::Usable, &why));
        }
        verdict
    }

    fn columns(&self) -> Judgement {
        if self.columns.is_empty() {
            return Judgement::nothing("no column is a part of a row");
        }
        let count = self.columns.len() as f64;
        let error = |column: &ColumnFigures| beyond(column.relative, column.chance);
        let mean = |of: &dyn Fn(&ColumnFigures) -> f64| self.columns.iter().map(of).sum::<f64>() / count;
        let worst = self.columns.iter().fold(&self.columns[0], |a, b| if error(b) > error(a) { b } else { a });
        Judgement::of(vec![
            Judged::new("typical column", mean(&error), mean(&|column| column.chance), TYPICAL, None),
            Judged::new("worst column", error(worst), worst.chance, WORST, Some(&worst.name)),
        ])
    }

    fn pairs(&self) -> Judgement {
        let found = self.correlations;
        if found.pairs == 0 {
            return Judgement::nothing("a single column has no pairs");
        }
        let (strength, error) = (found.strength.max(NO_RELATION), beyond(found.root_mean_square, found.chance));
        let mut judgement = Judgement::of(vec![Judged::new(
            "correlations lost",
            error / strength,
            unsure(found.chance, self.columns.len().saturating_sub(1)) / strength,
            LOST,
            None,
        )]);
        if found.strength < NO_RELATION && judgement.why.is_none() {
            judgement.why = Some("the real columns have next to nothing to do with each other".to_owned());
        }
        judgement
    }

    fn rows(&self) -> Judgement {
        let Distances { floor: Some(floor), beyond: Some(beyond), spread, .. } = self.distances else {
            return Judgement::nothing("the real table has a single row");
        };
        let Some(telling) = self.telling else {
            return Judgement::nothing(&format!("there are fewer than {FEWEST_ROWS} rows"));
        };
        let mut figures = Vec::new();
        if *spread > 0.0 {
            // How sure W1 and the floor are: √(W1² − floor²) is moved as much by an error of the floor's square.
            let half = floor.interval.map_or(0.0, |[low, high]| (high - low) / 2.0);
            let unsure = (2.0 * floor.w1 * half).sqrt();
            figures.push(Judged::new("row distance", beyond / spread, unsure / spread, WORST, None));
        }
        // Below a half it tells as much as above: which is which is only the wrong way round.
        let told = relative::beyond((telling.auc - 0.5).abs(), telling.chance);
        figures.push(Judged::new("classifier", told, 2.0 * telling.chance, TOLD, None));
        Judgement::of(figures)
    }

    fn groups(&self) -> Judgement {
        if self.labels.is_empty() {
            return Judgement::nothing("no column of the schema splits the table");
        }
        let mut figures: Vec<Judged> = Vec::new();
        let mut keep = |figure: Judged| match figures.iter_mut().find(|one| one.what == figure.what) {
            Some(one) if figure.value > one.value => *one = figure,
            Some(_) => {}
            None => figures.push(figure),
        };
        for label in self.labels {
            let shares = beyond(label.relative, label.chance);
            keep(Judged::new("shares", shares, label.chance, TYPICAL, Some(&label.name)));
            let strength = label.strength.max(NO_RELATION);
            let (lost, chance) = (label.lost / strength, unsure(label.lost_chance, self.columns.len()) / strength);
            keep(Judged::new("means within lost", lost, chance, LOST, Some(&label.name)));
            for category in &label.categories {
                let (Some(error), Some(chance)) = (category.relative, category.chance) else { continue };
                // Groups of so few rows that chance is a small effect are not blamed.
                if chance <= WORST[0] {
                    let value = if category.value.is_empty() { "(missing)" } else { &category.value };
                    keep(Judged::new("worst group", error, chance, WORST, Some(&format!("{} = {value}", label.name))));
                }
            }
        }
        Judgement::of(figures)
    }

    fn learning(&self) -> Judgement {
        if self.learning.is_empty() {
            return Judgement::nothing(self.not_learnt.first().map_or("there is nothing to learn", String::as_str));
        }
        let mut worst: Option<Judged> = None;
        for label in self.learning {
            let (Some(real), Some(synthetic), Some(chance)) = (label.auc_real, label.auc_synthetic, label.auc_chance)
            else {
                continue;
            };
            let way = real - 0.5;
            if way < NO_LESSON {
                continue;
            }
            let lost = beyond((real - synthetic).max(0.0) / way, chance / way);
            let figure = Judged::new("learning lost", lost, chance / way, UNLEARNT, Some(&label.label));
            if worst.as_ref().is_none_or(|worst| figure.value > worst.value) {
                worst = Some(figure);
            }
        }
        match worst {
            Some(figure) => Judgement::of(vec![figure]),
            None => Judgement::nothing("real rows teach next to nothing about the labels"),
        }
    }
}
