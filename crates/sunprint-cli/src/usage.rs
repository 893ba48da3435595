//! Wrong usage in our words: clap finds the mistake, this file says it as one sentence and a hint.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::args;
use crate::words::Talk;

/// Prints what is wrong with the command line, or the help that was asked for. Returns the exit code.
pub fn report(error: &clap::Error, talk: Talk) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            let _ = error.print();
            0
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            let _ = error.print();
            2
        }
        _ => {
            let (sentence, advice) = explain(error);
            talk.refuse(sentence, Some(&advice));
            2
        }
    }
}

/// The sentence and the hint for a mistake.
fn explain(error: &clap::Error) -> (String, String) {
    let argument = first(error, ContextKind::InvalidArg);
    let value = first(error, ContextKind::InvalidValue);
    let suggestion = first(error, ContextKind::SuggestedArg)
        .or_else(|| first(error, ContextKind::SuggestedValue))
        .or_else(|| first(error, ContextKind::SuggestedSubcommand));
    let help = help_command();
    let see_help = format!("`{help}` lists what there is");
    let did_you_mean = |fallback: String| match &suggestion {
        Some(word) => format!("did you mean `{}`?", flag(word)),
        None => fallback,
    };

    match (error.kind(), argument, value) {
        (ErrorKind::MissingRequiredArgument, Some(_), _) => {
            let mut missing = all(error, ContextKind::InvalidArg);
            missing.sort_by_key(|name| name.starts_with('-'));
            let names: Vec<String> = missing.iter().map(|name| format!("`{name}`")).collect();
            let sentence = format!("{} {} missing", listed(&names), if names.len() == 1 { "is" } else { "are" });
            (sentence, advice_for_missing(&missing).map_or_else(|| format!("see `{help}`"), str::to_owned))
        }
        (ErrorKind::UnknownArgument, Some(argument), _) if !argument.starts_with('-') => {
            (format!("the argument `{argument}` is one too many"), format!("see `{help}`"))
        }
        (ErrorKind::UnknownArgument, Some(argument), _) => {
            (format!("there is no option `{argument}` here"), did_you_mean(see_help))
        }
        (ErrorKind::InvalidSubcommand, ..) => {
            let word = first(error, ContextKind::InvalidSubcommand).unwrap_or_default();
            (format!("there is no command `{word}`"), did_you_mean("`sunprint --help` lists the commands".to_owned()))
        }
        (ErrorKind::InvalidValue, Some(argument), Some(value)) if value.is_empty() => {
            (format!("`{argument}` needs a value"), format!("see `{help}`"))
        }
        (ErrorKind::InvalidValue, Some(argument), Some(value)) => {
            let valid = all(error, ContextKind::ValidValue);
            let choice = if valid.is_empty() { see_help } else { format!("choose one of {}", valid.join(", ")) };
            (format!("`{}` cannot be `{value}`", flag(&argument)), did_you_mean(choice))
        }
        (ErrorKind::ValueValidation, Some(argument), Some(value)) => {
            let rule = error.source().map(|source| format!(": {source}")).unwrap_or_default();
            (format!("`{}` cannot be `{value}`{rule}", flag(&argument)), format!("see `{help}`"))
        }
        (ErrorKind::ArgumentConflict, Some(argument), _) => match first(error, ContextKind::PriorArg) {
            Some(prior) if prior != argument => (format!("`{argument}` and `{prior}` exclude each other"), see_help),
            _ => (format!("`{argument}` was given twice"), "give it once".to_owned()),
        },
        _ => ("the command line cannot be understood".to_owned(), see_help),
    }
}

/// The advice that helps most where something is missing.
fn advice_for_missing(missing: &[String]) -> Option<&'static str> {
    let lacks = |word: &str| missing.iter().any(|name| name.contains(word));
    if lacks("--schema") {
        Some("`sunprint schema DATA --output FILE` writes a skeleton of the schema for you to fill in")
    } else if lacks("--epsilon") {
        Some("the promise has no default: smaller is more private, and `--epsilon 1` is a common choice")
    } else if lacks("--output") {
        Some("name the file that is to be written, or `--output -` for stdout")
    } else {
        None
    }
}

/// `sunprint fit --help` for a mistake in `sunprint fit …`.
fn help_command() -> String {
    let names = args::names();
    let command = std::env::args().skip(1).find(|word| names.contains(word));
    command.map_or_else(|| "sunprint --help".to_owned(), |command| format!("sunprint {command} --help"))
}

/// The first text of a kind.
fn first(error: &clap::Error, kind: ContextKind) -> Option<String> {
    all(error, kind).into_iter().next()
}

/// Every text of a kind.
fn all(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

/// `--rows <N>` as `--rows`.
fn flag(argument: &str) -> &str {
    argument.split_whitespace().next().unwrap_or(argument)
}

/// `a, b and c`.
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [firsts @ .., last] => format!("{} and {last}", firsts.join(", ")),
    }
}
