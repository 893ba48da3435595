//! The verdict in words: the same on a screen and on a page.

use super::verdict::{Grade, Judged, Judgement, Verdict};
use super::{Evaluation, Learning};
use serde::Serialize;

/// One line of the verdict, as it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictLine {
    /// What is judged: "single columns".
    pub what: &'static str,
    /// `good`, `usable`, `poor` or `not judged`.
    pub grade: &'static str,
    /// The figures, a short phrase each; and why there is no grade, or no better one.
    pub figures: Vec<String>,
}

/// The word for a grade.
fn word(grade: Option<Grade>) -> &'static str {
    grade.map_or("not judged", Grade::word)
}

impl Verdict {
    /// All five in one sentence for each grade: "Good: single columns and groups. Poor: whole rows."
    pub fn sentence(&self) -> String {
        let mut said = Vec::new();
        for grade in [Some(Grade::Good), Some(Grade::Usable), Some(Grade::Poor), None] {
            let of: Vec<&str> =
                self.all().iter().filter(|(_, one)| one.grade == grade).map(|(what, _)| *what).collect();
            let Some((last, others)) = of.split_last() else { continue };
            let list = if others.is_empty() { (*last).to_owned() } else { format!("{} and {last}", others.join(", ")) };
            let word = match grade {
                Some(Grade::Good) => "Good",
                Some(Grade::Usable) => "Usable",
                Some(Grade::Poor) => "Poor",
                None => "Not judged",
            };
            said.push(format!("{word}: {list}."));
        }
        said.join(" ")
    }
}

impl Evaluation {
    /// The verdict line by line.
    pub fn verdict_lines(&self) -> Vec<VerdictLine> {
        let line = |(what, one): (&'static str, &Judgement)| {
            let mut figures: Vec<String> = one.figures.iter().flat_map(|figure| self.words(figure)).collect();
            figures.extend(one.why.clone());
            VerdictLine { what, grade: word(one.grade), figures }
        };
        self.verdict.all().into_iter().map(line).collect()
    }

    /// A figure in a phrase or two.
    fn words(&self, figure: &Judged) -> Vec<String> {
        let (value, of) = (figure.value, figure.of.as_deref().unwrap_or_default());
        match figure.what {
            "typical column" => vec![format!("on average off by {} deviations", short(value))],
            "worst column" => vec![format!("worst by {}: {of}", short(value))],
            "correlations lost" => {
                let found = &self.correlations;
                vec![
                    format!("{} of the correlations lost", percent(value)),
                    format!("typical error {}, correlation {}", short(found.root_mean_square), short(found.strength)),
                ]
            }
            "row distance" => vec![format!("rows off by {} of their spread", percent(value))],
            "classifier" => {
                let auc = self.telling.as_ref().map_or(0.5, |telling| telling.auc);
                vec![format!("AUC of real or synthetic {auc:.3} (0.5 is perfect)")]
            }
            "shares" => vec![format!("shares off by {} deviations: {of}", short(value))],
            "means within lost" => vec![format!("{} of the means within lost: {of}", percent(value))],
            "worst group" => vec![format!("worst group by {} deviations: {of}", short(value))],
            _ => {
                self.learning.iter().find(|label| label.label == of).map_or_else(Vec::new, |label| taught(label, value))
            }
        }
    }
}

/// What a label's learning came to.
fn taught(label: &Learning, lost: f64) -> Vec<String> {
    let (Some(real), Some(synthetic)) = (label.auc_real, label.auc_synthetic) else { return Vec::new() };
    let mut said = vec![
        format!("AUC {synthetic:.3} where real rows teach {real:.3}: {}", label.label),
        format!("{} of what real rows teach lost", percent(lost)),
    ];
    let rarest = label.by_class.iter().find(|class| class.rows > 0);
    if let Some((class, real, synthetic)) = rarest.and_then(|one| Some((&one.class, one.real?, one.synthetic?))) {
        said.push(format!("recall {} where real rows give {}: {class}", percent(synthetic), percent(real)));
    }
    said
}

/// Two digits, three decimals at most.
fn short(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        large if large >= 9.95 => format!("{large:.0}"),
        middle if middle >= 0.0995 => format!("{middle:.2}"),
        small => format!("{small:.3}"),
    }
}

fn percent(part: f64) -> String {
    match 100.0 * part {
        0.0 => "0 %".to_owned(),
        large if large >= 9.95 => format!("{large:.0} %"),
        small => format!("{small:.1} %"),
    }
}
