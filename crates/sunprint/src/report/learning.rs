//! What can be learnt from synthetic rows about real ones.

use super::page::{ClassLearning, Learning, LearningPanel, Origin, Weight};
use super::round::{five, four};
use super::strata::MISSING;
use crate::error::Result;
use crate::evaluate::{Picks, coordinate_names};
use crate::math::logistic::{Logistic, learn};
use crate::math::stream::Stream;
use crate::schema::{Role, Schema};
use crate::source::{Progress, Table, Unit, in_order};

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

/// The rows of a label: points, and the class of each.
struct Rows {
    points: Vec<f64>,
    classes: Vec<usize>,
}

/// A logistic regression for each label, and why a label has none.
///
/// Seven tenths of the real rows, at most [`MOST_ROWS`], are learnt from, and the others asked about; as many synthetic
/// rows are learnt from. Coordinates are in units of the widths; other labels are not among them.
pub(super) fn panel(
    schema: &Schema,
    real: &Table,
    synthetic: &Table,
    seed: u64,
    progress: &dyn Progress,
) -> Result<(Option<LearningPanel>, Vec<String>)> {
    let columns = schema.stratum_columns();
    let labels: Vec<usize> =
        (0..columns.len()).filter(|&place| schema.columns[columns[place]].role == Role::Label).collect();
    if labels.is_empty() {
        return Ok((None, vec!["the schema has no label with categories".to_owned()]));
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
    Ok(((!found.is_empty()).then_some(LearningPanel { origin: Origin::Curator, labels: found }), reasons))
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
    for (point, &class) in asked.points.chunks(schema.width()).zip(&asked.classes) {
        rows[class] += 1;
        for (side, learnt) in learnt.iter().enumerate() {
            right[class][side] += usize::from(learnt.class(point) == class);
        }
    }
    let testing = asked.classes.len();
    let part = |count: usize, of: usize| five(count as f64 / of as f64);
    let all = |side: usize| part(right.iter().map(|right| right[side]).sum(), testing);
    let by_class = classes.iter().zip(rows.iter().zip(&right)).map(|(class, (&rows, right))| ClassLearning {
        class: class.clone(),
        rows,
        real: (rows > 0).then(|| part(right[0], rows)),
        synthetic: (rows > 0).then(|| part(right[1], rows)),
    });
    let by_class = by_class.collect();
    let (weights, more_weights) = weights(schema, &classes, learnt);
    Learning {
        label,
        training,
        testing,
        real: all(0),
        synthetic: all(1),
        commonest: part(rows.iter().copied().max().unwrap_or(0), testing),
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
        real: four(learnt[0].weights[list][j]),
        synthetic: four(learnt[1].weights[list][j]),
    };
    (all.iter().take(MOST_WEIGHTS).map(weight).collect(), all.len().saturating_sub(MOST_WEIGHTS))
}
