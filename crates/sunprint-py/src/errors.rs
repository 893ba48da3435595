//! Errors of the library as exceptions, with the same sentence and the same hint.

use pyo3::prelude::*;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError};
use sunprint::error::{Error, Kind};

/// The class in `sunprint._errors` for a kind of error.
fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Usage => "UsageError",
        Kind::Schema => "SchemaError",
        Kind::Data => "DataError",
        Kind::Io => "FileError",
        Kind::Budget => "BudgetError",
        Kind::Model => "ModelError",
        Kind::Protocol => "ProtocolError",
        Kind::Ledger => "LedgerError",
        _ => "SunprintError",
    }
}

/// The exception for an error.
pub(crate) fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let (sentence, hint) = (in_python(&error.to_string()), error.advice().map(in_python));
    exception(py, class(error.kind()), &sentence, hint.as_deref())
}

/// The result of a call to the library.
pub(crate) fn returned<T>(py: Python<'_>, result: sunprint::error::Result<T>) -> PyResult<T> {
    result.map_err(|error| raise(py, &error))
}

fn exception(py: Python<'_>, class: &str, sentence: &str, hint: Option<&str>) -> PyErr {
    let made = py.import("sunprint._errors").and_then(|module| module.getattr(class)?.call1((sentence, hint)));
    made.map_or_else(|error| error, PyErr::from_value)
}

/// Options as parameters: `` `--spill-dir` `` is `` `spill_dir` `` here, and `` `--mechanism psmm` `` is
/// `` `mechanism="psmm"` ``.
fn in_python(text: &str) -> String {
    let option = |quoted: &str| {
        let option = quoted.strip_prefix("--")?;
        let (name, value) = option.split_once(' ').map_or((option, None), |(name, value)| (name, Some(value)));
        let name = name.replace('-', "_");
        Some(value.map_or_else(|| name.clone(), |value| format!("{name}=\"{value}\"")))
    };
    let part = |(number, part): (usize, &str)| match option(part) {
        Some(parameter) if number % 2 == 1 => parameter,
        _ => part.to_string(),
    };
    text.split('`').enumerate().map(part).collect::<Vec<_>>().join("`")
}

/// Where in the source code the last panic was.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// A panic's message may quote a value, and values may be private: nothing of it is printed. The hook is that of this
/// library alone; other extensions have their own.
pub(crate) fn keep_panics_quiet() {
    panic::set_hook(Box::new(|info| {
        if sunprint::source::panic_is_caught() {
            return;
        }
        // The last two parts of the path, which name no folder of the machine that built the library.
        let place = info.location().map_or_else(String::new, |place| {
            let mut parts: Vec<&str> = place.file().rsplit(['/', '\\']).take(2).collect();
            parts.reverse();
            format!(" at {}:{}", parts.join("/"), place.line())
        });
        *PLACE.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }));
}

/// The exception for a panic: where it was, and nothing of what it said.
pub(crate) fn bug(py: Python<'_>) -> PyErr {
    let place = PLACE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let sentence = format!("sunprint stopped because of a bug{place}");
    exception(py, "InternalError", &sentence, Some("please report it, with the code but without any data"))
}

/// Runs short work that may see private numbers; a panic becomes an exception that shows none of them.
pub(crate) fn contained<T>(py: Python<'_>, work: impl FnOnce() -> sunprint::error::Result<T>) -> PyResult<T> {
    match panic::catch_unwind(AssertUnwindSafe(work)) {
        Ok(outcome) => returned(py, outcome),
        Err(_) => Err(bug(py)),
    }
}

/// What somebody else's code raised: its class alone, for its words may quote a value. Our own exceptions, which the shell
/// raises on the way, stay what they are.
pub(crate) fn foreign(py: Python<'_>, error: &PyErr, what: &str) -> Error {
    let text =
        |name: &str| error.value(py).getattr(name).and_then(|text| text.extract::<Option<String>>()).ok().flatten();
    let ours = py.import("sunprint._errors").and_then(|module| module.getattr("SunprintError"));
    if ours.is_ok_and(|class| error.is_instance(py, &class))
        && let Some(sentence) = text("sentence")
    {
        let plain = Error::new(Kind::Data, sentence);
        return text("hint").map_or(plain.clone(), |hint| plain.hint(hint));
    }
    let name = error.get_type(py).name().map_or_else(|_| "an exception".to_string(), |name| format!("`{name}`"));
    Error::new(Kind::Data, format!("{what} raised {name}"))
        .hint("its message is not repeated, for it may quote a value; try the same outside of sunprint to see it")
}
