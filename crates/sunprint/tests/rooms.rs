//! The rooms stay apart: every `crate::room` that a room names must be in the table below.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Which rooms a room may name, beside itself. Rooms that are not listed may name nothing.
///
/// * `tally` and `privacy` stand alone, so that their proofs can be read alone (`wipe` only overwrites memory).
/// * `math` is blind to privacy, `schema` is public knowledge.
/// * `measure` and `subspace` see released numbers and public types of the kernel.
/// * `method` says what is asked and what is made of the answers; `fit` is the protocol and knows no measurement by name.
/// * `source` passes rows on to the door.
/// * `infer` makes models of released numbers: it sees no rows and no noise.
/// * `ledger` sees neither rows nor noise: it writes promises down.
/// * `evaluate` sees rows and no noise: what it computes is private, and no room that releases something names it.
/// * `markup` knows nothing: text goes in, safe text comes out.
/// * `report` puts pages together: the curator's from what `evaluate` found, the public one from a model alone. It releases
///   nothing: noise is drawn only for fits of rows that came out of a model.
/// * `markup` knows nothing: text goes in, safe text comes out.
const MAY_NAME: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("cpu", &[]),
    ("wipe", &[]),
    ("markup", &[]),
    ("schema", &["error", "math"]),
    ("door", &["cpu", "schema", "tally", "error"]),
    ("source", &["cpu", "door", "schema", "tally", "error", "wipe"]),
    ("tally", &["cpu", "error", "wipe"]),
    ("privacy", &["error", "wipe"]),
    ("math", &["cpu", "error"]),
    ("measure", &["error", "privacy", "math"]),
    ("subspace", &["privacy", "math", "measure", "plan", "tally"]),
    ("plan", &["error", "math", "privacy", "schema", "tally"]),
    ("infer", &["math", "model", "schema", "tally"]),
    ("ledger", &["error", "math", "privacy", "schema"]),
    ("receipt", &["error", "ledger", "markup", "plan", "privacy", "schema"]),
    ("model", &["door", "error", "math", "measure", "receipt", "schema", "source", "subspace", "tally"]),
    (
        "method",
        &["error", "infer", "math", "measure", "model", "plan", "privacy", "receipt", "schema", "subspace", "tally"],
    ),
    ("fit", &["error", "ledger", "method", "model", "plan", "privacy", "receipt", "schema", "tally"]),
    ("forecast", &["error", "math", "measure", "plan", "privacy", "schema", "subspace", "tally"]),
    ("evaluate", &["error", "math", "schema", "source", "tally"]),
    (
        "report",
        &[
            "door", "error", "evaluate", "fit", "ledger", "markup", "math", "measure", "model", "plan", "privacy",
            "receipt", "schema", "source", "subspace", "tally",
        ],
    ),
    ("run", &["error", "fit", "ledger", "model", "plan", "privacy", "schema", "source", "tally"]),
];

/// The text without comments and without what stands under `#[cfg(test)]` at the end of a file.
fn code(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or(""));
    lines.take_while(|line| *line != "#[cfg(test)]").collect::<Vec<_>>().join("\n")
}

/// The rooms behind `crate::`, also inside braces: `use crate::{a::B, c}`, and in paths within code.
fn named(code: &str) -> BTreeSet<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        let Some(list) = rest.strip_prefix('{') else {
            found.insert(word(rest));
            continue;
        };
        let mut depth = 0;
        let mut fresh = true;
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => fresh = true,
                _ if fresh && !c.is_whitespace() => {
                    found.insert(word(&list[at..]));
                    fresh = false;
                }
                _ => {}
            }
        }
    }
    found
}

/// The edges of a file that the table does not allow.
fn forbidden(room: &str, text: &str) -> Vec<String> {
    let may = MAY_NAME.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, may)| may);
    named(&code(text)).into_iter().filter(|other| other != room && !may.contains(&other.as_str())).collect()
}

/// All files of the library with the room that each belongs to.
fn files(folder: &Path, room: Option<&str>, found: &mut Vec<(String, PathBuf)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
        let room = room.unwrap_or(&stem);
        if path.is_dir() {
            files(&path, Some(room), found);
        } else if path.extension().is_some_and(|extension| extension == "rs") && !stem.ends_with("_tests") {
            found.push((room.to_string(), path));
        }
    }
}

#[test]
fn no_room_names_what_it_may_not() {
    let mut found = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), None, &mut found);
    assert!(found.len() > 50, "the whole library was read");
    let rooms: BTreeSet<&str> = found.iter().map(|(room, _)| room.as_str()).filter(|room| *room != "lib").collect();
    let listed: BTreeSet<&str> = MAY_NAME.iter().map(|(room, _)| *room).collect();
    assert_eq!(rooms, listed, "every room stands in the table, and every room of the table stands");
    for (room, path) in found {
        let edges = forbidden(&room, &std::fs::read_to_string(&path).unwrap());
        assert!(edges.is_empty(), "{}: `{room}` must not name {edges:?}", path.display());
    }
}

/// `unsafe` stands in one file of the library, which is about instructions and not about data, and in one of the Python
/// package, where Arrow's C structs are moved in and out of capsules. It is forbidden in the other crates.
#[test]
fn unsafe_code_is_in_two_files() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for krate in ["sunprint", "sunprint-cli", "sunprint-audit", "sunprint-doors", "sunprint-py"] {
        files(&here.join("..").join(krate).join("src"), None, &mut found);
    }
    let with_unsafe: Vec<_> = found
        .iter()
        .filter(|(_, path)| std::fs::read_to_string(path).unwrap().lines().any(names_unsafe))
        .map(|(_, path)| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(with_unsafe, ["cpu.rs", "capsules.rs"]);
    // Every block of the Python package says why it is sound.
    let capsules = std::fs::read_to_string(here.join("../sunprint-py/src/capsules.rs")).unwrap();
    let blocks = capsules.lines().filter(|line| line.contains("unsafe {")).count();
    assert_eq!((blocks, capsules.matches("// SAFETY: ").count()), (7, 7));
    for (line, expected) in [
        ("    Level::Vnni => unsafe { f() },", true),
        ("#![allow(unsafe_code)]", true),
        ("unsafe fn f() {}", true),
        ("#![forbid(unsafe_code)]", false),
        ("let x = AssertUnwindSafe(work);", false),
        ("// nothing unsafe here", false),
    ] {
        assert_eq!(names_unsafe(line), expected, "{line}");
    }
}

fn names_unsafe(line: &str) -> bool {
    let code = line.split("//").next().unwrap_or("");
    code.contains("allow(unsafe_code)") || code.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "unsafe")
}

/// The control: made-up files with forbidden imports are caught by the same function.
#[test]
fn forbidden_imports_are_caught() {
    for (room, text, edge) in [
        ("tally", "use crate::privacy::Kernel;", "privacy"),
        ("tally", "fn f() { crate::source::open() }", "source"),
        ("privacy", "use crate::{error::Result, tally::{Pass, Work}};", "tally"),
        ("math", "pub use crate::{\n    error::Error,\n    privacy,\n};", "privacy"),
        ("door", "use crate::source::Table; // a comment", "source"),
        ("schema", "pub(in crate::schema) fn f(x: crate::model::Model) {}", "model"),
        ("measure", "use crate::tally::codes::Codes;", "tally"),
        ("attic", "use crate::error::Error;", "error"),
    ] {
        assert_eq!(forbidden(room, text), [edge], "{text}");
    }
    for (room, text) in [
        ("tally", "use crate::error::{Error, Kind};\nuse crate::tally::codes::Q;"),
        ("tally", "// use crate::privacy::Kernel;\n"),
        ("tally", "fn f() {}\n#[cfg(test)]\nmod tests { use crate::privacy::Kernel; }"),
        ("privacy", "pub(in crate::privacy) fn open() {}"),
    ] {
        assert!(forbidden(room, text).is_empty(), "{text}");
    }
}
