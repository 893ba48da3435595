//! The first thing to read: how close, in one sentence, and what is worst.

use super::page::{EqualSample, Headline, LearningPanel, Origin, StrataPanel, StratumPicture, ValidityPanel};
use super::round::four;
use crate::evaluate::{Equal, Evaluation};
use crate::model::Model;

/// What the search for a sample came to, as the page shows it.
pub(super) fn equal_sample(equal: Option<Equal>, real_rows: usize) -> Option<EqualSample> {
    let sample =
        |rows: usize, at_least: bool| EqualSample { rows, share: four(rows as f64 / real_rows as f64), at_least };
    match equal? {
        Equal::Rows(rows) => Some(sample(rows, false)),
        Equal::AtLeast(rows) => Some(sample(rows, true)),
        Equal::None => None,
    }
}

/// Everything that the headline is made of.
pub(super) struct Parts<'a> {
    pub(super) evaluation: &'a Evaluation,
    pub(super) equal: Option<Equal>,
    pub(super) strata: Option<&'a StrataPanel>,
    pub(super) learning: Option<&'a LearningPanel>,
    pub(super) validity: Option<&'a ValidityPanel>,
    pub(super) model: Option<&'a Model>,
}

/// The sentence and the notes of the curator's page.
pub(super) fn headline(parts: &Parts) -> Headline {
    let mut notes = Vec::new();
    let found = parts.evaluation;
    if let Some(worst) = found.columns.first().filter(|worst| worst.w1 > 0.0) {
        let worst_w1 = percent(worst.w1);
        notes.push(format!(
            "The worst column is {}: its values are off by {worst_w1} of its width on average.",
            worst.name
        ));
    }
    notes.extend(parts.strata.and_then(worst_stratum));
    notes.extend(parts.learning.into_iter().flat_map(|panel| &panel.labels).map(|one| {
        let (label, synthetic, real) = (&one.label, percent(one.synthetic), percent(one.real));
        format!("Of {label}, synthetic rows teach to tell {synthetic} of real rows rightly, real rows {real}.")
    }));
    notes.extend(parts.validity.map(broken_rules));
    if let Some(dimension) = parts.model.and_then(|model| model.receipt().dimension) {
        let directions =
            if dimension == 1 { "one direction was".to_owned() } else { format!("{dimension} directions were") };
        notes.push(format!("d′ = {dimension}: {directions} measured in detail, the others by their covariance alone."));
    }
    Headline { origin: Origin::Curator, sentence: sentence(found, parts.equal), notes }
}

fn sentence(found: &Evaluation, equal: Option<Equal>) -> String {
    let (w1, ceiling) = (found.distances.synthetic.w1, found.distances.ceiling.w1);
    let share = |rows: usize| percent(rows as f64 / found.real_rows as f64);
    let rows = |rows: usize| if rows == 1 { "one row".to_owned() } else { format!("{rows} rows") };
    match equal {
        _ if w1 >= ceiling => "No closer to the real table than uniform noise between the bounds.".to_owned(),
        None => "The real table has a single row, so nothing says how close a table can be to it.".to_owned(),
        Some(Equal::AtLeast(most)) => format!(
            "At least as close to the real table as a {} sample of it ({}) would be, the largest that was tried.",
            share(most),
            rows(most)
        ),
        Some(Equal::Rows(some)) => {
            format!("Closer to the real table than a {} sample of it ({}) would be.", share(some), rows(some))
        }
        Some(Equal::None) => {
            let covered = found
                .distances
                .covered
                .map(|part| format!(", though it covers {} of the way from noise to real rows", percent(part)));
            format!(
                "Farther from the real table than a single real row, repeated, would be{}.",
                covered.unwrap_or_default()
            )
        }
    }
}

fn worst_stratum(panel: &StrataPanel) -> Option<String> {
    let error = |stratum: &StratumPicture| stratum.mean_error.unwrap_or(0.0);
    let worst = panel.strata.iter().max_by(|a, b| error(a).total_cmp(&error(b))).filter(|worst| error(worst) > 0.0)?;
    Some(format!(
        "The worst stratum is {} with {} real {}: its means are off by {} of the widths.",
        worst.values.join(", "),
        worst.real_rows,
        if worst.real_rows == 1 { "row" } else { "rows" },
        percent(error(worst))
    ))
}

fn broken_rules(panel: &ValidityPanel) -> String {
    let broken: Vec<_> = panel.rules.iter().filter(|rule| rule.broken > 0).collect();
    match broken[..] {
        [] => "Every rule of the schema is kept.".to_owned(),
        [one] => format!("One rule of the schema is broken, that of {}, by {} of {}.", one.what, one.broken, one.of),
        [worst, ..] => {
            let others = broken.len();
            format!(
                "{others} rules of the schema are broken, that of {} most, by {} of {}.",
                worst.what, worst.broken, worst.of
            )
        }
    }
}

/// Two digits: `12 %`, `2.3 %`, `0.045 %`.
pub(super) fn percent(part: f64) -> String {
    let percent = 100.0 * part;
    if percent == 0.0 || !percent.is_finite() {
        return "0 %".to_owned();
    }
    // Two digits first: what is rounded up to the next power of ten has one decimal fewer.
    let two: f64 = format!("{percent:.1e}").parse().unwrap_or(percent);
    let decimals = (1 - two.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{two:.decimals$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} %")
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn percents_are_short() {
        let cases = [
            (0.0, "0 %"),
            (1.0, "100 %"),
            (0.02, "2 %"),
            (0.123_4, "12 %"),
            (0.009_96, "1 %"),
            (0.000_452, "0.045 %"),
            (0.986, "99 %"),
            (0.015, "1.5 %"),
        ];
        for (part, text) in cases {
            assert_eq!(percent(part), text);
        }
    }
}
