//! The public page: what a model says, and how sure that is. It sees a model and nothing else.

use super::headline::percent;
use super::page::{Absent, FORMAT, Headline, Origin, Page, PredictedPanel};
use super::predicted::{self, MOST_ROWS};
use super::{correlations, curator, drawn, plane, privacy};
use crate::error::{Error, Kind, Result};
use crate::evaluate::Moments;
use crate::model::Model;
use crate::schema::ColumnKind;
use crate::source::Silent;

/// The rows that the page shows are always the same.
pub(super) const SEED: u64 = 1;

/// Why the public page has no panel about real rows.
const PRIVATE: &str = "it needs the real rows, which are private";

/// The page that goes out with a release. From the model alone, so it costs nothing and may be published.
pub fn public(model: &Model) -> Result<Page> {
    let (schema, receipt) = (model.schema(), model.receipt());
    let rows = model.rows().max(1);
    let table = drawn::table(model, rows.min(MOST_ROWS), SEED)?;
    let moments = Moments::of(&table, schema, &Silent)
        .ok_or_else(|| Error::new(Kind::Model, "a draw has other columns than its model"))?;
    let mut absent = Vec::new();
    let mut missing = |panel: &'static str, why: &str| absent.push(Absent { panel, why: why.to_owned() });
    ["verdict", "distances", "columns", "learning", "strata", "validity", "changed"]
        .iter()
        .for_each(|panel| missing(panel, PRIVATE));
    let correlations = correlations::released(schema, &moments);
    let plane = plane::panel(schema, Some(model), None, (&table, &moments), SEED);
    let spectrum = curator::spectrum(model);
    if correlations.is_none() {
        missing("correlations", "a single coordinate has none");
    }
    if plane.is_none() {
        missing("plane", "a single coordinate makes no plane");
    }
    if spectrum.is_none() {
        missing("spectrum", "this release measured no variances");
    }
    let predicted = match predicted::panel(model, &table, &moments)? {
        Ok(panel) => Some(panel),
        Err(why) => {
            missing("predicted", &why);
            None
        }
    };
    Ok(Page {
        format: FORMAT,
        origin: Origin::Released,
        dataset: schema.dataset.name.clone(),
        version: env!("CARGO_PKG_VERSION"),
        headline: headline(model, predicted.as_ref()),
        verdict: None,
        privacy: Some(privacy::panel(receipt, schema)),
        distances: None,
        columns: None,
        correlations,
        plane,
        spectrum,
        learning: None,
        strata: None,
        validity: None,
        changed: None,
        predicted,
        cite: Some(privacy::cite(receipt)),
        absent,
    })
}

fn headline(model: &Model, predicted: Option<&PredictedPanel>) -> Headline {
    let receipt = model.receipt();
    let promise = match &receipt.delta {
        Some(delta) => format!("ε = {} and δ = {delta}", receipt.epsilon),
        None => format!("ε = {}", receipt.epsilon),
    };
    let sure = predicted.and_then(|panel| typical_width(model, panel)).map(|half| {
        format!("; nine of ten means should be right to within {} of their columns' widths", percent(half))
    });
    let mut notes = receipt.remarks.iter().map(|remark| sentence(remark)).collect::<Vec<_>>();
    if let Some(dimension) = receipt.dimension {
        let directions =
            if dimension == 1 { "One direction was".to_owned() } else { format!("{dimension} directions were") };
        notes.push(format!("{directions} measured in detail."));
    }
    let sentence = format!("Released with {promise}{}.", sure.unwrap_or_default());
    Headline { origin: Origin::Released, notices: Vec::new(), sentence, notes }
}

/// A remark with a capital letter and a full stop.
fn sentence(remark: &str) -> String {
    let mut letters = remark.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str().trim_end_matches('.'))
}

/// The middle one of the half widths of the means' intervals, in widths of their columns.
fn typical_width(model: &Model, panel: &PredictedPanel) -> Option<f64> {
    let mut halves: Vec<f64> = Vec::new();
    for (column, schema) in panel.columns.iter().zip(&model.schema().columns) {
        let width = match schema.kind {
            ColumnKind::Continuous { min, max, .. } => max - min,
            ColumnKind::Integer { min, max, .. }
            | ColumnKind::Date { min, max, .. }
            | ColumnKind::Datetime { min, max, .. } => max as f64 - min as f64,
            ColumnKind::Boolean { .. } | ColumnKind::Categorical { .. } => continue,
        };
        let means = column.figures.iter().filter(|figure| figure.name == "mean");
        halves.extend(means.map(|mean| 0.5 * (mean.high - mean.low) / width));
    }
    halves.sort_by(f64::total_cmp);
    halves.get(halves.len() / 2).copied()
}
