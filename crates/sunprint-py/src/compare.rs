//! Before and after a fit: what to expect, and how near synthetic rows are to real ones.

use crate::errors::returned;
use crate::model::Model;
use crate::options::metric;
use crate::schema::Schema;
use crate::tables::Handed;
use crate::watch;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use sunprint::error::{Error, Kind, Result};
use sunprint::evaluate as comparison;
use sunprint::forecast::{Question, Spectrum};
use sunprint::math::transport::{self, Points};
use sunprint::privacy::{Delta, Epsilon};
use sunprint::report::provenance;

/// Compares two tables. The result is JSON, and private.
#[pyfunction]
#[pyo3(signature = (real, synthetic, schema, metric_name, rows, draws, seed, ignore_extra=false, progress=None, model=None))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn evaluate(
    py: Python<'_>,
    real: &Bound<'_, PyAny>,
    synthetic: &Bound<'_, PyAny>,
    schema: &Bound<'_, Schema>,
    metric_name: &str,
    rows: Option<usize>,
    draws: usize,
    seed: u64,
    ignore_extra: bool,
    progress: Option<&Bound<'_, PyAny>>,
    model: Option<&Bound<'_, Model>>,
) -> PyResult<String> {
    let schema = &schema.get().inner;
    let model = model.map(|model| &model.get().inner);
    if model.is_some_and(|model| model.schema().columns != schema.columns) {
        let other = Error::new(Kind::Usage, "the model was fitted with other columns than the schema has")
            .hint("give the model that the synthetic table was drawn from, or leave `model` out");
        return returned(py, Err(other));
    }
    let metric = returned(py, metric(metric_name))?;
    let (real, synthetic) = (Handed::of(real, None, ignore_extra)?, Handed::of(synthetic, None, ignore_extra)?);
    watch::run(py, progress, |watch| {
        let real = real.open(schema, ignore_extra)?.table(schema, watch)?;
        let synthetic = synthetic.open(schema, ignore_extra)?.table(schema, watch)?;
        let settings = comparison::Settings { metric, rows, draws, seed };
        let mut evaluation = comparison::evaluate(&real, &synthetic, schema, &settings, watch)?;
        if let Some(model) = model {
            evaluation.notices.extend(provenance(model, &real, &synthetic, watch)?);
        }
        Ok(serde_json::to_string(&evaluation).unwrap_or_default())
    })
}

/// What a fit can be expected to give, as JSON: a forecast for every ε, and the ε for a wished W1.
#[pyfunction]
#[pyo3(signature = (schema, rows, epsilons, delta=None, wish=None))]
pub(crate) fn plan(
    py: Python<'_>,
    schema: &Bound<'_, Schema>,
    rows: u64,
    epsilons: Vec<String>,
    delta: Option<&str>,
    wish: Option<f64>,
) -> PyResult<String> {
    let schema = &schema.get().inner;
    let predict = || -> Result<String> {
        let delta = delta.map(number::<Delta>).transpose()?;
        let asked = |epsilon: &String| Ok(Question::new(schema, rows, number::<Epsilon>(epsilon)?, delta));
        let questions = epsilons.iter().map(asked).collect::<Result<Vec<Question>>>()?;
        let wished = wish.zip(questions.first()).map(|(w1, question)| {
            Spectrum::ALL.map(|spectrum| (spectrum.name(), question.epsilon_for(spectrum, w1))).to_vec()
        });
        let forecasts: Vec<_> = questions.iter().map(Question::forecast).collect();
        let told = serde_json::json!({ "columns": schema.columns.len(), "forecasts": forecasts, "wish": wished });
        Ok(told.to_string())
    };
    let told = py.detach(predict);
    returned(py, told)
}

/// A promise, checked as for a fit; predictions need no more digits than a float has.
fn number<T: std::str::FromStr<Err = Error> + std::fmt::Display>(text: &str) -> Result<f64> {
    let checked: T = text.trim().parse()?;
    Ok(text.trim().parse().or_else(|_| checked.to_string().parse()).unwrap_or(f64::NAN))
}

/// The exact W1 between two sets of points, with what no plan can be below.
#[pyfunction]
#[pyo3(signature = (a, b, width, metric_name))]
pub(crate) fn wasserstein1(
    py: Python<'_>,
    a: &Bound<'_, PyAny>,
    b: &Bound<'_, PyAny>,
    width: usize,
    metric_name: &str,
) -> PyResult<(f64, f64)> {
    let metric = returned(py, metric(metric_name))?;
    let numbers = |points: &Bound<'_, PyAny>| PyBuffer::<f64>::get(points)?.to_vec(py);
    let (a, b) = (numbers(a)?, numbers(b)?);
    watch::run(py, None, |_| {
        if width == 0 {
            return Err(Error::new(Kind::Data, "the points have no coordinates"));
        }
        let (a, b) = (Points::new(&a, width)?, Points::new(&b, width)?);
        let found = transport::wasserstein1(&a, &b, metric)?;
        Ok((found.cost, found.certificate.lower))
    })
}
