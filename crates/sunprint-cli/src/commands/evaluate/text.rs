//! The comparison as text for a screen of 80 columns.

use std::fmt::Write;

use sunprint::evaluate::{CategoryFigures, CorrelationErrors, Distance, Distances, Errors, Evaluation, LabelFigures};

use crate::words::{counted, thousands};

/// The width of a name in a table; longer ones are cut.
const NAME: usize = 22;

/// The width of two names with a word between them.
const TWO: usize = 2 * NAME + 5;

/// Everything that was found; of columns, pairs and categories the worst `most`.
pub fn report(found: &Evaluation, places: &[String; 2], most: Option<usize>) -> String {
    let mut text = "For the curator's eyes: computed from the private rows, not to be published.\n".to_owned();
    let most = most.unwrap_or(usize::MAX);
    let _ = writeln!(text, "\nreal       {}, {}", places[0], counted(found.real_rows as u64, "row"));
    let _ = writeln!(text, "synthetic  {}, {}", places[1], counted(found.synthetic_rows as u64, "row"));
    distances(&mut text, &found.distances);
    columns(&mut text, found, most);
    let _ = writeln!(text, "\nErrors over all columns, in units of their widths (typical: root mean square)");
    let _ = writeln!(text, "  {:NAME$}{:>10}{:>10}", "", "typical", "worst");
    errors(&mut text, "means", &found.means);
    errors(&mut text, "standard deviations", &found.deviations);
    correlations(&mut text, &found.correlations, most);
    found.labels.iter().for_each(|label| shares(&mut text, label, most));
    if found.labels.len() > 1 {
        let _ = writeln!(
            text,
            "\nAll labels together: {} of the rows would need another combination",
            percent(found.strata_variation)
        );
    }
    text
}

fn distances(text: &mut String, distances: &Distances) {
    let draws = distances.ceiling.draws.len();
    let metric = match distances.metric {
        "l2" => "Euclidean",
        "linf" => "largest coordinate",
        _ => "sum of coordinates",
    };
    let _ = writeln!(
        text,
        "\nDistance of whole rows: exact W1, {} ({metric}), {}\n  (how far rows must move to turn one table into the other; a column is 1 wide)",
        distances.metric,
        counted(draws as u64, "draw")
    );
    let _ = writeln!(text, "  {:NAME$}{:>10}{:>20}{:>22}", "", "W1", "95 % interval", "rows");
    let mut line = |title: &str, distance: &Distance| {
        let interval =
            distance.interval.map_or_else(|| "none".to_owned(), |[low, high]| format!("{low:.4} to {high:.4}"));
        let rows = distance.rows.map(|rows| thousands(rows as u64)).join(" and ");
        let _ = writeln!(text, "  {title:NAME$}{:>10.4}{interval:>20}{rows:>22}", distance.w1);
    };
    if let Some(floor) = &distances.floor {
        line("floor", floor);
    }
    line("real and synthetic", &distances.synthetic);
    line("ceiling", &distances.ceiling);
    let floor = match distances.floor {
        Some(_) => "two parts of the real table: as close as chance allows",
        None => "needs at least two real rows",
    };
    let _ = writeln!(text, "  floor: {floor}");
    let _ = writeln!(text, "  ceiling: real rows and uniform noise: what the bounds alone give");
    if let Some(covered) = distances.covered {
        let _ = writeln!(
            text,
            "  The synthetic rows cover {:.0} % of the way from the ceiling to the floor.",
            100.0 * covered
        );
    }
}

fn columns(text: &mut String, found: &Evaluation, most: usize) {
    let _ = writeln!(text, "\nColumns, all rows, worst first: W1 in units of the width and in the column's own");
    let _ = writeln!(text, "  {:NAME$}{:>18}{:>19}{:>19}", "", "W1      ", "mean        ", "deviation     ");
    let _ = writeln!(
        text,
        "  {:NAME$}{:>9}{:>9}{:>9}{:>10}{:>9}{:>10}",
        "", "width", "own", "real", "synth", "real", "synth"
    );
    for column in found.columns.iter().take(most) {
        let _ = writeln!(
            text,
            "  {}{:>9}{:>9}{:>9}{:>10}{:>9}{:>10}",
            cut(&column.name),
            percent(column.w1),
            figure(column.w1_own),
            figure(column.mean.real),
            figure(column.mean.synthetic),
            figure(column.deviation.real),
            figure(column.deviation.synthetic)
        );
    }
    more(text, found.columns.len(), most);
}

/// The typical error is the root mean square.
fn errors(text: &mut String, title: &str, errors: &Errors) {
    let (typical, worst) = (percent(errors.root_mean_square), percent(errors.worst.error));
    let _ = writeln!(text, "  {title:NAME$}{typical:>10}{worst:>10}   {}", cut(&errors.worst.name).trim_end());
}

fn correlations(text: &mut String, errors: &CorrelationErrors, most: usize) {
    if errors.pairs == 0 {
        let _ = writeln!(text, "\nCorrelations: a single column has none");
        return;
    }
    let _ = writeln!(
        text,
        "\nCorrelations of {}: typical error {:.3}, largest {:.3}",
        counted(errors.pairs as u64, "pair"),
        errors.root_mean_square,
        errors.largest
    );
    let _ = writeln!(text, "  {:TWO$}{:>9}{:>10}", "", "real", "synth");
    for pair in errors.worst.iter().take(most) {
        let names = format!("{} and {}", cut(&pair.columns[0]).trim_end(), cut(&pair.columns[1]).trim_end());
        let _ = writeln!(text, "  {names:TWO$}{:>9.3}{:>10.3}", pair.real, pair.synthetic);
    }
    more(text, errors.pairs, most.min(errors.worst.len()));
    for (count, table) in [(errors.constant_real, "real"), (errors.constant_synthetic, "synthetic")] {
        if count > 0 {
            let columns = counted(count as u64, "column");
            let verb = if count == 1 { "does" } else { "do" };
            let _ = writeln!(text, "  {columns} {verb} not vary in the {table} table: correlation 0 is taken there");
        }
    }
}

fn shares(text: &mut String, label: &LabelFigures, most: usize) {
    let _ =
        writeln!(text, "\nLabel {}: {} of the rows would need another category", label.name, percent(label.variation));
    let _ = writeln!(text, "  {:NAME$}{:>10}{:>12}{:>16}", "", "real", "synthetic", "means within");
    for category in label.categories.iter().take(most) {
        let CategoryFigures { value, real, synthetic, mean_error } = category;
        let within = mean_error.map_or_else(|| "none".to_owned(), percent);
        let _ = writeln!(text, "  {}{:>10}{:>12}{within:>16}", cut(value), percent(*real), percent(*synthetic));
    }
    more(text, label.categories.len(), most);
    let _ = writeln!(text, "  means within: typical error of the columns' means among its rows, of the width");
}

/// How many were left out.
fn more(text: &mut String, all: usize, most: usize) {
    if all > most {
        let _ = writeln!(text, "  and {} more", thousands((all - most) as u64));
    }
}

fn percent(part: f64) -> String {
    format!("{:.2} %", 100.0 * part)
}

/// Four significant digits, in few characters.
fn figure(number: f64) -> String {
    let magnitude = number.abs().log10().floor();
    if number == 0.0 {
        "0".to_owned()
    } else if (-3.0..6.0).contains(&magnitude) {
        format!("{number:.*}", (3.0 - magnitude).max(0.0) as usize)
    } else {
        format!("{number:.2e}")
    }
}

/// A name in the width of its column.
fn cut(name: &str) -> String {
    let mut short: String = name.chars().take(NAME - 2).collect();
    if short.len() < name.len() {
        short.push('…');
    }
    format!("{short:NAME$}")
}
