//! The page that goes out with a release says everything, in both forms, and no name can break out of it.

mod common;

use common::{fit, plan, promise, random_rows, schema, table};
use sunprint::ledger::Entry;
use sunprint::plan::Method;
use sunprint::privacy::Kernel;
use sunprint::receipt::{Block, Receipt, Statement};
use sunprint::schema::{Column, ColumnKind, Role, Schema};

const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "\"quoted' & <b>bold</b>",
    "--><img src=x onerror=alert(1)>",
    "مرحبا بالعالم",
    "turned \u{202e}dnuora\u{202c} and \u{200f}hidden",
    "bell \u{7} and \u{1b}[31mred\u{1b}[0m",
    "line\nbreak\r\u{2028}",
    "👩‍🔬 🧪",
];

fn hostile_schema() -> Schema {
    let mut schema = schema(0, 1);
    schema.dataset.name = HOSTILE.join(" ");
    let column = |name: &&str| Column::new(*name, ColumnKind::continuous(0.0, 1.0), Role::Feature);
    schema.columns = HOSTILE.iter().map(column).collect();
    schema.columns.push(Column::new("c", ColumnKind::categorical(HOSTILE), Role::Label));
    schema
}

fn statement_of(receipt: &Receipt, schema: &Schema) -> (Statement, String, String) {
    let statement = Statement::of(receipt, schema);
    let (text, html) = (statement.to_text(), statement.to_html());
    (statement, text, html)
}

fn receipts() -> Vec<Receipt> {
    let codes = table(2, &random_rows(2, 2, 400, 3));
    let mut all = Vec::new();
    for method in [Method::Default, Method::Paper, Method::Cube, Method::Gaussian] {
        for delta in [None, Some("1e-6"), Some("0.01")] {
            let model = fit(&codes, &schema(2, 2), plan(method), promise("1", delta), Kernel::new().unwrap()).unwrap();
            let mut receipt = model.receipt().clone();
            receipt.ledger = delta.map(|_| Entry { number: 12, hash: "cd".repeat(32) });
            all.push(receipt);
        }
    }
    all
}

/// Every string of a statement.
fn strings(statement: &Statement) -> Vec<&String> {
    let mut all = vec![&statement.title];
    for section in &statement.sections {
        all.push(&section.heading);
        for block in &section.blocks {
            match block {
                Block::Heading(words) | Block::Words(words) => all.push(words),
                Block::List(points) => all.extend(points),
                Block::Facts(facts) => all.extend(facts.iter().flat_map(|(name, what)| [name, what])),
                Block::Table { head, rows } => {
                    assert!(rows.iter().all(|row| row.len() == head.len()));
                    all.extend(head.iter().skip(1).chain(rows.iter().flatten()));
                }
            }
        }
    }
    all
}

/// What a reader sees of a page: tags and style gone, entities undone, spaces as one.
fn seen(html: &str) -> String {
    let body = html.split("</style>").nth(1).unwrap();
    let mut text = String::new();
    for (i, piece) in body.split('<').enumerate() {
        text.push(' ');
        text.push_str(if i == 0 { piece } else { piece.split_once('>').unwrap().1 });
    }
    let undone = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    one_line(&undone.iter().fold(text, |text, (entity, letter)| text.replace(entity, letter)))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn text_and_html_say_the_same() {
    for receipt in receipts() {
        let (statement, text, html) = statement_of(&receipt, &schema(2, 2));
        let (text, page) = (one_line(&text), seen(&html));
        for string in strings(&statement) {
            let string = one_line(string);
            assert!(text.contains(&string), "the text lacks: {string}");
            assert!(page.contains(&string), "the page lacks: {string}");
        }
    }
}

#[test]
fn everything_that_was_promised_is_in_it() {
    for receipt in receipts() {
        let text = one_line(&statement_of(&receipt, &schema(2, 2)).1);
        let mut facts = vec![receipt.sentence(), receipt.unit.clone(), receipt.epsilon.to_string(), "rows 400".into()];
        facts.extend(receipt.delta.iter().map(ToString::to_string));
        facts.extend(receipt.spent.iter().flat_map(|spent| [spent.sensitivity.clone(), spent.noise.clone()]));
        facts.extend(receipt.stages.iter().map(|stage| stage.mechanism.clone()));
        facts.extend(receipt.remarks.iter().cloned());
        facts.push("73:27".to_string());
        facts.push("continuous, 0 to 1".to_string());
        facts.push("categorical, c0 | c1 (label)".to_string());
        facts.push(format!("Sunprint {}", receipt.version));
        facts.push("which is the whole budget".to_string());
        facts.push(match &receipt.ledger {
            Some(entry) => format!("number 12 ledger hash {}", entry.hash),
            None => "none: this release was recorded in no ledger".to_string(),
        });
        for fact in facts {
            assert!(text.contains(&one_line(&fact)), "the statement lacks: {fact}\n{text}");
        }
        // A δ that is not below 1/n is called what it is.
        let large = receipt.delta.is_some_and(|delta| delta.to_string() == "0.01");
        assert_eq!(large, text.contains("a release of one row in the clear would keep it"));
    }
}

#[test]
fn no_name_breaks_out_of_the_page() {
    let schema = hostile_schema();
    let mut receipt = receipts().remove(0);
    let name = HOSTILE.join(" ");
    receipt.dataset = name.clone();
    receipt.version = name.clone();
    receipt.unit = name.clone();
    receipt.remarks = vec![name.clone()];
    receipt.stages[0].mechanism = name.clone();
    receipt.spent[0].noise = name.clone();
    let (statement, text, html) = statement_of(&receipt, &schema);
    // The page has the tags that the same page has without such names, and no other.
    let tags = |html: &str| html.matches('<').count();
    let mut plain = schema.clone();
    plain.columns.iter_mut().take(HOSTILE.len()).for_each(|column| column.name = "x".to_string());
    plain.columns[HOSTILE.len()].kind = ColumnKind::categorical(["a", "b"]);
    let mut tame = receipt.clone();
    tame.remarks = vec!["x".to_string()];
    for text in [&mut tame.dataset, &mut tame.version, &mut tame.unit, &mut tame.stages[0].mechanism] {
        *text = "x".to_string();
    }
    tame.spent[0].noise = "x".to_string();
    assert_eq!(tags(&html), tags(&Statement::of(&tame, &plain).to_html()));
    for form in [&text, &html] {
        let hidden = |c: char| c.is_control() && c != '\n' || ('\u{2028}'..='\u{202e}').contains(&c) || c == '\u{200f}';
        assert!(!form.contains(hidden), "what cannot be seen is spelt out");
        assert!(
            form.contains("\\u{202e}") && form.contains("\\u{1b}[31m") && form.contains("مرحبا") && form.contains('🧪')
        );
    }
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("<b>"));
    assert!(html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
    let (text, page) = (one_line(&text), seen(&html));
    for string in strings(&statement) {
        assert!(text.contains(&one_line(string)) && page.contains(&one_line(string)), "{string}");
    }
}

#[test]
fn the_page_needs_nothing_else() {
    let html = statement_of(&receipts()[1], &schema(2, 2)).2;
    for word in ["http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<iframe", "javascript:"] {
        assert!(!html.contains(word), "{word}");
    }
    assert!(
        html.contains("prefers-color-scheme:dark")
            && html.contains("@media print")
            && html.contains("default-src 'none'")
    );
    assert_eq!((html.matches("<h1>").count(), html.matches("<h2>").count()), (1, 6));
    for tag in [
        "main", "section", "h1", "h2", "h3", "p", "ul", "li", "dl", "dt", "dd", "table", "thead", "tbody", "tr", "th",
        "td",
    ] {
        let opened = html.matches(&format!("<{tag}>")).count() + html.matches(&format!("<{tag} ")).count();
        assert_eq!(opened, html.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn a_receipt_that_spent_more_than_it_had_is_called_out() {
    let mut receipt = receipts().remove(0);
    receipt.spent.push(receipt.spent[0].clone());
    assert!(one_line(&statement_of(&receipt, &schema(2, 2)).1).contains("MORE than the budget"));
}

#[test]
fn lines_fit_a_screen() {
    for receipt in receipts() {
        let text = statement_of(&receipt, &schema(2, 2)).1;
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
