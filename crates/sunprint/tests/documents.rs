//! The documents and the code name one another, and no name leads nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn files(folder: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, ending, found);
        } else if path.extension().is_some_and(|extension| extension == ending) {
            found.push(path);
        }
    }
}

/// The numbers behind every "docs/proofs.md, Lemma".
fn lemmas_named(text: &str) -> BTreeSet<usize> {
    // Comments may break the line anywhere between the words.
    let flat = text.replace("//!", " ").replace("///", " ").replace("//", " ");
    let flat = flat.split_whitespace().collect::<Vec<_>>().join(" ");
    let number = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().unwrap();
    flat.split("docs/proofs.md, Lemma ").skip(1).map(number).collect()
}

#[test]
fn every_lemma_is_named_by_the_code_that_relies_on_it() {
    let proofs = fs::read_to_string(root().join("docs/proofs.md")).unwrap();
    let parts: Vec<&str> = proofs.split("\n### Lemma ").skip(1).collect();
    let mut named: BTreeMap<PathBuf, BTreeSet<usize>> = BTreeMap::new();
    let source = root().join("crates/sunprint/src");
    let mut all = Vec::new();
    files(&source, "rs", &mut all);
    for path in all {
        let lemmas = lemmas_named(&fs::read_to_string(&path).unwrap());
        assert!(lemmas.iter().all(|&lemma| 1 <= lemma && lemma <= parts.len()), "{}: {lemmas:?}", path.display());
        named.insert(path.strip_prefix(&source).unwrap().to_path_buf(), lemmas);
    }
    let mut listed: BTreeMap<PathBuf, BTreeSet<usize>> = BTreeMap::new();
    for (i, part) in parts.iter().enumerate() {
        let lemma = i + 1;
        assert!(part.starts_with(&format!("{lemma}: ")), "lemma {lemma} is out of order");
        assert!(part.contains("\nProof. ") && part.contains('∎'), "lemma {lemma} has no proof");
        let code =
            part.lines().find_map(|line| line.strip_prefix("Code: ")).expect("a line that says where it is used");
        for path in code.split('`').skip(1).step_by(2) {
            listed.entry(path.into()).or_default().insert(lemma);
        }
    }
    named.retain(|_, lemmas| !lemmas.is_empty());
    assert_eq!(named, listed, "what the code names, and where the document says that it does");
    assert!(parts.len() >= 26);
}

#[test]
fn names_are_found_across_lines() {
    assert_eq!(lemmas_named("//! see docs/proofs.md,\n//! Lemma 12, and docs/proofs.md, Lemma 3."), [3, 12].into());
    assert!(lemmas_named("/// Farkas' lemma 7").is_empty());
}

/// A heading as a link writes it.
fn anchor(heading: &str) -> String {
    let kept =
        heading.to_lowercase().chars().filter(|c| c.is_alphanumeric() || *c == ' ' || *c == '-').collect::<String>();
    kept.replace(' ', "-")
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut documents = Vec::new();
    files(&root().join("docs"), "md", &mut documents);
    documents.extend(["README.md", "SECURITY.md", "CHANGELOG.md", "CONTRIBUTING.md"].map(|name| root().join(name)));
    let mut links = 0;
    for document in documents {
        let text = fs::read_to_string(&document).unwrap();
        for target in text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            links += 1;
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let path = if file.is_empty() { document.clone() } else { document.parent().unwrap().join(file) };
            assert!(path.exists(), "{}: {target}", document.display());
            if !heading.is_empty() {
                let text = fs::read_to_string(&path).unwrap();
                let mut headings = text.lines().filter(|line| line.starts_with('#'));
                let found = headings.any(|line| anchor(line.trim_start_matches('#').trim()) == heading);
                assert!(found, "{}: {target}", document.display());
            }
        }
    }
    assert!(links > 30, "the documents were read");
}

#[test]
fn the_documents_of_trust_are_there() {
    for (name, words) in [
        ("docs/privacy-promise.md", ["73", "e^ε", "one row", "δ"]),
        ("docs/threat-model.md", ["swap", "clock", "ledger", "evaluate"]),
        ("docs/known-limits.md", ["row", "covertype", "signed", "time"]),
        ("SECURITY.md", ["privacy bug", "report", "neighbours", "threat-model.md"]),
    ] {
        let text = fs::read_to_string(root().join(name)).unwrap();
        words.iter().for_each(|word| assert!(text.contains(word), "{name} says nothing of {word}"));
    }
}
