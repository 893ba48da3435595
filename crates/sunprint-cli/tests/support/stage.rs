//! What stands on the stage of a transcript.
//!
//! ```text
//! file people.csv            the lines that follow, each behind `|`
//! bytes people.csv           the same with `\xff` for a byte, and no line end that is not written as `\n`
//! people people.csv 50       a made-up table of that many rows with the columns age, height and smokes
//! wide wide 10000            wide.csv and wide.toml with that many columns
//! nested nested.parquet      a Parquet file whose column `age` holds lists
//! folder results             a folder
//! copy a.sunprint b.sunprint 100     the first so many bytes of a file, or all of it
//! ```

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::builder::{Int64Builder, ListBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;

/// Sets something up; says whether the line was understood.
pub fn set(line: &str, content: &[&str], folder: &Path) -> bool {
    let words: Vec<&str> = line.split(' ').collect();
    let place = |name: &str| folder.join(name);
    match words[..] {
        ["file", name] => {
            let text: String = content.iter().map(|line| format!("{line}\n")).collect();
            fs::write(place(name), text).unwrap();
        }
        ["bytes", name] => fs::write(place(name), unescaped(&content.concat())).unwrap(),
        ["people", name, rows] => fs::write(place(name), people(rows.parse().unwrap())).unwrap(),
        ["wide", name, columns] => wide(folder, name, columns.parse().unwrap()),
        ["nested", name] => nested(&place(name)),
        ["folder", name] => fs::create_dir(place(name)).unwrap(),
        ["copy", from, to] => fs::write(place(to), fs::read(place(from)).unwrap()).unwrap(),
        ["copy", from, to, length] => {
            let bytes = fs::read(place(from)).unwrap();
            fs::write(place(to), &bytes[..length.parse().unwrap()]).unwrap();
        }
        _ => return false,
    }
    true
}

/// What a line that only looks shows.
pub fn show(line: &str, folder: &Path) -> Option<String> {
    if line == "$ ls" {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        return Some(names.iter().map(|name| format!("  {name}\n")).collect());
    }
    let name = line.strip_prefix("$ shape ")?;
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let mut lines = text.lines();
    let header = lines.next().unwrap_or("nothing");
    let (count, delimiters) = (lines.clone().count(), |line: &str| line.matches([',', '\t']).count());
    let even = lines.all(|line| delimiters(line) == delimiters(header));
    Some(format!("  {header}, and {count} {}lines\n", if even { "" } else { "uneven " }))
}

/// Every file below a folder, with its content.
pub fn everything(folder: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(everything(&path));
            found.insert(path, None);
        } else {
            let content = fs::read(&path).ok();
            found.insert(path, content);
        }
    }
    found
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at + 1..];
        if let Some(hex) = rest.strip_prefix('x') {
            bytes.push(u8::from_str_radix(&hex[..2], 16).unwrap());
            rest = &hex[2..];
        } else {
            assert!(rest.starts_with('n'), "an unknown escape: {text}");
            bytes.push(b'\n');
            rest = &rest[1..];
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn people(rows: u64) -> String {
    let mut text = "age,height,smokes\n".to_owned();
    for i in 0..rows {
        let _ =
            writeln!(text, "{},{}.5,{}", 20 + i * 7 % 60, 150 + i * 7 % 60 / 2, if i % 3 == 0 { "yes" } else { "no" });
    }
    text
}

fn wide(folder: &Path, name: &str, columns: usize) {
    let names: Vec<String> = (0..columns).map(|i| format!("c{i}")).collect();
    let row = vec!["1"; columns].join(",");
    fs::write(folder.join(format!("{name}.csv")), format!("{}\n{row}\n{row}\n", names.join(","))).unwrap();
    let column = |name: &String| format!("[[column]]\nname = \"{name}\"\nkind = \"integer\"\nmin = 0\nmax = 9\n");
    let columns: String = names.iter().map(column).collect();
    fs::write(folder.join(format!("{name}.toml")), format!("[dataset]\nname = \"{name}\"\n{columns}")).unwrap();
}

fn nested(path: &Path) {
    let mut lists = ListBuilder::new(Int64Builder::new());
    lists.append_value([Some(41), Some(42)]);
    let batch = RecordBatch::try_from_iter([("age", Arc::new(lists.finish()) as ArrayRef)]).unwrap();
    let mut writer = ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
}
