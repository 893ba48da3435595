//! Small changes to a file.

use crate::dice::Dice;
use serde_json::{Map, Value, json};

/// What a file is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Nothing known.
    Bytes,
    /// Lines of words and numbers.
    Text,
    /// A tree.
    Json,
    /// A byte that says which, and bytes with a checksum at the end, which is put right most of the time.
    Summed,
}

const NUMBERS: [&str; 24] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "0.5",
    "1e308",
    "-1e308",
    "1e309",
    "1e-320",
    "5e-324",
    "1e30",
    "1e31",
    "255",
    "256",
    "65535",
    "65536",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211455",
    "-9223372036854775808",
];

/// One to four changes to one of the files.
pub(super) fn mutate(dice: &mut Dice, files: &[Vec<u8>], form: Form, words: &[&str]) -> Vec<u8> {
    let mut bytes = dice.pick(files).clone();
    for _ in 0..=dice.below(4) {
        match form {
            Form::Json if !dice.once_in(3) => change_tree(dice, &mut bytes),
            Form::Json | Form::Text if dice.once_in(2) => change_text(dice, &mut bytes, words),
            _ => change_bytes(dice, &mut bytes, files, words),
        }
    }
    if form == Form::Summed && !dice.once_in(16) && !bytes.is_empty() {
        put_sum_right(&mut bytes[1..]);
    }
    bytes
}

fn span(dice: &mut Dice, length: usize) -> (usize, usize) {
    let start = dice.below(length + 1);
    let most = if dice.once_in(4) { length } else { 16 };
    (start, (start + dice.below(most + 1)).min(length))
}

fn change_bytes(dice: &mut Dice, bytes: &mut Vec<u8>, files: &[Vec<u8>], words: &[&str]) {
    let length = bytes.len();
    let (start, end) = span(dice, length);
    match dice.below(9) {
        0 if length > 0 => bytes[start.min(length - 1)] ^= 1 << dice.below(8),
        1 if length > 0 => bytes[start.min(length - 1)] = dice.bits() as u8,
        2 => drop(bytes.drain(start..end)),
        3 => {
            let copy = bytes[start..end].to_vec();
            let times = if dice.once_in(20) { 200 } else { 1 };
            bytes.splice(start..start, copy.repeat(times));
        }
        4 => bytes.truncate(start),
        5 => {
            let other = dice.pick(files);
            let (from, to) = span(dice, other.len());
            bytes.splice(start..end, other[from..to].iter().copied());
        }
        6 => {
            let number = *dice.pick(&[
                0_u64,
                1,
                0x7F,
                0x80,
                0xFF,
                0xFFFF,
                1 << 16,
                1 << 31,
                1 << 32,
                1 << 40,
                1 << 63,
                u64::MAX,
            ]);
            let width = *dice.pick(&[1, 2, 4, 8]);
            for (place, byte) in bytes.iter_mut().skip(start).zip(&number.to_le_bytes()[..width]) {
                *place = *byte;
            }
        }
        7 if !words.is_empty() => drop(bytes.splice(start..end, dice.pick(words).bytes())),
        _ => bytes.insert(start, dice.bits() as u8),
    }
}

/// Changes a number, a line, or puts a word in.
fn change_text(dice: &mut Dice, bytes: &mut Vec<u8>, words: &[&str]) {
    let from = dice.below(bytes.len() + 1);
    let digit = |byte: &u8| byte.is_ascii_digit();
    match dice.below(5) {
        0 | 1 => {
            if let Some(start) = bytes[from..].iter().position(digit).map(|at| from + at) {
                let length = bytes[start..].iter().take_while(|byte| digit(byte) || **byte == b'.').count();
                bytes.splice(start..start + length, dice.pick(&NUMBERS).bytes());
            }
        }
        2 => {
            // A line, away or twice or elsewhere.
            let start = bytes[..from].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let end = bytes[from..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| from + at + 1);
            let line = bytes[start..end].to_vec();
            match dice.below(3) {
                0 => drop(bytes.drain(start..end)),
                1 => drop(bytes.splice(start..start, line)),
                _ => {
                    bytes.drain(start..end);
                    let to = dice.below(bytes.len() + 1);
                    let to = bytes[..to].iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
                    bytes.splice(to..to, line);
                }
            }
        }
        3 => {
            // What stands behind an equals sign.
            if let Some(start) = bytes[from..].iter().position(|&byte| byte == b'=').map(|at| from + at + 1) {
                let end = bytes[start..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| start + at);
                let word = if words.is_empty() || dice.once_in(2) { *dice.pick(&NUMBERS) } else { dice.pick(words) };
                bytes.splice(start..end, format!(" {word}").bytes());
            }
        }
        _ if !words.is_empty() => drop(bytes.splice(from..from, dice.pick(words).bytes())),
        _ => {}
    }
}

fn change_tree(dice: &mut Dice, bytes: &mut Vec<u8>) {
    let Ok(mut tree) = serde_json::from_slice::<Value>(bytes) else {
        bytes.truncate(bytes.len() / 2);
        return;
    };
    let other = some_part(dice, &tree).clone();
    let depth = dice.below(9);
    change_part(dice, &mut tree, depth, other);
    if let Ok(text) = serde_json::to_vec(&tree) {
        *bytes = text;
    }
}

fn some_part<'a>(dice: &mut Dice, mut tree: &'a Value) -> &'a Value {
    for _ in 0..dice.below(9) {
        tree = match tree {
            Value::Array(parts) if !parts.is_empty() => dice.pick(parts),
            Value::Object(parts) if !parts.is_empty() => {
                let which = dice.below(parts.len());
                parts.values().nth(which).unwrap_or(tree)
            }
            _ => break,
        };
    }
    tree
}

fn change_part(dice: &mut Dice, part: &mut Value, depth: usize, other: Value) {
    match part {
        Value::Array(parts) if depth > 0 && !parts.is_empty() => {
            let which = dice.below(parts.len());
            match dice.below(12) {
                0 => drop(parts.remove(which)),
                1 => parts.push(parts[which].clone()),
                2 => parts.insert(which, other),
                3 => parts.truncate(which),
                _ => change_part(dice, &mut parts[which], depth - 1, other),
            }
        }
        Value::Object(parts) if depth > 0 && !parts.is_empty() => {
            let which = dice.below(parts.len());
            let key = parts.keys().nth(which).cloned().unwrap_or_default();
            match dice.below(16) {
                0 => drop(parts.remove(&key)),
                1 => drop(parts.insert(key + "x", other)),
                _ => change_part(dice, &mut parts[&key], depth - 1, other),
            }
        }
        _ => *part = something(dice, other),
    }
}

fn something(dice: &mut Dice, other: Value) -> Value {
    match dice.below(10) {
        0 => Value::Null,
        1 => json!(dice.once_in(2)),
        2 => json!([]),
        3 => Value::Object(Map::new()),
        4 => json!(*dice.pick(&[
            "",
            "x",
            "../../etc/passwd",
            "/dev/full",
            "\u{1b}[2J",
            "\0",
            "1/0",
            "1/3",
            "NaN",
            "é\u{202e}"
        ])),
        5 => (0..dice.below(200)).fold(json!(1), |inner, _| json!([inner])),
        6 => Value::Array(vec![other; dice.below(40)]),
        7 => other,
        _ => {
            let number: &&str = dice.pick(&NUMBERS);
            serde_json::from_str(number).unwrap_or(Value::Null)
        }
    }
}

/// The checksum of a tally on the wire.
fn put_sum_right(bytes: &mut [u8]) {
    if let Some((body, sum)) = bytes.split_last_chunk_mut::<8>() {
        let fold = |sum: u64, byte: &u8| (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
        *sum = body.iter().fold(0xCBF2_9CE4_8422_2325, fold).to_le_bytes();
    }
}
