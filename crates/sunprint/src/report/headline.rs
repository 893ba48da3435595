//! The first thing to read: what should be heard, the verdict in one sentence, and what is worst.

use super::page::{
    ClassLearning, Headline, Learning, LearningPanel, Origin, StrataPanel, StratumPicture, ValidityPanel,
};
use crate::evaluate::Evaluation;
use crate::model::Model;

/// Everything that the headline is made of.
pub(super) struct Parts<'a> {
    pub(super) evaluation: &'a Evaluation,
    pub(super) strata: Option<&'a StrataPanel>,
    pub(super) learning: Option<&'a LearningPanel>,
    pub(super) validity: Option<&'a ValidityPanel>,
    pub(super) model: Option<&'a Model>,
}

/// The sentence and the notes of the curator's page.
pub(super) fn headline(parts: &Parts) -> Headline {
    let mut notes = Vec::new();
    notes.extend(parts.strata.and_then(worst_stratum));
    notes.extend(parts.learning.into_iter().flat_map(|panel| &panel.labels).filter_map(lost_class));
    notes.extend(parts.validity.map(broken_rules));
    if let Some(dimension) = parts.model.and_then(|model| model.receipt().dimension) {
        let directions =
            if dimension == 1 { "one direction was".to_owned() } else { format!("{dimension} directions were") };
        notes.push(format!("d′ = {dimension}: {directions} measured in detail, the others by their covariance alone."));
    }
    let found = parts.evaluation;
    Headline { origin: Origin::Curator, notices: found.notices.clone(), sentence: found.verdict.sentence(), notes }
}

/// The class that synthetic rows teach least of, where they teach less than half of what real rows do.
fn lost_class(label: &Learning) -> Option<String> {
    let recall = |class: &ClassLearning| Some((class.real?, class.synthetic?));
    let lost = |class: &&ClassLearning| recall(class).is_some_and(|(real, synthetic)| synthetic < real / 2.0);
    let class = label.by_class.iter().find(lost)?;
    let (real, synthetic) = recall(class)?;
    let (real, synthetic, rows) = (percent(real), percent(synthetic), class.rows);
    let label = &label.label;
    Some(format!(
        "Whoever learns {label} from synthetic rows finds {synthetic} of the {rows} real rows of {}; from real rows {real}.",
        class.class
    ))
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
