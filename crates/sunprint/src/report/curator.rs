//! The curator's page: real against synthetic rows.

use super::headline::{Parts, headline};
use super::page::{
    Absent, Bars, ChangedPanel, ColumnPanel, ColumnPicture, DistancePanel, FORMAT, Learning, LearningPanel, Origin,
    Page, SpectrumPanel, VerdictPanel,
};
use super::provenance::provenance;
use super::round::{five, four, within};
use super::{correlations, plane, privacy, strata, validity};
use crate::error::Result;
use crate::evaluate::{self, ColumnFigures, Compared, Errors, Evaluation, Figure, Histogram, Settings};
use crate::model::Model;
use crate::schema::Schema;
use crate::source::{Progress, Table};

/// What a page is made from.
#[derive(Clone, Copy)]
pub struct Tables<'a> {
    /// The real table.
    pub real: &'a Table,
    /// The synthetic one.
    pub synthetic: &'a Table,
    /// The schema of both.
    pub schema: &'a Schema,
    /// The model that the synthetic table was drawn from, if it is at hand.
    pub model: Option<&'a Model>,
}

/// Compares two tables and puts a page together. For the curator's eyes: both come from private rows without noise.
pub fn compare(tables: &Tables, settings: &Settings, progress: &dyn Progress) -> Result<(Compared, Page)> {
    let Tables { real, synthetic, schema, model } = *tables;
    let mut compared = evaluate::compare(real, synthetic, schema, settings, progress)?;
    if let Some(model) = model {
        compared.evaluation.notices.extend(provenance(model, real, synthetic, progress)?);
    }
    let found = &compared.evaluation;
    let mut absent = Vec::new();
    let mut missing = |panel: &'static str, why: &str| absent.push(Absent { panel, why: why.to_owned() });

    let correlations = correlations::compared(schema, &found.correlations, &compared.real, &compared.synthetic);
    let plane = plane::panel(schema, model, Some(real), (synthetic, &compared.synthetic), settings.seed);
    if correlations.is_none() {
        missing("correlations", "a single coordinate has none");
    }
    if plane.is_none() {
        missing("plane", "a single coordinate makes no plane");
    }
    let privacy = model.map(|model| privacy::panel(model.receipt(), model.schema()));
    let spectrum = model.and_then(spectrum);
    if model.is_none() {
        missing("privacy", "no model was given: `--model` adds what was promised");
        missing("spectrum", "no model was given: `--model` adds the released variances");
    } else if spectrum.is_none() {
        missing("spectrum", "this release measured no variances");
    }
    let strata = strata::panel(schema, real, synthetic, found.strata_variation);
    if strata.is_none() {
        missing("strata", "no column of the schema splits the table");
    }
    let learning = learning(found);
    found.not_learnt.iter().for_each(|why| missing("learning", why));
    let validity = synthetic.check().map(|check| validity::panel(schema, synthetic, check, found)).transpose()?;
    if validity.is_none() {
        missing("validity", "nobody counted the cells of the synthetic table that break a rule");
    }
    let changed = changed(found);
    if changed.is_none() {
        missing("changed", "nobody counted the cells that the schema changes");
    }
    missing("predicted", "with the real rows at hand nothing has to be predicted");
    missing("cite", "this page is not to be published");

    let headline = headline(&Parts {
        evaluation: found,
        strata: strata.as_ref(),
        learning: learning.as_ref(),
        validity: validity.as_ref(),
        model,
    });
    let distances = DistancePanel {
        origin: Origin::Curator,
        real_rows: found.real_rows,
        synthetic_rows: found.synthetic_rows,
        distances: found.distances.clone(),
        telling: found.telling.clone(),
    };
    let page = Page {
        format: FORMAT,
        origin: Origin::Curator,
        dataset: schema.dataset.name.clone(),
        version: env!("CARGO_PKG_VERSION"),
        headline,
        verdict: Some(verdict(found)),
        privacy,
        distances: Some(distances),
        columns: Some(columns(&compared)),
        correlations,
        plane,
        spectrum,
        learning,
        strata,
        validity,
        changed,
        predicted: None,
        cite: None,
        absent,
    };
    Ok((compared, page))
}

/// Five things, in a few digits.
fn verdict(found: &Evaluation) -> VerdictPanel {
    let mut verdict = found.verdict.clone();
    let evaluate::Verdict { columns, pairs, rows, groups, learning } = &mut verdict;
    for figure in [columns, pairs, rows, groups, learning].into_iter().flat_map(|one| &mut one.figures) {
        (figure.value, figure.chance) = (four(figure.value), four(figure.chance));
    }
    VerdictPanel { origin: Origin::Curator, verdict, lines: found.verdict_lines() }
}

/// Columns with changed cells; none where nobody counted.
fn changed(found: &Evaluation) -> Option<ChangedPanel> {
    if found.changed.is_empty() {
        return None;
    }
    let any = |cells: Option<evaluate::ChangedCells>| cells.is_some_and(|cells| cells.changed > 0);
    let mut columns = found.changed.clone();
    columns.retain(|column| any(column.real) || any(column.synthetic));
    columns.sort_by(|a, b| b.real_share().total_cmp(&a.real_share()));
    for cells in columns.iter_mut().flat_map(|column| [&mut column.real, &mut column.synthetic]).flatten() {
        cells.share = five(cells.share);
    }
    let kept = found.changed.len() - columns.len();
    Some(ChangedPanel { origin: Origin::Curator, columns, kept })
}

/// What labels teach, in a few digits.
fn learning(found: &Evaluation) -> Option<LearningPanel> {
    let short = |label: &Learning| {
        let mut short = label.clone();
        (short.real, short.synthetic, short.commonest) =
            (five(short.real), five(short.synthetic), five(short.commonest));
        for part in [&mut short.auc_real, &mut short.auc_synthetic, &mut short.auc_chance] {
            *part = part.map(five);
        }
        for class in &mut short.by_class {
            for part in [&mut class.real, &mut class.synthetic, &mut class.auc_real, &mut class.auc_synthetic] {
                *part = part.map(five);
            }
        }
        for weight in &mut short.weights {
            (weight.real, weight.synthetic) = (four(weight.real), four(weight.synthetic));
        }
        short
    };
    let labels: Vec<Learning> = found.learning.iter().map(short).collect();
    (!labels.is_empty()).then_some(LearningPanel { origin: Origin::Curator, labels })
}

/// The released variances; none where none were measured.
pub(super) fn spectrum(model: &Model) -> Option<SpectrumPanel> {
    let release = model.release();
    (!release.spectrum.is_empty()).then(|| SpectrumPanel {
        origin: Origin::Released,
        variances: release.spectrum.iter().map(|&variance| five(variance)).collect(),
        edge: five(release.edge),
        dimension: model.receipt().dimension,
    })
}

fn columns(compared: &Compared) -> ColumnPanel {
    let found = &compared.evaluation;
    let picture = |(figures, histogram): (&ColumnFigures, &Option<Histogram>)| ColumnPicture {
        figures: rounded(figures, histogram.as_ref()),
        bars: histogram.as_ref().map(bars),
    };
    let short = |errors: &Errors| {
        let mut short = errors.clone();
        short.root_mean_square = five(short.root_mean_square);
        short.worst.error = five(short.worst.error);
        short
    };
    ColumnPanel {
        origin: Origin::Curator,
        columns: found.columns.iter().zip(&compared.histograms).map(picture).collect(),
        means: short(&found.means),
        deviations: short(&found.deviations),
    }
}

/// The figures in a few digits; means and deviations as fine as the column is wide.
fn rounded(figures: &ColumnFigures, histogram: Option<&Histogram>) -> ColumnFigures {
    let width = histogram.map_or(1.0, |bars| bars.edges[bars.edges.len() - 1] - bars.edges[0]);
    let own = |figure: Figure| Figure {
        real: within(figure.real, width),
        synthetic: within(figure.synthetic, width),
        error: five(figure.error),
    };
    let share = |figure: Figure| Figure {
        real: five(figure.real),
        synthetic: five(figure.synthetic),
        error: five(figure.error),
    };
    let mut short = figures.clone();
    (short.w1, short.w1_own) = (five(short.w1), five(short.w1_own));
    (short.relative, short.chance) = (five(short.relative), five(short.chance));
    short.variation = short.variation.map(five);
    (short.mean, short.deviation) = (short.mean.map(own), short.deviation.map(own));
    short.missing = short.missing.map(share);
    for category in &mut short.categories {
        (category.real, category.synthetic) = (five(category.real), five(category.synthetic));
    }
    short
}

/// Edges as fine as a bar is wide.
pub(super) fn edges(histogram: &Histogram) -> Vec<f64> {
    let edges = &histogram.edges;
    let narrowest = edges.windows(2).map(|two| two[1] - two[0]).fold(f64::INFINITY, f64::min);
    match histogram.scale {
        // Each is a factor above the one before.
        "log" => edges.iter().map(|&edge| five(edge)).collect(),
        _ => edges.iter().map(|&edge| within(edge, narrowest)).collect(),
    }
}

fn bars(histogram: &Histogram) -> Bars {
    let shares = |table: usize| histogram.shares[table].iter().map(|&share| four(share)).collect();
    Bars { edges: edges(histogram), scale: histogram.scale, real: shares(0), synthetic: shares(1) }
}
