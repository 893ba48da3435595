//! The demo's report: what a newcomer reads.

use std::fmt::Write;
use std::path::Path;

use super::compare::{Comparison, Pair, SUBSAMPLE};
use crate::words::thousands;

/// The page with everything, in the demo's folder.
pub const PAGE: &str = "report.html";

/// The width of the first column.
const TITLE: usize = 36;

/// The comparison in plain words, and what to do next.
pub fn text(comparison: &Comparison, verdict: &str, pictures: &str, epsilon: &str, folder: &Path) -> String {
    let mut text = format!("How close is the synthetic clinic to the real one, at epsilon {epsilon}?\n{verdict}");
    section(&mut text, "averages", &comparison.means, |number| format!("{number:.1}"));
    section(&mut text, "shares", &comparison.shares, |number| format!("{:.1} %", 100.0 * number));
    section(&mut text, "averages within a diagnosis", &comparison.within, |number| format!("{number:.1}"));
    section(&mut text, "correlations (1 together, -1 opposite)", &comparison.correlations, |number| {
        format!("{number:.2}")
    });

    let distances = &comparison.distances;
    let _ = writeln!(
        text,
        "\ndistance between tables\n  (W1 of {} rows each: how far rows move to turn one into the other)",
        thousands(SUBSAMPLE as u64)
    );
    let lines = [
        (
            "two parts of the real table",
            distances.floor.as_ref().map_or(f64::NAN, |floor| floor.w1),
            "as close as tables get",
        ),
        ("real and synthetic", distances.synthetic.w1, "what you get"),
        ("real and uniform noise", distances.ceiling.w1, "what the bounds alone give"),
    ];
    for (title, distance, meaning) in lines {
        let _ = writeln!(text, "  {title:TITLE$}{distance:>10.2}   {meaning}");
    }

    let _ = write!(
        text,
        "{pictures}\nNobody's row can be read off the synthetic table: it would look almost the same\n\
         if any one patient had been someone else.\n\
         \nThe whole comparison as a page for your browser (with real rows it would be for\n\
         the curator alone):\n  \
           {folder}/{PAGE}\n\
         \nNext\n  \
           sunprint show {folder}/clinic.sunprint\n      \
               the receipt, and what the model holds\n  \
           sunprint evaluate {folder}/clinic.csv \\\n    \
               {folder}/clinic-synthetic.csv --schema {folder}/clinic.toml\n      \
               the whole comparison, for the curator's eyes\n  \
           sunprint sample {folder}/clinic.sunprint --rows 100000 -o more.csv\n      \
               more rows, at no further cost in privacy\n  \
           sunprint schema people.csv -o people.toml\n      \
               the first step with a table of your own\n",
        folder = folder.display()
    );
    text
}

/// A heading and one line for each pair.
fn section(text: &mut String, heading: &str, pairs: &[Pair], show: impl Fn(f64) -> String) {
    let _ = writeln!(text, "\n{heading:<width$}{:>10}{:>12}", "real", "synthetic", width = TITLE + 2);
    // An average over nobody is not a number.
    let show = |number: f64| if number.is_nan() { "none".to_owned() } else { show(number) };
    for pair in pairs {
        let _ = writeln!(text, "  {:TITLE$}{:>10}{:>12}", pair.title, show(pair.real), show(pair.synthetic));
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::clinic::Clinic;
    use super::super::compare::Comparison;

    #[test]
    fn no_line_is_wider_than_a_screen() {
        let [(real, schema), (other, _)] = [1, 2].map(|seed| Clinic::simulate(2_000, seed).to_table());
        let comparison = Comparison::between(&real, &other, &schema, 1).unwrap();
        let report = super::text(&comparison, "", "", "1", Path::new("sunprint-demo"));
        for line in report.lines() {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }
}
