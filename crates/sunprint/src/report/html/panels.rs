//! What every panel says without scripts, and where they draw.

use super::super::page::{
    ColumnPanel, CorrelationPanel, DistancePanel, Learning, Origin, Page, PlanePanel, PredictedPanel, SpectrumPanel,
    StrataPanel, ValidityPanel,
};
use super::parts::{Cell, Panel, count, figure, heads, name_heads, named, percent, place, table};
use super::{promise, verdict};
use crate::evaluate::Distance;
use crate::markup::escaped;

/// The panels that have something to show, in the order of the page.
pub fn all(page: &Page) -> Vec<Panel> {
    let panel = |id, title, origin, body| Panel { id, title, origin, body };
    [
        page.privacy.as_ref().map(|own| panel("privacy", "Privacy", own.origin, promise::privacy(own))),
        page.distances.as_ref().map(|own| panel("distances", "Distance of whole rows", own.origin, distances(own))),
        page.columns.as_ref().map(|own| panel("columns", "Columns, worst first", own.origin, columns(own))),
        page.correlations.as_ref().map(|own| panel("correlations", "Correlations", own.origin, correlations(own))),
        page.plane.as_ref().map(|own| panel("plane", "Rows in a plane", own.origin, plane(own))),
        page.spectrum.as_ref().map(|own| panel("spectrum", "Directions and noise", own.origin, spectrum(own))),
        page.learning.as_ref().map(|own| {
            panel("learning", "Learning", own.origin, own.labels.iter().enumerate().map(learning).collect())
        }),
        page.strata.as_ref().map(|own| panel("strata", "Groups, smallest first", own.origin, strata(own))),
        page.validity.as_ref().map(|own| panel("validity", "Rules of the schema", own.origin, validity(own))),
        page.changed.as_ref().map(|own| panel("changed", "Changed by the schema", own.origin, verdict::changed(own))),
        page.predicted.as_ref().map(|own| panel("predicted", "Predicted accuracy", own.origin, predicted(own))),
        page.cite.as_ref().map(|cite| panel("cite", "How to cite", Origin::Released, cited(cite))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Links to all panels.
pub fn contents(panels: &[Panel]) -> String {
    if panels.is_empty() {
        return String::new();
    }
    let link = |panel: &Panel| format!("<li><a href=\"#{}\">{}</a></li>", panel.id, panel.title);
    format!("<nav aria-label=\"Panels\"><ul>{}</ul></nav>\n", panels.iter().map(link).collect::<String>())
}

/// A reason as a sentence: with a capital letter, and a full stop.
fn sentence(reason: &str) -> String {
    let mut letters = reason.trim().chars();
    let first: String = letters.next().map(|letter| letter.to_uppercase().collect()).unwrap_or_default();
    let stop = if reason.trim_end().ends_with(['.', '!', '?', '…']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}

/// Why panels are missing.
pub fn absent(page: &Page) -> String {
    if page.absent.is_empty() {
        return String::new();
    }
    let title = |field: &str| match field {
        "privacy" => "Privacy",
        "distances" => "Distance of whole rows",
        "columns" => "Columns",
        "correlations" => "Correlations",
        "plane" => "Rows in a plane",
        "spectrum" => "Directions and noise",
        "learning" => "Learning",
        "strata" => "Groups",
        "validity" => "Rules of the schema",
        "verdict" => "Verdict",
        "changed" => "Changed by the schema",
        "predicted" => "Predicted accuracy",
        "cite" => "How to cite",
        _ => "Another panel",
    };
    let line = |absent: &super::super::page::Absent| {
        format!("<dt>{}</dt>\n<dd dir=\"auto\">{}</dd>\n", title(absent.panel), escaped(&sentence(&absent.why)))
    };
    format!(
        "<section class=\"panel absent\" id=\"absent\" aria-labelledby=\"absent-title\">\n\
         <div class=\"heading\"><h2 id=\"absent-title\">Not on this page</h2></div>\n<dl>\n{}</dl>\n</section>\n",
        page.absent.iter().map(line).collect::<String>()
    )
}

fn distances(own: &DistancePanel) -> String {
    let distances = &own.distances;
    let lines = [
        ("Floor: real rows against other real rows", distances.floor.as_ref()),
        ("Synthetic rows against real rows", Some(&distances.synthetic)),
        ("Ceiling: uniform noise against real rows", Some(&distances.ceiling)),
    ];
    let row = |name: &str, distance: &Distance| {
        let interval = match distance.interval {
            Some([low, high]) => format!("{} to {}", figure(low), figure(high)),
            None => "–".to_string(),
        };
        vec![
            Cell::name(name),
            Cell::of(Some(distance.w1), figure),
            Cell::of(distance.interval.map(|[low, _]| low), |_| interval.clone()),
            Cell::name(&format!("{} and {}", count(distance.rows[0] as u64), count(distance.rows[1] as u64))),
        ]
    };
    let rows: Vec<Vec<Cell>> =
        lines.into_iter().filter_map(|(name, distance)| distance.map(|distance| row(name, distance))).collect();
    let beyond = distances.beyond.filter(|_| distances.spread > 0.0).map_or(String::new(), |beyond| {
        let (beyond, spread) = (figure(beyond), figure(distances.spread));
        format!(
            " Beyond chance, √(W1² − floor²), rows are off by {beyond}; on average a real row is {spread} from the mean of \
             all."
        )
    });
    let telling = own.telling.as_ref().map_or(String::new(), |telling| {
        let (auc, rows) = (figure(telling.auc), count(telling.rows as u64));
        format!(
            " Boosted trees that learnt from half of {rows} rows of each table and were asked about the other half tell \
             synthetic rows from real ones with an AUC of {auc}: 0.5 is perfect, nobody can tell, and 1 is the worst."
        )
    });
    format!(
        "<p class=\"lead\">W1 says how far whole rows must be moved, on average, to turn one table into the other; every \
         column counts in units of its width. The real table has {} rows, the synthetic one {}.{beyond}{telling}</p>\n{}{}",
        count(own.real_rows as u64),
        count(own.synthetic_rows as u64),
        place("distances-chart"),
        table("W1 between tables", true, &heads(&["Tables", "#W1", "#95 % interval", "Rows compared"]), &rows)
    )
}

fn columns(own: &ColumnPanel) -> String {
    let errors = |what: &str, errors: &crate::evaluate::Errors| {
        format!(
            "The typical error of the {what} is {} of a column’s width; the largest is {}, in {}. ",
            figure(errors.root_mean_square),
            figure(errors.worst.error),
            named(&errors.worst.name)
        )
    };
    format!(
        "<p class=\"lead\">W1 of a column is how far its values must be moved, on average, in units of the column’s \
         width. {}{}</p>\n{}",
        errors("means", &own.means),
        errors("standard deviations", &own.deviations),
        place("columns-table")
    )
}

fn correlations(own: &CorrelationPanel) -> String {
    let left_out = match own.left_out {
        0 => String::new(),
        more => format!(" {} coordinates more are not drawn; those with the largest errors are.", count(more as u64)),
    };
    if own.real.is_none() {
        return format!(
            "<p class=\"lead\">The correlations that the release holds, of {} coordinates; related ones stand side by \
             side.{left_out}</p>\n{}",
            count(own.names.len() as u64),
            place("correlations-matrices")
        );
    }
    let rows: Vec<Vec<Cell>> = (own.worst.iter())
        .map(|pair| {
            vec![
                Cell::name(&pair.columns[0]),
                Cell::name(&pair.columns[1]),
                Cell::of(Some(pair.real), figure),
                Cell::of(Some(pair.synthetic), figure),
                Cell::of(Some(pair.error), figure),
            ]
        })
        .collect();
    format!(
        "<p class=\"lead\">The typical error of a correlation is {}, the largest {}. Related coordinates stand side by \
         side.{left_out}</p>\n{}{}",
        figure(own.root_mean_square),
        figure(own.largest),
        place("correlations-matrices"),
        table(
            "The worst pairs",
            false,
            &heads(&["Column", "Other column", "#Real", "#Synthetic", "#Difference"]),
            &rows
        )
    )
}

fn plane(own: &PlanePanel) -> String {
    let which = match own.of_model {
        true => "the two directions that the model measured first",
        false => "the two directions in which the synthetic table varies most",
    };
    let axis = |(i, axis): (usize, &super::super::page::Axis)| {
        let weights: Vec<String> =
            axis.weights.iter().map(|(name, weight)| format!("{} × {}", figure(*weight), named(name))).collect();
        format!("<dt>Direction {}</dt><dd>{}</dd>\n", i + 1, weights.join(", "))
    };
    format!(
        "<p class=\"lead\">Rows seen along {which}: {}.</p>\n{}<dl class=\"axes\">\n{}</dl>\n",
        match own.real.is_empty() {
            true => format!("{} synthetic ones", count(own.synthetic.len() as u64)),
            false => format!(
                "{} real and {} synthetic ones, picked at random",
                count(own.real.len() as u64),
                count(own.synthetic.len() as u64)
            ),
        },
        place("plane-chart"),
        own.axes.iter().enumerate().map(axis).collect::<String>()
    )
}

fn spectrum(own: &SpectrumPanel) -> String {
    let above = own.variances.iter().filter(|variance| **variance > own.edge).count();
    let measured = own.dimension.map_or(String::new(), |dimension| {
        let were = if dimension == 1 { "was" } else { "were" };
        format!(" {} {were} measured in detail.", count(dimension as u64))
    });
    format!(
        "<p class=\"lead\">{} of {} directions {} out of the noise: a released variance above {} can be told from it, \
         others cannot.{measured}</p>\n{}",
        count(above as u64),
        count(own.variances.len() as u64),
        if above == 1 { "stands" } else { "stand" },
        figure(own.edge),
        place("spectrum-chart")
    )
}

fn learning((i, own): (usize, &Learning)) -> String {
    let rows: Vec<Vec<Cell>> = (own.by_class.iter())
        .map(|class| {
            vec![
                Cell::name(&class.class),
                Cell::of(Some(class.rows as f64), |_| count(class.rows as u64)),
                Cell::of(class.real, percent),
                Cell::of(class.synthetic, percent),
                Cell::of(class.auc_real, figure),
                Cell::of(class.auc_synthetic, figure),
            ]
        })
        .collect();
    let by_class = match rows.is_empty() {
        true => String::new(),
        false => table(
            "Class by class, the rarest first: recall is the part of its rows that are found, AUC how well it is told from \
             all others",
            false,
            &heads(&["Class", "#Rows", "#Recall, real", "#Recall, synthetic", "#AUC, real", "#AUC, synthetic"]),
            &rows,
        ),
    };
    let auc = own.auc_synthetic.zip(own.auc_real).map_or(String::new(), |(synthetic, real)| {
        let of = if own.classes.len() > 2 { ", the mean of each class against all others," } else { "" };
        format!(" The AUC{of} is {}, and {} after real rows; a coin has 0.5.", figure(synthetic), figure(real))
    });
    format!(
        "<h3>{}</h3>\n<p class=\"lead\">A logistic regression that learnt from {} synthetic rows tells {} of {} other \
         real rows rightly; one that learnt from as many real rows, {}; whoever always says the commonest class, \
         {}.{auc}</p>\n{}{by_class}{}",
        named(&own.label),
        count(own.training as u64),
        percent(own.synthetic),
        count(own.testing as u64),
        percent(own.real),
        percent(own.commonest),
        place(&format!("learning-accuracy-{i}")),
        place(&format!("learning-weights-{i}"))
    )
}

fn strata(own: &StrataPanel) -> String {
    let mut heads_of = name_heads(&own.labels);
    heads_of.extend(heads(&[
        "#Real rows",
        "#Real share",
        "#Synthetic share",
        "#Error of means",
        "#Error of deviations",
    ]));
    let rows: Vec<Vec<Cell>> = (own.strata.iter())
        .map(|stratum| {
            let mut row: Vec<Cell> = stratum.values.iter().map(|value| Cell::name(value)).collect();
            row.push(Cell::of(Some(stratum.real_rows as f64), |_| count(stratum.real_rows)));
            row.push(Cell::of(Some(stratum.real), percent));
            row.push(Cell::of(Some(stratum.synthetic), percent));
            row.push(Cell::of(stratum.mean_error, figure));
            row.push(Cell::of(stratum.deviation_error, figure));
            row
        })
        .collect();
    let left_out = match own.left_out {
        0 => String::new(),
        more => format!(" {} larger groups are not listed.", count(more as u64)),
    };
    format!(
        "<p class=\"lead\">Small groups lose most: the noise is the same for all, and weighs more where rows are few. \
         Shares differ by {} in total variation.{left_out}</p>\n{}{}",
        figure(own.variation),
        place("strata-chart"),
        table("Groups, smallest first; errors in units of the widths", false, &heads_of, &rows)
    )
}

fn validity(own: &ValidityPanel) -> String {
    let broken = own.rules.iter().filter(|rule| rule.broken > 0).count();
    let rows: Vec<Vec<Cell>> = (own.rules.iter())
        .map(|rule| {
            let verdict = if rule.broken == 0 { "✓ kept" } else { "✗ broken" };
            vec![
                Cell::name(&rule.what),
                Cell::name(&rule.rule),
                Cell::of(Some(rule.broken as f64), |_| {
                    format!("{verdict}, {} of {}", count(rule.broken), count(rule.of))
                }),
                Cell::of(rule.missing.map(|[real, _]| real), percent),
                Cell::of(rule.missing.map(|[_, synthetic]| synthetic), percent),
            ]
        })
        .collect();
    let words = match broken {
        0 => format!("The synthetic table keeps all {} rules of the schema.", count(own.rules.len() as u64)),
        1 => format!("1 of {} rules is broken.", count(own.rules.len() as u64)),
        more => format!("{} of {} rules are broken.", count(more as u64), count(own.rules.len() as u64)),
    };
    let heads = heads(&["What", "Rule", "#Broken", "#Missing, real", "#Missing, synthetic"]);
    format!("<p class=\"lead\">{words}</p>\n{}", table("Rules, broken ones first", false, &heads, &rows))
}

fn predicted(own: &PredictedPanel) -> String {
    let correlations = own
        .correlations
        .map_or(String::new(), |error| format!(" A correlation is typically off by {}.", figure(error)));
    let pairs = if own.pairs.is_empty() { String::new() } else { place("predicted-pairs") };
    format!(
        "<p class=\"lead\">The intervals come from the released numbers and the known law of their noise. They are \
         meant to hold {} of the real numbers.{correlations}</p>\n{}{pairs}",
        percent(own.level),
        place("predicted-columns")
    )
}

fn cited(cite: &str) -> String {
    format!(
        "<blockquote id=\"citation\" dir=\"auto\">{}</blockquote>\n\
         <p><button type=\"button\" id=\"copy\" class=\"needs-script\" hidden>Copy</button> \
         <span role=\"status\" id=\"copied\"></span></p>\n",
        escaped(cite)
    )
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn a_reason_becomes_a_sentence() {
        for (reason, whole) in [
            ("it needs the real rows", "It needs the real rows."),
            ("It needs the real rows.", "It needs the real rows."),
            ("`synth` made it", "`synth` made it."),
        ] {
            assert_eq!(sentence(reason), whole);
        }
    }
}
