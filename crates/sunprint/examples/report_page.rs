//! Pages of made-up numbers, for `tests/browser` and for whoever changes how a report looks.
//!
//! `cargo run --release -p sunprint --example report_page FOLDER`

#[path = "report_page/figures.rs"]
mod figures;
#[path = "report_page/panels.rs"]
mod panels;

use figures::Chance;
use std::path::Path;
use sunprint::report::html;
use sunprint::report::page::{Absent, FORMAT, Headline, Origin, Page};

/// Names that try to be something else than text.
const HOSTILE: [&str; 12] = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "\"quoted\" and 'quoted'",
    "a & b &amp; c &lt;",
    "עמודה מימין לשמאל",
    "\u{202e}turned around\u{202c}",
    "🦆🦆 ducks",
    "javascript:alert(3)",
    "<!-- a comment",
    "line\u{2028}separator",
    "a-name-without-any-place-to-break-that-goes-on-and-on-and-on-until-nobody-reads-it-any-more-at-all",
    "{{constructor}} ${alert(4)} `tick`",
];

/// A page with nothing on it but why.
fn bare(origin: Origin, dataset: &str) -> Page {
    Page {
        format: FORMAT,
        origin,
        dataset: dataset.to_string(),
        version: "0.1.0",
        headline: Headline { origin, notices: Vec::new(), sentence: String::new(), notes: Vec::new() },
        verdict: None,
        privacy: None,
        distances: None,
        columns: None,
        correlations: None,
        plane: None,
        spectrum: None,
        learning: None,
        strata: None,
        validity: None,
        changed: None,
        predicted: None,
        cite: None,
        absent: Vec::new(),
    }
}

/// A page for the curator about columns of these names.
fn curator(dataset: &str, names: &[String]) -> Page {
    let chance = &mut Chance(7);
    let mut page = bare(Origin::Curator, dataset);
    page.headline.sentence =
        "Good: single columns and groups. Usable: pairs of columns. Poor: whole rows. Not judged: learning."
            .to_string();
    page.headline.notices =
        vec![format!("The schema changed 10.7 % of the real cells of {} (3,500 not among the categories).", names[0])];
    page.headline.notes = vec![
        "The smallest group has 9 rows, and its means are off by 0.21 of the widths.".to_string(),
        "Every rule of the schema is kept.".to_string(),
    ];
    page.verdict = Some(panels::verdict(names));
    page.changed = Some(panels::changed(names));
    page.privacy = Some(panels::privacy());
    page.distances = Some(panels::distances());
    page.columns = Some(panels::columns(names, chance));
    page.correlations = Some(panels::correlations(names, true, chance));
    page.plane = Some(panels::plane(names, true, chance));
    page.spectrum = Some(panels::spectrum(names.len()));
    page.learning = Some(panels::learning(names, chance));
    page.strata = Some(panels::strata(chance));
    page.validity = Some(panels::validity(names));
    page.absent = absent(&["predicted", "cite"], "It is on the public page: `sunprint report --public`.");
    page
}

/// A page for everybody.
fn public(dataset: &str, names: &[String]) -> Page {
    let chance = &mut Chance(11);
    let mut page = bare(Origin::Released, dataset);
    page.headline.sentence = "Means should be within 0.4 % of the widths, correlations within 0.03.".to_string();
    page.headline.notes = vec!["Groups below some 200 rows are mostly noise.".to_string()];
    page.privacy = Some(panels::privacy());
    page.correlations = Some(panels::correlations(names, false, chance));
    page.plane = Some(panels::plane(names, false, chance));
    page.spectrum = Some(panels::spectrum(names.len()));
    page.predicted = Some(panels::predicted(names, chance));
    page.cite = Some("People, synthetic table made by Sunprint 0.1.0 with ε = 1 (pure), 2026.".to_string());
    page.absent = absent(
        &["verdict", "distances", "columns", "learning", "strata", "validity", "changed"],
        "It needs the private rows.",
    );
    page
}

/// Names of labels, classes and categories that try to be something else, too.
fn hostile_labels(mut page: Page) -> Page {
    if let Some(strata) = &mut page.strata {
        strata.labels = vec!["#number?".to_string(), HOSTILE[0].to_string()];
        strata.strata[0].values = vec![HOSTILE[1].to_string(), HOSTILE[4].to_string()];
    }
    if let Some(learning) = &mut page.learning {
        learning.labels[0].label = HOSTILE[1].to_string();
        learning.labels[0].by_class[0].class = HOSTILE[0].to_string();
    }
    if let Some(privacy) = &mut page.privacy {
        privacy.stages[0].name = HOSTILE[2].to_string();
        privacy.unit = HOSTILE[0].to_string();
    }
    page
}

fn absent(panels: &[&'static str], why: &str) -> Vec<Absent> {
    panels.iter().map(|panel| Absent { panel, why: why.to_string() }).collect()
}

fn empty() -> Page {
    let mut page = bare(Origin::Released, "");
    page.headline.sentence = "There is nothing to compare.".to_string();
    let all = [
        "verdict",
        "changed",
        "privacy",
        "distances",
        "columns",
        "correlations",
        "plane",
        "spectrum",
        "learning",
        "strata",
        "validity",
    ];
    page.absent = absent(&[&all[..], &["predicted", "cite"]].concat(), "There is neither a model nor a table.");
    page
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("say into which folder the pages go")?;
    std::fs::create_dir_all(&folder)?;
    let demo: Vec<String> = figures::DEMO.iter().map(|name| (*name).to_string()).collect();
    let wide = |width: usize| (0..width).map(|i| format!("gene_{i:04}")).collect::<Vec<_>>();
    let hostile: Vec<String> = HOSTILE.iter().map(|name| (*name).to_string()).collect();
    for (name, page) in [
        ("demo", curator("people", &demo)),
        ("wide-100", curator("expression", &wide(100))),
        ("wide-200", curator("expression", &wide(200))),
        ("wide-1000", curator("expression", &wide(1_000))),
        ("public", public("people", &demo)),
        ("public-wide", public("expression", &wide(1_000))),
        ("hostile", hostile_labels(curator(HOSTILE[1], &hostile))),
        ("hostile-public", public(HOSTILE[0], &hostile)),
        ("empty", empty()),
    ] {
        std::fs::write(Path::new(&folder).join(format!("{name}.html")), html(&page)?)?;
    }
    Ok(())
}
