//! What can be learnt from synthetic rows about real ones.

use super::{Picks, coordinate_names};
use crate::error::Result;
use crate::math::auc;
use crate::math::logistic::{Logistic, learn};
use crate::math::stream::Stream;
use crate::schema::{Role, Schema};
use crate::source::{Progress, Table, Unit, in_order};
use serde::Serialize;

/// What a missing value is called.
pub(crate) const MISSING: &str = "(missing)";
/// Rows to learn from, at most.
const MOST_ROWS: usize = 20_000;
/// Numbers that one look at all rows may multiply: what keeps a page for wide tables and many classes from taking long.
const MOST_WORK: usize = 400_000_000;
/// Numbers of either table that are kept at a time.
const MOST_NUMBERS: usize = 20_000_000;
/// Fewer rows to learn from are not worth it.
const FEWEST_ROWS: usize = 200;
/// Weights that are listed.
const MOST_WEIGHTS: usize = 40;
/// Keeps the choice of rows apart from other uses of the same seed.
const PURPOSE: u64 = u64::from_be_bytes(*b"learning");

/// A logistic regression for one label, learnt from real rows and from synthetic ones, asked about other real rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Learning {
    /// The label.
    pub label: String,
    /// Its classes.
    pub classes: Vec<String>,
    /// Rows that each of the two learnt from.
    pub training: usize,
    /// Real rows that both were asked about, and neither learnt from.
    pub testing: usize,
    /// The part told rightly by the one that learnt from real rows.
    pub real: f64,
    /// The part told rightly by the one that learnt from synthetic rows.
    pub synthetic: f64,
    /// The part of the commonest class: what anybody can tell.
    pub commonest: f64,
    /// AUC of the one that learnt from real rows: how often it puts a row of a class before a row of another. 0.5 is a coin,
    /// 1 is perfect, and rare classes count as much as others: of two classes it is the AUC, of more the mean of each
    /// class against all others. `None` if the rows asked about are of one class.
    pub auc_real: Option<f64>,
    /// The same of the one that learnt from synthetic rows.
    pub auc_synthetic: Option<f64>,
    /// The standard deviation that an AUC of so many rows has by chance.
    pub auc_chance: Option<f64>,
    /// Class by class, the rarest first.
    pub by_class: Vec<ClassLearning>,
    /// The largest weights of either, largest first.
    pub weights: Vec<Weight>,
    /// Weights that are not listed.
    pub more_weights: usize,
}

/// How well one class is told.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassLearning {
    /// The class.
    pub class: String,
    /// Its rows among those asked about.
    pub rows: usize,
    /// The part of them told rightly after learning from real rows: the recall.
    pub real: Option<f64>,
    /// The same after learning from synthetic rows.
    pub synthetic: Option<f64>,
    /// AUC of this class against all others after learning from real rows.
    pub auc_real: Option<f64>,
    /// The same after learning from synthetic rows.
    pub auc_synthetic: Option<f64>,
}

/// A weight of both logistic regressions, for a coordinate in units of its width.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Weight {
    /// The class; of two classes the second.
    pub class: String,
    /// The coordinate.
    pub coordinate: String,
    /// Learnt from real rows.
    pub real: f64,
    /// Learnt from synthetic rows.
    pub synthetic: f64,
}

/// The rows of a label: points, and the class of each.
struct Rows {
    points: Vec<f64>,
    classes: Vec<usize>,
}

/// A logistic regression for each label, and why a label has none.
///
/// Seven tenths of the real rows, at most [`MOST_ROWS`], are learnt from, and the others asked about; as many synthetic
/// rows are learnt from. Coordinates are in units of the widths; other labels are not among them.
pub(super) fn learning(
    schema: &Schema,
    real: &Table,
    synthetic: &Table,
    seed: u64,
    progress: &dyn Progress,
) -> Result<(Vec<Learning>, Vec<String>)> {
    let columns = schema.stratum_columns();
    let labels: Vec<usize> =
        (0..columns.len()).filter(|&place| schema.columns[columns[place]].role == Role::Label).collect();
    if labels.is_empty() {
        return Ok((Vec::new(), vec!["the schema has no label with categories".to_owned()]));
    }
    let (mut found, mut reasons) = (Vec::new(), Vec::new());
    progress.start("learning labels", Some(labels.len() as u64), Unit::Steps);
    for place in labels {
        match label(schema, place, real, synthetic, seed)? {
            Ok(learning) => found.push(learning),
            Err(reason) => reasons.push(format!("{reason} (label {})", schema.columns[columns[place]].name)),
        }
        progress.advance(1);
    }
    progress.done();
    Ok((found, reasons))
}

/// One label, or why it cannot be learnt.
fn label(
    schema: &Schema,
    place: usize,
    real: &Table,
    synthetic: &Table,
    seed: u64,
) -> Result<std::result::Result<Learning, String>> {
    let column = &schema.columns[schema.stratum_columns()[place]];
    let mut classes: Vec<String> = column.categories().into_iter().map(str::to_owned).collect();
    if column.may_be_missing() {
        classes.push(MISSING.to_owned());
    }
    let (count, width) = (classes.len(), schema.width());
    let picks = [Picks::new(real), Picks::new(synthetic)];
    let possible = (MOST_WORK / (width.max(1) * count.max(1))).min(MOST_NUMBERS / width.max(1));
    let training = MOST_ROWS.min(possible).min(picks[0].rows() * 7 / 10).min(picks[1].rows());
    let testing = (picks[0].rows() - training).min((training * 3).div_ceil(7));
    if possible < FEWEST_ROWS {
        return Ok(Err("there are too many classes and columns to learn".to_owned()));
    }
    if training == 0 || testing == 0 {
        return Ok(Err("there are too few rows to learn from".to_owned()));
    }
    let stream = |number: u64| Stream::new(seed, PURPOSE, 2 * place as u64 + number);
    let chosen = stream(0).choose(picks[0].rows(), training + testing);
    let other = stream(1).choose(picks[1].rows(), training);
    let taken = |picks: &Picks, rows: &[usize]| Rows {
        points: picks.points(rows),
        classes: rows.iter().map(|&row| schema.categories_of(picks.stratum(row))[place] as usize).collect(),
    };
    let (of_real, asked) = (taken(&picks[0], &chosen[..training]), taken(&picks[0], &chosen[training..]));
    if of_real.classes.iter().chain(&asked.classes).all(|&class| class == of_real.classes[0]) {
        return Ok(Err("all real rows are of one class, so there is nothing to tell apart".to_owned()));
    }
    let tables = [of_real, taken(&picks[1], &other)];
    let (mut next, mut learnt) = (tables.iter(), Vec::with_capacity(2));
    in_order(
        || Ok(next.next()),
        |rows: &Rows| Ok(learn(&rows.points, width, &rows.classes, count)),
        |one| {
            learnt.push(one);
            Ok(())
        },
    )?;
    Ok(Ok(told(schema, column.name.clone(), classes, training, &asked, [&learnt[0], &learnt[1]])))
}

/// How well both tell the rows that neither learnt from.
fn told(
    schema: &Schema,
    label: String,
    classes: Vec<String>,
    training: usize,
    asked: &Rows,
    learnt: [&Logistic; 2],
) -> Learning {
    let mut rows = vec![0_usize; classes.len()];
    let mut right = vec![[0_usize; 2]; classes.len()];
    // For both sides and every class: its odds in each row.
    let mut odds = [vec![Vec::new(); classes.len()], vec![Vec::new(); classes.len()]];
    for (point, &class) in asked.points.chunks(schema.width()).zip(&asked.classes) {
        rows[class] += 1;
        for (side, learnt) in learnt.iter().enumerate() {
            right[class][side] += usize::from(learnt.class(point) == class);
            odds[side].iter_mut().zip(learnt.log_odds(point)).for_each(|(all, odds)| all.push(odds));
        }
    }
    let testing = asked.classes.len();
    let part = |count: usize, of: usize| count as f64 / of as f64;
    let all = |side: usize| part(right.iter().map(|right| right[side]).sum(), testing);
    let against = |side: usize, class: usize| {
        let of = |own: bool| -> Vec<f64> {
            let pairs = odds[side][class].iter().zip(&asked.classes).filter(|(_, one)| (**one == class) == own);
            pairs.map(|(odds, _)| *odds).collect()
        };
        auc::auc(&of(true), &of(false))
    };
    let one = |(class, name): (usize, &String)| ClassLearning {
        class: name.clone(),
        rows: rows[class],
        real: (rows[class] > 0).then(|| part(right[class][0], rows[class])),
        synthetic: (rows[class] > 0).then(|| part(right[class][1], rows[class])),
        auc_real: against(0, class),
        auc_synthetic: against(1, class),
    };
    let mut by_class: Vec<ClassLearning> = classes.iter().enumerate().map(one).collect();
    by_class.sort_by_key(|class| class.rows);
    let mean = |of: &dyn Fn(&ClassLearning) -> Option<f64>| {
        let known: Vec<f64> = by_class.iter().filter_map(of).collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    };
    // The variances of the classes' own, as if they had nothing to do with each other.
    let chance = |class: &ClassLearning| class.auc_real.map(|_| auc::chance(class.rows, testing - class.rows).powi(2));
    let told = by_class.iter().filter(|class| class.auc_real.is_some()).count().max(1) as f64;
    let (auc_real, auc_synthetic) = (mean(&|class| class.auc_real), mean(&|class| class.auc_synthetic));
    // Of two classes both have the same AUC.
    let auc_chance = mean(&chance).map(|variance| (variance / if told > 2.0 { told } else { 1.0 }).sqrt());
    let (weights, more_weights) = weights(schema, &classes, learnt);
    Learning {
        label,
        training,
        testing,
        real: all(0),
        synthetic: all(1),
        commonest: part(rows.iter().copied().max().unwrap_or(0), testing),
        auc_real,
        auc_synthetic,
        auc_chance,
        by_class,
        classes,
        weights,
        more_weights,
    }
}

/// The largest weights of either side, and how many others there are.
fn weights(schema: &Schema, classes: &[String], learnt: [&Logistic; 2]) -> (Vec<Weight>, usize) {
    let names = coordinate_names(schema);
    let lists = learnt[0].weights.len();
    // Of two classes only the second has weights.
    let first = classes.len() - lists;
    let pairs = (0..lists).flat_map(|list| (0..names.len()).map(move |j| (list, j)));
    let mut all: Vec<(usize, usize)> = pairs.collect();
    let size = |&(list, j): &(usize, usize)| learnt[0].weights[list][j].abs().max(learnt[1].weights[list][j].abs());
    all.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let weight = |&(list, j): &(usize, usize)| Weight {
        class: classes[first + list].clone(),
        coordinate: names[j].clone(),
        real: learnt[0].weights[list][j],
        synthetic: learnt[1].weights[list][j],
    };
    (all.iter().take(MOST_WEIGHTS).map(weight).collect(), all.len().saturating_sub(MOST_WEIGHTS))
}
