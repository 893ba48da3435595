//! A ledger for people, and as CSV.

use std::fmt::Write;
use std::path::Path;

use sunprint::ledger::{Account, Book, Concentrated, Limit, Recorded, Sum, Total, Way};
use sunprint::privacy::Ratio;

use crate::words::counted;

/// What the totals mean.
const MEANING: &str = "Together: what all entries promise at once, by whichever of two ways gives the smaller epsilon: \
                       the plain sum,\nwhich is also what ceilings are compared with, or zCDP, which is better for many \
                       fits with a delta. Everything\ncounts that was reserved and not withdrawn.\n";

/// All accounts, one below the other.
pub fn plain(path: &Path, book: &Book, accounts: &[Account]) -> String {
    let end = book.head().map(|(_, hash)| format!(", the last with hash {hash:.16}…")).unwrap_or_default();
    let mut text = format!("Ledger {}: {}{end}\n", path.display(), counted(book.events().len() as u64, "event"));
    for account in accounts {
        let total = &account.total;
        let _ = writeln!(text, "\nDataset `{}`", account.dataset.escape_debug());
        together(&mut text, total);
        line(&mut text, "ceiling", &account.limit.map_or("none".to_owned(), |limit| ceiling(&limit, total)));
        if !account.entries.is_empty() {
            table(&mut text, &account.entries);
        }
    }
    if !accounts.is_empty() {
        let _ = write!(text, "\n{MEANING}");
    }
    text
}

fn line(text: &mut String, title: &str, what: &str) {
    let _ = writeln!(text, "  {title:<10}{what}");
}

/// The smaller of the two totals, and which it is. Where that is not the sum, the sum stands below it: ceilings are
/// compared with it.
fn together(text: &mut String, total: &Total) {
    let sum = promise(&total.epsilon, &total.delta);
    match &total.concentrated {
        Some(Concentrated { rho, epsilon: Some(epsilon) }) if total.smaller == Way::Zcdp => {
            let (epsilon, rho) = (rounded_up(*epsilon), rounded_up(rho.as_float_above()));
            line(text, "together", &format!("ε = {epsilon}, δ = {} (by zCDP, ρ = {rho})", total.delta));
            line(text, "in sum", &sum);
        }
        _ => line(text, "together", &format!("{sum} (the plain sum)")),
    }
}

fn promise(epsilon: &Sum, delta: &Sum) -> String {
    if delta.is_zero() { format!("ε = {epsilon}, pure") } else { format!("ε = {epsilon}, δ = {delta}") }
}

/// A ceiling, and what is left below it.
pub fn ceiling(limit: &Limit, total: &Total) -> String {
    let part = |name: &str, ceiling: Ratio, spent: &Sum| {
        let ceiling = Sum::from(ceiling);
        format!("{name} = {ceiling} ({} left)", ceiling.less(spent))
    };
    let epsilon = part("ε", limit.epsilon, &total.epsilon);
    if limit.delta.is_zero() {
        format!("{epsilon}, no δ")
    } else {
        format!("{epsilon}, {}", part("δ", limit.delta, &total.delta))
    }
}

/// Five digits, never below the number.
fn rounded_up(number: f64) -> String {
    if number <= 0.0 || !number.is_finite() {
        return number.to_string();
    }
    let unit = 10_f64.powi(number.log10().floor() as i32 - 4);
    let short = format!("{:.4e}", number).parse().unwrap_or(number);
    let up = if short < number { short + unit } else { short };
    let decimals = (-unit.log10().round()).clamp(0.0, 40.0) as usize;
    format!("{up:.decimals$}")
}

fn table(text: &mut String, entries: &[Recorded]) {
    let header = ["entry", "time (UTC)", "ε", "δ", "method", "state"].map(str::to_owned);
    let row = |entry: &Recorded| {
        let delta = entry.delta.map_or("–".to_owned(), |delta| delta.to_string());
        let time = entry.time.replace('T', " ").replace('Z', "");
        let method = entry.method.escape_debug().to_string();
        let state = entry.state.word().to_owned();
        [entry.number.to_string(), time.escape_debug().to_string(), entry.epsilon.to_string(), delta, method, state]
    };
    let rows: Vec<[String; 6]> = std::iter::once(header).chain(entries.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "  {}", cells.join("  ").trim_end());
    }
}

/// One line for each entry.
pub fn csv(accounts: &[Account]) -> String {
    let mut text = "entry,time,dataset,state,epsilon,delta,rho,method,version,schema,hash\n".to_owned();
    let mut entries: Vec<&Recorded> = accounts.iter().flat_map(|account| &account.entries).collect();
    entries.sort_by_key(|entry| entry.number);
    for entry in entries {
        let amount = |ratio: Option<Ratio>| ratio.map(|ratio| ratio.to_string()).unwrap_or_default();
        let cells = [
            entry.number.to_string(),
            entry.time.clone(),
            entry.dataset.clone(),
            entry.state.word().to_owned(),
            entry.epsilon.to_string(),
            amount(entry.delta),
            amount(entry.rho),
            entry.method.clone(),
            entry.version.clone(),
            entry.schema.clone(),
            entry.hash.clone(),
        ];
        let _ = writeln!(text, "{}", cells.map(|cell| quoted(&cell)).join(","));
    }
    text
}

/// A cell, in quotes where it needs them.
fn quoted(cell: &str) -> String {
    let plain = !cell.contains([',', '"', '\n', '\r']);
    if plain { cell.to_owned() } else { format!("\"{}\"", cell.replace('"', "\"\"")) }
}

#[cfg(test)]
mod tests {
    use super::{quoted, rounded_up};

    #[test]
    fn numbers_are_rounded_up() {
        for (number, text) in [
            (1.000_000_1, "1.0001"),
            (0.5, "0.50000"),
            (0.012_345_01, "0.012346"),
            (123_456.7, "123460"),
            (9.999_99, "10.0000"),
            (0.0, "0"),
        ] {
            assert_eq!(rounded_up(number), text);
        }
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!([quoted("people"), quoted("a,\"b\"")], ["people", "\"a,\"\"b\"\"\""]);
    }
}
