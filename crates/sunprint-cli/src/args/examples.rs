//! Examples in the help and in the readme are understood by the program.

use super::command;

/// The words after `sunprint`, up to a comment, a pipe or a redirection.
fn words(line: &str) -> Vec<&str> {
    let spoken = line.split(['#', '|', '<', '>']).next().unwrap_or_default();
    spoken.split_whitespace().collect()
}

fn assert_understood(line: &str) {
    let parsed = command().try_get_matches_from(words(line));
    let asked_for_help = |error: &clap::Error| error.kind() == clap::error::ErrorKind::DisplayHelp;
    assert!(parsed.as_ref().err().is_none_or(asked_for_help), "{line}: {}", parsed.unwrap_err());
}

#[test]
fn clap_finds_no_contradiction() {
    command().debug_assert();
}

#[test]
fn every_example_of_the_readme_is_understood() {
    let readme = include_str!("../../../../README.md");
    let examples: Vec<&str> = readme.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    let ours: Vec<&&str> = examples.iter().filter(|line| line.starts_with("sunprint ")).collect();
    assert!(ours.len() >= 8, "the tour has {} lines", ours.len());
    ours.into_iter().for_each(|line| assert_understood(line));
}

#[test]
fn every_example_of_the_help_is_understood() {
    for subcommand in command().get_subcommands() {
        let help = subcommand.get_after_help().map(ToString::to_string).unwrap_or_default();
        let examples: Vec<&str> = help.lines().map(str::trim).filter(|line| line.starts_with("sunprint ")).collect();
        assert!(!examples.is_empty(), "{} has no example", subcommand.get_name());
        examples.into_iter().for_each(assert_understood);
    }
}
