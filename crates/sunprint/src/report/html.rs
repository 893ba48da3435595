//! A report as one HTML file: nothing from elsewhere, light and dark, for the screen, for a phone and for paper.
//!
//! What matters most can be read without scripts: banner, headline, promise, W1 and every short table are written here.
//! Charts, search and sorting are drawn by the scripts in `assets` with Observable Plot from the numbers that stand in
//! the page as JSON. Whatever comes from the data is text: escaped here, and set as `textContent` there.

mod panels;
mod parts;
mod promise;
mod verdict;

use super::page::{Origin, Page};
use crate::error::{Error, Kind, Result};
use crate::markup::{base64, escaped};
use parts::named;
use sha2::{Digest, Sha256};

/// How the page looks.
const STYLE: &str = include_str!("assets/style.css");

/// The library that draws the charts, and the one that it stands on.
const LIBRARY: [&str; 2] = [include_str!("assets/vendor/d3.min.js"), include_str!("assets/vendor/plot.umd.min.js")];

/// Our own scripts, in order: they share one scope.
const SCRIPTS: [&str; 10] = [
    include_str!("assets/words.js"),
    include_str!("assets/charts.js"),
    include_str!("assets/tables.js"),
    include_str!("assets/distributions.js"),
    include_str!("assets/overview.js"),
    include_str!("assets/columns.js"),
    include_str!("assets/matrices.js"),
    include_str!("assets/directions.js"),
    include_str!("assets/groups.js"),
    include_str!("assets/start.js"),
];

/// The style that Plot puts into every chart, letter by letter: the page names its hash, so that it needs to allow no
/// other.
const STYLE_OF_PLOT: &str = ":where(.plot-d6a7b5) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.plot-d6a7b5 text),
:where(.plot-d6a7b5 tspan) {
  white-space: pre;
}";

/// The page as one file.
///
/// Nothing in it is fetched: its policy forbids every source but the styles and scripts whose hashes it names, and
/// pictures that it has drawn itself.
pub fn html(page: &Page) -> Result<String> {
    let scripts = [LIBRARY[0].to_string(), LIBRARY[1].to_string(), own_script()];
    let numbers = embedded(page)?;
    let title = match page.dataset.is_empty() {
        true => "Report on a synthetic table".to_string(),
        false => format!("Report on {}", named(&page.dataset)),
    };
    let plain_title = match page.dataset.is_empty() {
        true => title.clone(),
        false => format!("Report on {}", escaped(&page.dataset)),
    };
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en-GB\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n\
         <title>{plain_title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#main\">Skip to the report</a>\n",
        policy(&scripts)
    );
    let words = match page.origin {
        Origin::Curator => {
            "<strong>Curator only.</strong> Computed from private rows without noise: do not publish this page, \
             nor any number on it that is marked “curator only”."
        }
        Origin::Released => {
            "<strong>Public.</strong> Made from the release alone: no private row was read, and this page is safe to \
             publish."
        }
    };
    let kind = parts::class(page.origin);
    text.push_str(&format!(
        "<header class=\"top\">\n<p class=\"banner {kind}\" id=\"banner\">{words}</p>\n\
         <div class=\"masthead\"><p class=\"house\">Sunprint</p>\
         <button type=\"button\" id=\"theme\" class=\"needs-script\" hidden>Dark theme</button></div>\n\
         <h1>{title}</h1>\n</header>\n"
    ));
    let panels = panels::all(page);
    text.push_str(&panels::contents(&panels));
    text.push_str("<main id=\"main\" tabindex=\"-1\">\n");
    text.push_str(&verdict::headline(page));
    text.push_str(
        "<noscript><p class=\"aside\">Charts, search and sorting need JavaScript, which is switched off here. The \
         numbers in the tables do not.</p></noscript>\n",
    );
    panels.iter().for_each(|panel| text.push_str(&panel.to_html()));
    text.push_str(&panels::absent(page));
    text.push_str(&format!(
        "</main>\n<footer>\n<p>Made by Sunprint {}. This file is the whole report: it fetches nothing.</p>\n\
         <p><button type=\"button\" id=\"save\" class=\"needs-script\" hidden>Save the numbers (JSON)</button></p>\n\
         </footer>\n<script type=\"application/json\" id=\"numbers\">{numbers}</script>\n",
        escaped(page.version)
    ));
    scripts.iter().for_each(|script| text.push_str(&format!("<script>{script}</script>\n")));
    text.push_str("</body>\n</html>\n");
    Ok(text)
}

/// Our scripts in one, which leaves nothing behind in the window.
fn own_script() -> String {
    format!("(function () {{\n\"use strict\";\n{}}})();\n", SCRIPTS.concat())
}

/// What the page may load: styles and scripts by their hashes, and pictures that stand in it.
fn policy(scripts: &[String]) -> String {
    let hash = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text)));
    let scripts: Vec<String> = scripts.iter().map(|script| hash(script)).collect();
    format!(
        "default-src 'none'; script-src {}; style-src {} {}; img-src data:; base-uri 'none'; form-action 'none'",
        scripts.join(" "),
        hash(STYLE),
        hash(STYLE_OF_PLOT)
    )
}

/// The numbers as JSON that can stand in a page: the letters that markup or old scripts would take for their own only
/// occur within strings, where JSON can spell them by their numbers.
fn embedded(page: &Page) -> Result<String> {
    let json = serde_json::to_string(page)
        .map_err(|error| Error::new(Kind::Io, format!("the report cannot be written as JSON: {error}")))?;
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => safe.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => safe.push(letter),
        }
    }
    Ok(safe)
}

#[cfg(test)]
#[path = "html_tests.rs"]
mod tests;
