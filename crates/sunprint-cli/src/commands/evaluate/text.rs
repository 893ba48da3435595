//! The comparison as text for a screen of 80 columns.

use std::fmt::Write;

use sunprint::evaluate::{
    CategoryFigures, CorrelationErrors, Distance, Errors, Evaluation, Figure, LabelFigures, Learning,
};

use crate::verdict;
use crate::words::{counted, thousands};

/// The width of a name in a table; longer ones are cut.
const NAME: usize = 20;

/// The width of two names with a word between them.
const TWO: usize = 2 * NAME + 5;

/// Everything that was found; of columns, pairs and categories the worst `most`.
pub fn report(found: &Evaluation, places: &[String; 2], most: Option<usize>) -> String {
    let mut text = "For the curator's eyes: computed from the private rows, not to be published.\n".to_owned();
    let most = most.unwrap_or(usize::MAX);
    let _ = writeln!(text, "\nreal       {}, {}", places[0], counted(found.real_rows as u64, "row"));
    let _ = writeln!(text, "synthetic  {}, {}", places[1], counted(found.synthetic_rows as u64, "row"));
    text.push_str(&verdict::notices(found));
    text.push_str(&verdict::table(found));
    text.push_str(&verdict::changed(found, most));
    distances(&mut text, found);
    columns(&mut text, found, most);
    let _ = writeln!(text, "\nErrors over all columns, in units of their widths (typical: root mean square)");
    let _ = writeln!(text, "  {:NAME$}{:>10}{:>10}", "", "typical", "worst");
    errors(&mut text, "means", &found.means);
    errors(&mut text, "standard deviations", &found.deviations);
    correlations(&mut text, &found.correlations, most);
    found.labels.iter().for_each(|label| shares(&mut text, label, most));
    found.learning.iter().for_each(|label| learning(&mut text, label, most));
    if found.labels.len() > 1 {
        let _ = writeln!(
            text,
            "\nAll labels together: {} of the rows would need another combination",
            percent(found.strata_variation)
        );
    }
    text
}

fn distances(text: &mut String, found: &Evaluation) {
    let distances = &found.distances;
    let metric = match distances.metric {
        "l2" => "Euclidean",
        "linf" => "largest coordinate",
        _ => "sum of coordinates",
    };
    let everything = distances.synthetic.rows == [found.real_rows, found.synthetic_rows];
    let draws = counted(distances.ceiling.draws.len() as u64, "draw");
    let _ = writeln!(
        text,
        "\nDistance of whole rows: exact W1, {} ({metric}), {}\n  \
           (how far rows must move to turn one table into the other; a column is 1 wide)",
        distances.metric,
        if everything { "all rows" } else { &draws }
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
    let floor = match &distances.floor {
        None => "none, for one row has no two parts",
        Some(floor) if floor.rows == distances.synthetic.rows => {
            "two parts of the real table, as close as chance allows"
        }
        Some(_) => "two parts of the real table (fewer rows, so farther apart)",
    };
    let _ = writeln!(text, "  floor: {floor}");
    let _ = writeln!(text, "  real and synthetic: what you get; better the nearer it is to the floor");
    let _ = writeln!(text, "  ceiling: real rows and uniform noise, what the bounds alone give");
    if let Some(beyond) = distances.beyond {
        let _ =
            writeln!(text, "  beyond chance, √(W1² − floor²): {beyond:.4}; a real row is {:.4} from", distances.spread);
        let _ = writeln!(text, "  the mean of all, on average");
    }
    if let Some(telling) = &found.telling {
        let (rows, auc) = (thousands(telling.rows as u64), telling.auc);
        let _ = writeln!(
            text,
            "\nReal or synthetic: boosted trees that learnt from half of {rows} rows of each\n  \
               tell the other half apart with AUC {auc:.3} (0.5: nobody can tell; 1: all can)"
        );
    }
}

fn columns(text: &mut String, found: &Evaluation, most: usize) {
    let _ = writeln!(text, "\nColumns, all rows, worst first: W1 in units of the width and in the column's own");
    let _ = writeln!(text, "  {:NAME$}{:>18}{:>20}{:>20}", "", "W1", "mean", "deviation");
    let mut line = |name: &str, numbers: [String; 6]| {
        let [share, own, real, synthetic, deviation, other] = numbers;
        let _ = writeln!(text, "  {}{share:>9}{own:>9}{real:>10}{synthetic:>10}{deviation:>10}{other:>10}", cut(name));
    };
    line("", ["width", "own", "real", "synth", "real", "synth"].map(str::to_owned));
    for column in found.columns.iter().take(most) {
        // Categories without an order have shares and no mean.
        let side = |figure: Option<Figure>, of: fn(Figure) -> f64| {
            figure.map_or_else(|| "-".to_owned(), |f| self::figure(of(f)))
        };
        let (mean, deviation) = (column.mean, column.deviation);
        let own = if column.kind == "categorical" && mean.is_none() { "-".to_owned() } else { figure(column.w1_own) };
        let [real, synthetic] = [side(mean, |f| f.real), side(mean, |f| f.synthetic)];
        let [spread, other] = [side(deviation, |f| f.real), side(deviation, |f| f.synthetic)];
        line(&column.name, [percent(column.w1), own, real, synthetic, spread, other]);
    }
    more(text, found.columns.len(), most);
    if found.columns.iter().any(|column| !column.categories.is_empty()) {
        let _ = writeln!(text, "  of categories without an order: the part of the rows that would need another");
    }
    let gaps = || found.columns.iter().filter_map(|column| column.missing.map(|missing| (&column.name, missing)));
    if gaps().next().is_some() {
        let _ = writeln!(text, "\nMissing values, of all rows\n  {:NAME$}{:>10}{:>12}", "", "real", "synthetic");
        for (name, missing) in gaps().take(most) {
            let (real, synthetic) = (percent(missing.real), percent(missing.synthetic));
            let _ = writeln!(text, "  {}{real:>10}{synthetic:>12}", cut(name));
        }
        more(text, gaps().count(), most);
    }
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
        let CategoryFigures { value, real, synthetic, mean_error, .. } = category;
        let within = mean_error.map_or_else(|| "none".to_owned(), percent);
        let value = if value.is_empty() { "(missing)" } else { value };
        let _ = writeln!(text, "  {}{:>10}{:>12}{within:>16}", cut(value), percent(*real), percent(*synthetic));
    }
    more(text, label.categories.len(), most);
    let _ = writeln!(text, "  means within: typical error of the columns' means among its rows, of the width");
}

/// What synthetic rows teach, class by class.
fn learning(text: &mut String, label: &Learning, most: usize) {
    let number = |value: Option<f64>, form: fn(f64) -> String| value.map_or_else(|| "-".to_owned(), form);
    let auc = |value| number(value, |auc| format!("{auc:.3}"));
    let _ = writeln!(text, "\nLearning {}: asked about {} real rows", label.label, thousands(label.testing as u64));
    let mut line = |title: &str, rows: &str, numbers: [String; 4]| {
        let [recall, other, auc, second] = numbers;
        let _ = writeln!(text, "  {}{rows:>10}{recall:>11}{other:>11}{auc:>11}{second:>11}", cut(title));
    };
    line("", "", ["right", "right", "AUC", "AUC"].map(str::to_owned));
    line("learnt from", "rows", ["real", "synthetic", "real", "synthetic"].map(str::to_owned));
    let all = [percent(label.real), percent(label.synthetic), auc(label.auc_real), auc(label.auc_synthetic)];
    line("all classes", &thousands(label.testing as u64), all);
    for class in label.by_class.iter().take(most) {
        let recall = [number(class.real, percent), number(class.synthetic, percent)];
        let [real, synthetic] = recall;
        line(
            &class.class,
            &thousands(class.rows as u64),
            [real, synthetic, auc(class.auc_real), auc(class.auc_synthetic)],
        );
    }
    more(text, label.by_class.len(), most);
    let _ = writeln!(text, "  whoever always says the commonest class is right in {}", percent(label.commonest));
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

/// Four significant digits at most, in nine characters at most.
fn figure(number: f64) -> String {
    let magnitude = number.abs().log10().floor();
    if number == 0.0 {
        "0".to_owned()
    } else if (-2.0..6.0).contains(&magnitude) {
        format!("{number:.*}", (3.0 - magnitude).clamp(0.0, 4.0) as usize)
    } else {
        format!("{number:.*e}", if magnitude.abs() < 100.0 { 2 } else { 1 })
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

#[cfg(test)]
mod tests {
    use sunprint::evaluate::{Settings, evaluate};
    use sunprint::schema::Schema;
    use sunprint::source::{Silent, Table};
    use sunprint::tally::codes::{Codes, Q};

    use super::{cut, figure, report};

    #[test]
    fn no_line_is_wider_than_a_screen() {
        let mut toml = String::new();
        for (i, (min, max)) in
            [("-9e299", "1e299"), ("-1e-300", "1e-300"), ("-999999.5", "-999998.5")].iter().enumerate()
        {
            toml += &format!(
                "[[column]]\nname = \"a rather long name of a column, number {i}\"\nkind = \"continuous\"\nmin = {min}\nmax = {max}\n"
            );
        }
        toml += "[[column]]\nname = \"label\"\nkind = \"categorical\"\nrole = \"label\"\n\
                 values = [\"a category that takes up more than its place\", \"ä\"]\n";
        let schema = Schema::parse(&toml, "wide.toml").unwrap();
        let table = |step: u16| {
            let mut codes = Codes::with_capacity(3, 40);
            (0..40).for_each(|i| codes.push(&[i * step, Q - i, 7 * i], u32::from(i % 2)));
            Table::of_codes(vec![codes], &schema).unwrap()
        };
        for rows in [Some(10), Some(30), None] {
            let settings = Settings { rows, ..Settings::default() };
            let found = evaluate(&table(1), &table(1_500), &schema, &settings, &Silent).unwrap();
            let text = report(&found, &["real.csv".to_owned(), "synthetic.csv".to_owned()], Some(2));
            for line in text.lines() {
                assert!(line.chars().count() <= 80 && line.trim_end() == line, "{line}");
            }
            assert!(text.contains("and 1 more"), "one of three columns and of three pairs is left out");
        }
    }

    #[test]
    fn figures_are_short() {
        let cases = [
            (0.0, "0"),
            (1.0, "1.000"),
            (-12.345_67, "-12.35"),
            (53_048.28, "53048"),
            (-0.012_345, "-0.0123"),
            (0.001_716, "1.72e-3"),
            (2_500_000.0, "2.50e6"),
            (-9e299, "-9.0e299"),
            (-1.5e-300, "-1.5e-300"),
        ];
        for (number, text) in cases {
            assert_eq!(figure(number), text);
        }
        assert_eq!(cut("Äpfel").chars().count(), super::NAME);
    }
}
