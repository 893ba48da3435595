//! A statement as one HTML file: no scripts, nothing from elsewhere, light and dark, for the screen and for paper.

use super::statement::{Block, Section, Statement};
use crate::markup::{base64, escaped};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Quiet, and narrow enough for a phone: there, rows of tables become blocks.
const STYLE: &str = "\
:root{color-scheme:light dark;--ink:#1d2430;--soft:#5a6472;--line:#d5dae1;--page:#fff}
@media(prefers-color-scheme:dark){:root{--ink:#e4e8ee;--soft:#9aa5b4;--line:#39424f;--page:#14181e}}
*{box-sizing:border-box}
body{margin:0 auto;padding:2rem 1.25rem;max-width:56rem;background:var(--page);color:var(--ink);\
font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.7rem;margin:0 0 1rem}
h2{font-size:1.15rem;margin:2rem 0 .5rem;border-bottom:1px solid var(--line);padding-bottom:.25rem}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
p,ul{margin:.5rem 0}
dl{display:grid;grid-template-columns:minmax(7rem,max-content) 1fr;gap:.15rem 1rem;margin:.75rem 0}
dt{color:var(--soft);max-width:16rem}
dd{margin:0}
table{border-collapse:collapse;width:100%;margin:.75rem 0;font-size:.9rem}
th,td{text-align:start;vertical-align:top;padding:.35rem .6rem .35rem 0;border-bottom:1px solid var(--line)}
thead th{color:var(--soft);font-weight:600}
tbody th{font-weight:600}
@media(max-width:40rem){body{padding:1rem}table,tbody,tr,tbody th,td{display:block}thead{display:none}\
tr{border-bottom:1px solid var(--line);padding:.4rem 0}tbody th,td{border:0;padding:.1rem 0}\
td::before{content:attr(data-head) \": \";color:var(--soft)}dl{display:block}dd{margin:0 0 .4rem}}
@media print{:root{--ink:#000;--soft:#333;--line:#999;--page:#fff;color-scheme:light}\
body{padding:0;max-width:none;font-size:9.5pt}tr,dd{break-inside:avoid}h2,h3{break-after:avoid}}";

impl Statement {
    /// The page. Whatever comes from the receipt or the schema is escaped.
    pub fn to_html(&self) -> String {
        let (title, hash) = (escaped(&self.title), base64(&Sha256::digest(STYLE)));
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en-GB\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-{hash}'\">\n\
             <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n"
        );
        self.sections.iter().for_each(|section| put_section(&mut page, section));
        page.push_str("</main>\n</body>\n</html>\n");
        page
    }
}

fn put_section(page: &mut String, section: &Section) {
    let _ = writeln!(page, "<section>\n<h2>{}</h2>", escaped(&section.heading));
    section.blocks.iter().for_each(|block| put_block(page, block));
    page.push_str("</section>\n");
}

/// `dir="auto"` and `<bdi>` keep a name that is written from right to left from turning its surroundings around.
fn put_block(page: &mut String, block: &Block) {
    let _ = match block {
        Block::Heading(heading) => writeln!(page, "<h3>{}</h3>", escaped(heading)),
        Block::Words(words) => writeln!(page, "<p>{}</p>", escaped(words)),
        Block::List(points) => {
            let points: String = points.iter().map(|point| format!("<li>{}</li>\n", escaped(point))).collect();
            writeln!(page, "<ul>\n{points}</ul>")
        }
        Block::Facts(facts) => {
            let fact = |(name, what): &(String, String)| {
                format!("<dt dir=\"auto\">{}</dt>\n<dd><bdi>{}</bdi></dd>\n", escaped(name), escaped(what))
            };
            writeln!(page, "<dl>\n{}</dl>", facts.iter().map(fact).collect::<String>())
        }
        Block::Table { head, rows } => {
            let heads: String = head.iter().map(|cell| format!("<th scope=\"col\">{}</th>", escaped(cell))).collect();
            let row = |cells: &Vec<String>| {
                let cell = |(i, cell): (usize, &String)| match i {
                    0 => format!("<th scope=\"row\" dir=\"auto\">{}</th>", escaped(cell)),
                    i => format!("<td data-head=\"{}\">{}</td>", escaped(&head[i]), escaped(cell)),
                };
                format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
            };
            let rows: String = rows.iter().map(row).collect();
            writeln!(page, "<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table>")
        }
    };
}
