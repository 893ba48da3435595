//! Rules between columns: `a <= b`, `a + b = c`, `2 * a >= b - 3`.
//!
//! A rule is a text with two sums and a sign between them. It is read here into whole numbers, without rounding.

use super::rules::Fault;
use super::{Column, ColumnKind, Scale};
use serde::{Deserialize, Serialize};

/// The largest number of constraints.
pub const MOST_CONSTRAINTS: usize = 256;

/// One rule between columns that every row obeys; rows that are drawn are moved until they do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Constraint {
    /// The rule as it is written, for instance `a + b = c`.
    pub rule: String,
}

/// A decimal number, exactly: `mantissa / 10^decimals`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    pub mantissa: i128,
    pub decimals: u32,
}

/// How the two sides compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    AtMost,
    Below,
    Equal,
}

/// `Σ factor · column` compared with a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Linear {
    /// Columns by their place in the schema, each once, none with factor 0.
    pub terms: Vec<(usize, Exact)>,
    pub relation: Relation,
    pub bound: Exact,
}

/// A broken rule, and the byte of the rule's text that it is about.
pub(super) type Refusal = (usize, Fault);

const FORM: &str = "write for instance `a <= b`, `a + b = c` or `2 * a >= b - 3`";

fn refuse<T>(at: usize, rule: impl Into<String>, hint: impl Into<String>) -> Result<T, Refusal> {
    Err((at, Fault { key: "rule", rule: rule.into(), hint: hint.into() }))
}

#[derive(Clone, Debug, PartialEq)]
enum Token<'a> {
    Name(&'a str),
    Number(Exact),
    Plus,
    Minus,
    Times,
    Compare(&'static str),
}

/// The words of a rule with their places.
fn tokens(text: &str) -> Result<Vec<(usize, Token<'_>)>, Refusal> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let compare = ["<=", ">=", "==", "<", ">", "="].into_iter().find(|sign| rest.starts_with(sign));
        let (token, length) = if let Some(sign) = compare {
            (Token::Compare(if sign == "==" { "=" } else { sign }), sign.len())
        } else if let Some(inner) = rest.strip_prefix('`') {
            let Some(end) = inner.find('`') else {
                return refuse(at, format!("the rule `{text}` has no second backtick"), "names stand in two backticks");
            };
            (Token::Name(&inner[..end]), end + 2)
        } else if first.is_ascii_digit() || first == '.' {
            let length = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            (Token::Number(number(&rest[..length], at)?), length)
        } else if first.is_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.').unwrap_or(rest.len());
            (Token::Name(&rest[..length]), length)
        } else if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
            continue;
        } else {
            match first {
                '+' => (Token::Plus, 1),
                '-' => (Token::Minus, 1),
                '*' => (Token::Times, 1),
                other => {
                    let hint = "put names with spaces or signs in backticks; the signs are + - * <= >= = < >";
                    return refuse(at, format!("`{}` has no meaning in a rule", other.escape_debug()), hint);
                }
            }
        };
        found.push((at, token));
        rest = &rest[length..];
    }
    Ok(found)
}

/// A number of up to eighteen digits.
fn number(text: &str, at: usize) -> Result<Exact, Refusal> {
    let (before, behind) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{before}{behind}");
    if digits.is_empty() || digits.len() > 18 || behind.contains('.') {
        let hint = "write numbers in digits with one point, for instance 2 or 0.25, and up to eighteen digits";
        return refuse(at, format!("`{text}` is not a number that a rule can have"), hint);
    }
    let mantissa = digits.bytes().fold(0i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
    Ok(Exact { mantissa, decimals: behind.len() as u32 })
}

impl Exact {
    fn plus(self, other: Exact) -> Exact {
        let decimals = self.decimals.max(other.decimals);
        // Up to 256 numbers of 18 digits with 18 more behind: below 10^39 only as long as rules are short, so saturate;
        // what is as large as that is refused when the rule is put on the grids of its columns.
        let lift = |x: Exact| x.mantissa.saturating_mul(10i128.pow(decimals - x.decimals));
        Exact { mantissa: lift(self).saturating_add(lift(other)), decimals }
    }

    fn minus(self) -> Exact {
        Exact { mantissa: -self.mantissa, ..self }
    }
}

/// Reads a rule between these columns.
pub(super) fn read(text: &str, columns: &[Column]) -> Result<Linear, Refusal> {
    let tokens = tokens(text)?;
    let compares: Vec<usize> = (0..tokens.len()).filter(|&i| matches!(tokens[i].1, Token::Compare(_))).collect();
    let &[middle] = compares.as_slice() else {
        let at = compares.get(1).map_or(0, |&i| tokens[i].0);
        let rule = format!("the rule `{text}` must compare two sums once");
        return refuse(at, rule, format!("{FORM}; a chain is two constraints"));
    };
    let Token::Compare(sign) = tokens[middle].1 else { return refuse(0, "no comparison", FORM) };
    let mut terms: Vec<(usize, Exact)> = Vec::new();
    let mut bound = Exact { mantissa: 0, decimals: 0 };
    // Everything goes to the left, the numbers to the right; `>=` and `>` turn the signs round.
    let turned = sign.starts_with('>');
    for (side, other_side) in [(&tokens[..middle], turned), (&tokens[middle + 1..], !turned)] {
        for part in parts(side, text, if other_side == turned { 0 } else { tokens[middle].0 })? {
            let factor = if part.negative != other_side { part.factor.minus() } else { part.factor };
            let Some((at, name)) = part.name else {
                bound = bound.plus(factor.minus());
                continue;
            };
            let column = named(name, at, columns)?;
            match terms.iter_mut().find(|(known, _)| *known == column) {
                Some((_, sum)) => *sum = sum.plus(factor),
                None => terms.push((column, factor)),
            }
        }
    }
    terms.retain(|(_, factor)| factor.mantissa != 0);
    if terms.is_empty() {
        return refuse(0, format!("the rule `{text}` says nothing about a column"), FORM);
    }
    let relation = match sign {
        "=" => Relation::Equal,
        "<" | ">" => Relation::Below,
        _ => Relation::AtMost,
    };
    let linear = Linear { terms, relation, bound };
    dates(text, &linear, columns)?;
    Ok(linear)
}

/// One part of a sum.
struct Part<'a> {
    negative: bool,
    factor: Exact,
    name: Option<(usize, &'a str)>,
}

/// The parts of a sum: numbers, names, and products of a number and a name.
fn parts<'a>(tokens: &[(usize, Token<'a>)], text: &str, start: usize) -> Result<Vec<Part<'a>>, Refusal> {
    let mut parts = Vec::new();
    let mut i = 0;
    while i < tokens.len() || parts.is_empty() {
        let at = tokens.get(i).map_or(start, |(at, _)| *at);
        let mut negative = false;
        match tokens.get(i).map(|(_, token)| token) {
            Some(sign @ (Token::Plus | Token::Minus)) => {
                negative = *sign == Token::Minus;
                i += 1;
            }
            _ if parts.is_empty() => {}
            _ => return refuse(at, format!("the rule `{text}` lacks a `+` or `-` between two parts"), FORM),
        }
        let one = Exact { mantissa: 1, decimals: 0 };
        let token = |i: usize| tokens.get(i).map(|(at, token)| (*at, token));
        let times = matches!(token(i + 1), Some((_, Token::Times)));
        let (part, length) = match (token(i), token(i + 2).filter(|_| times)) {
            (Some((_, &Token::Number(factor))), Some((at, &Token::Name(name)))) => ((factor, Some((at, name))), 3),
            (Some((at, &Token::Name(name))), Some((_, &Token::Number(factor)))) => ((factor, Some((at, name))), 3),
            (Some((at, &Token::Name(name))), None) if !times => ((one, Some((at, name))), 1),
            (Some((_, &Token::Number(factor))), None) if !times => ((factor, None), 1),
            _ => {
                let at = tokens.get(i).map_or(at, |(at, _)| *at);
                let rule = format!("the rule `{text}` is not a comparison of two sums");
                return refuse(at, rule, format!("{FORM}; a product has one number and one column"));
            }
        };
        parts.push(Part { negative, factor: part.0, name: part.1 });
        i += length;
    }
    Ok(parts)
}

/// The column of a name, if rules can be about it.
fn named(name: &str, at: usize, columns: &[Column]) -> Result<usize, Refusal> {
    let Some(c) = columns.iter().position(|column| column.name == name) else {
        let hint = "use the names of the schema's columns; put names with spaces or signs in backticks";
        return refuse(at, format!("a constraint names column `{name}`, which the schema does not describe"), hint);
    };
    let kind = &columns[c].kind;
    if matches!(kind, ColumnKind::Boolean { .. } | ColumnKind::Categorical { .. }) {
        let rule = format!("column `{name}` is {} and cannot be in a constraint", kind.word());
        return refuse(at, rule, "constraints are between continuous and integer columns, or between two dates");
    }
    if kind.scale() == Scale::Cyclic {
        let hint = "on a circle nothing is above or below; constraints need `scale = \"linear\"` or \"log\"";
        return refuse(at, format!("column `{name}` is cyclic and cannot be in a constraint"), hint);
    }
    Ok(c)
}

/// Dates are compared with dates of their own kind and nothing else.
fn dates(text: &str, linear: &Linear, columns: &[Column]) -> Result<(), Refusal> {
    let kind = |c: usize| match columns[c].kind {
        ColumnKind::Date { .. } => 1,
        ColumnKind::Datetime { .. } => 2,
        _ => 0,
    };
    if linear.terms.iter().all(|&(c, _)| kind(c) == 0) {
        return Ok(());
    }
    let one = |x: Exact| x.mantissa.abs() == 10i128.pow(x.decimals);
    let compared = match linear.terms[..] {
        [(a, x), (b, y)] => kind(a) == kind(b) && one(x) && one(y) && (x.mantissa < 0) != (y.mantissa < 0),
        _ => false,
    };
    if compared && linear.bound.mantissa == 0 {
        return Ok(());
    }
    let rule = format!("the rule `{text}` does more with dates than compare two of them");
    refuse(0, rule, "write for instance `born <= died`, both of kind date or both of kind datetime")
}
