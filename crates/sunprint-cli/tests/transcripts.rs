//! Every transcript under `tests/transcripts` says what the program says.

mod support;

use std::fs;

#[test]
fn transcripts_are_up_to_date() {
    let update = std::env::var_os("UPDATE_TRANSCRIPTS").is_some_and(|value| value == "1");
    let mut stale = Vec::new();
    for transcript in support::all() {
        let played = transcript.play();
        if played != transcript.text {
            if update {
                fs::write(&transcript.path, played).unwrap();
            } else {
                stale.push(format!("{}:\n{}", transcript.name(), difference(&transcript.text, &played)));
            }
        }
    }
    assert!(
        stale.is_empty(),
        "the program says something else (UPDATE_TRANSCRIPTS=1 writes it down):\n\n{}",
        stale.join("\n")
    );
}

#[test]
fn every_command_has_its_help_in_a_transcript() {
    let commands: Vec<Vec<String>> = support::all().iter().flat_map(support::Transcript::commands).collect();
    for command in ["demo", "schema", "check", "plan", "fit", "sample", "synth", "show", "evaluate", "ledger", "audit"]
    {
        let help = [command.to_owned(), "--help".to_owned()];
        assert!(commands.iter().any(|words| *words == help), "`sunprint {command} --help` is in no transcript");
    }
}

#[test]
fn no_transcript_shows_a_panic() {
    for transcript in support::all() {
        assert!(!transcript.text.contains("because of a bug"), "{}", transcript.name());
    }
}

/// A sentence of each kind of error, as some transcript shows it; or why the command line cannot come to it.
const KINDS: [(&str, Result<&str, &str>); 9] = [
    ("Usage", Ok("`epsilon` must be a number between")),
    ("Schema", Ok("is still \"?\"")),
    ("Data", Ok("and the header names 3 columns")),
    ("Io", Ok("the file does not exist")),
    ("Budget", Ok("of its ceiling")),
    ("Model", Ok("this is not a whole Sunprint model")),
    ("Protocol", Err("the local runner answers every pass with its own tally")),
    ("Ledger", Ok("this is not a ledger of Sunprint")),
    ("Stopped", Err("whoever stops the command line ends its process")),
];

#[test]
fn every_kind_of_error_is_in_a_transcript() {
    let source = include_str!("../../sunprint/src/error.rs");
    let body = source.split("pub enum Kind {").nth(1).unwrap().split("\n}").next().unwrap();
    let kinds: Vec<&str> = body.lines().filter_map(|line| line.trim().strip_suffix(',')).collect();
    let listed: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, listed, "a kind of error has no transcript");
    let transcripts = support::all();
    let said = || transcripts.iter().flat_map(support::Transcript::said).filter(|line| line.starts_with("error: "));
    for (kind, sentence) in KINDS.iter().filter_map(|(kind, shown)| shown.ok().map(|sentence| (kind, sentence))) {
        assert!(said().any(|line| line.contains(sentence)), "no transcript shows an error of kind {kind}");
    }
}

/// The lines from the first difference on, a few of each.
fn difference(kept: &str, played: &str) -> String {
    let same = kept.lines().zip(played.lines()).take_while(|(one, other)| one == other).count();
    let some = |text: &str, mark: &str| -> String {
        text.lines().skip(same).take(12).map(|line| format!("{mark} {line}\n")).collect()
    };
    format!("from line {}\n{}{}", same + 1, some(kept, "-"), some(played, "+"))
}
