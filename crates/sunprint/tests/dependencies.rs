//! What may enter the tree: `deny.toml` is kept to, with nothing but cargo itself.

use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The command line is built from at most so many crates, itself included. Each of them sees the rows: whoever adds one
/// raises this number on purpose.
const MOST_CRATES: usize = 175;
/// The same for the Python package, which has no options to parse and no bars to draw.
const MOST_CRATES_OF_PYTHON: usize = 150;

/// What cargo says to these words, without asking the network.
fn cargo(words: &[&str]) -> String {
    let program = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(program).args(words).args(["--offline", "--locked"]).current_dir(root).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// This machine's platform, as cargo calls it.
fn platform() -> String {
    let output =
        Command::new(std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_string())).arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_string()
}

fn deny() -> toml::Table {
    include_str!("../../../deny.toml").parse().unwrap()
}

fn allowed() -> BTreeSet<String> {
    let list = deny()["licenses"]["allow"].as_array().unwrap().clone();
    list.iter().map(|licence| licence.as_str().unwrap().to_string()).collect()
}

/// What `deny.toml` says of a crate that does not say it itself.
fn clarified(name: &str) -> String {
    let list = deny()["licenses"]["clarify"].as_array().unwrap().clone();
    let found = list.iter().find(|one| one["crate"].as_str() == Some(name));
    found.map_or("none", |one| one["expression"].as_str().unwrap()).to_string()
}

/// Whether an SPDX expression can be met by allowed licences alone: `OR` needs one side, `AND` both. `AND` binds closer;
/// a slash is an old way to write `OR`.
fn may(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let fits = either(&words, &mut at, allowed);
    assert_eq!(at, words.len(), "not an expression: {expression}");
    fits
}

fn either(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut fits = both(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        fits |= both(words, at, allowed);
    }
    fits
}

fn both(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut fits = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        fits &= one(words, at, allowed);
    }
    fits
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let word = words[*at];
    *at += 1;
    if word == "(" {
        let fits = either(words, at, allowed);
        assert_eq!(words.get(*at), Some(&")"));
        *at += 1;
        return fits;
    }
    if words.get(*at) == Some(&"WITH") {
        let exception = format!("{word} WITH {}", words[*at + 1]);
        *at += 2;
        return allowed.contains(&exception);
    }
    allowed.contains(word)
}

#[test]
fn expressions_are_understood() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"].map(str::to_string).into();
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("MIT/Apache-2.0", true),
        ("(MIT OR GPL-3.0) AND Apache-2.0", true),
        ("MIT OR GPL-3.0 AND GPL-2.0", true),
        ("GPL-2.0 AND (MIT OR Apache-2.0)", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("MIT WITH LLVM-exception", false),
    ] {
        assert_eq!(may(expression, &allowed), expected, "{expression}");
    }
}

#[test]
fn licences_and_sources_are_allowed() {
    let (allowed, platform) = (allowed(), platform());
    assert!(allowed.iter().all(|licence| !licence.contains("GPL")), "closed use stays possible");
    let metadata: Value =
        serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--filter-platform", &platform])).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "the whole tree was read");
    let mut registries = std::collections::BTreeSet::new();
    for package in packages {
        let name = package["name"].as_str().unwrap();
        match package["source"].as_str() {
            None => assert!(name.starts_with("sunprint"), "`{name}` comes from a folder"),
            Some(source) => {
                assert!(source.starts_with("registry+"), "`{name}` comes from elsewhere");
                registries.insert(source);
            }
        }
        let licence = package["license"].as_str().map_or_else(|| clarified(name), str::to_string);
        assert!(may(&licence, &allowed), "`{name}` has the licence {licence}, which deny.toml does not allow");
    }
    assert_eq!(registries.len(), 1, "all come from one registry");
}

#[test]
fn deny_toml_says_so_too() {
    let deny = deny();
    let sources = &deny["sources"];
    assert_eq!((sources["unknown-registry"].as_str(), sources["unknown-git"].as_str()), (Some("deny"), Some("deny")));
    assert!(sources.get("allow-registry").is_none(), "the usual registry alone is allowed when none is named");
    assert!(sources["allow-git"].as_array().unwrap().is_empty());
    assert_eq!(deny["bans"]["wildcards"].as_str(), Some("deny"));
}

#[test]
fn what_users_run_is_built_from_few_crates() {
    few_crates("sunprint-cli", MOST_CRATES);
    few_crates("sunprint-py", MOST_CRATES_OF_PYTHON);
}

fn few_crates(package: &str, most: usize) {
    let tree = cargo(&["tree", "--package", package, "--edges", "normal", "--prefix", "none"]);
    let crates: BTreeSet<String> =
        tree.lines().map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" ")).collect();
    assert!(crates.len() > 20, "the tree was read");
    assert!(crates.len() <= most, "`{package}` needs {} crates", crates.len());
    // Nothing in it can speak to a network by a protocol.
    for name in ["hyper", "reqwest", "ureq", "curl", "tokio", "rustls", "native-tls", "openssl", "object_store"] {
        assert!(!crates.iter().any(|line| line.split(' ').next() == Some(name)), "`{name}` is in the tree");
    }
}
