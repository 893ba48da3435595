//! Files that the command line itself reads and writes: models, receipts, schemas, public bases.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sunprint::error::{Error, Kind, Result};
use sunprint::model::MOST_BYTES;

use sunprint::receipt::Receipt;
use sunprint::source::{AtomicFile, Existing, Format, Input, Output};

/// The name of stdin and stdout.
pub const STREAM: &str = "-";

/// Whether a path means stdin or stdout.
pub fn is_stream(path: &Path) -> bool {
    path == Path::new(STREAM) || path == Path::new("/dev/stdout")
}

/// Which option says a format that a name does not say.
pub fn format_hint(option: &str) -> String {
    format!("say it with `{option}`: one of {}", Format::ALL.map(Format::word).join(", "))
}

/// Refuses, before any row is read, an output that cannot be written, or that would replace one of the inputs or a file
/// that is to be kept.
pub fn check_output(option: &str, output: &Path, inputs: &[&Path], existing: Existing) -> Result<()> {
    if output.as_os_str().is_empty() {
        return Err(Error::new(Kind::Usage, format!("`{option}` is empty")).hint("name a file, or `-` for stdout"));
    }
    let place = Output::new(output, None).over(existing);
    // First, so that no hint speaks of replacing an input.
    let is_input = |input: &&&Path| !is_stream(input) && place.is(&Input::new(**input, None));
    let input = inputs.iter().find(is_input).map(|input| Input::new(*input, None));
    place.check(input.as_ref())
}

/// Refuses two options that want the same place, before anything is read.
pub fn check_apart(outputs: &[(&str, &Path)]) -> Result<()> {
    for (i, (option, path)) in outputs.iter().enumerate() {
        if let Some((other, _)) = outputs[..i].iter().find(|(_, earlier)| earlier == path) {
            let place = if is_stream(path) { "stdout".to_owned() } else { format!("`{}`", path.display()) };
            return Err(Error::new(Kind::Usage, format!("`{other}` and `{option}` both want {place}"))
                .hint("give one of them a file of its own"));
        }
    }
    Ok(())
}

/// Writes a whole file beside its place, then renames it: a reader finds the old file or the new one, never half of
/// one. `-` is stdout.
pub fn write_whole(output: &Path, text: &str, existing: Existing) -> Result<()> {
    if is_stream(output) {
        return print(text);
    }
    write(AtomicFile::create(output, existing), output, text)
}

/// The same for what is private: the file can be read by its owner alone.
pub fn write_private(output: &Path, text: &str, existing: Existing) -> Result<()> {
    if is_stream(output) {
        return print(text);
    }
    write(AtomicFile::create(output, existing).map(AtomicFile::for_the_owner), output, text)
}

fn write(file: Result<AtomicFile>, output: &Path, text: &str) -> Result<()> {
    let mut file = file?;
    file.write_all(text.as_bytes()).map_err(|fault| {
        let place = output.display().to_string();
        match fault.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Error::new(Kind::Io, "the disk is full").at(place).hint("free some space, or write to another folder")
            }
            _ => Error::new(Kind::Io, "the output cannot be written").at(place).hint("check the path and the disk"),
        }
    })?;
    file.finish()
}

/// Writes a receipt: plain text, or JSON if the name ends in .json.
pub fn write_receipt(path: &Path, receipt: &Receipt, existing: Existing) -> Result<()> {
    let json = path.extension().is_some_and(|extension| extension == "json");
    let text = if json { to_json(receipt)? } else { receipt.to_string() };
    write_whole(path, &text, existing)
}

/// A public value as indented JSON with a newline.
pub fn to_json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string_pretty(value)
        .map(|text| text + "\n")
        .map_err(|_| Error::new(Kind::Io, "the result cannot be written as JSON"))
}

/// Reads a public file, which may come from anybody: a model, a receipt, a public basis. None of them is longer than
/// the longest model, and a device may have no end.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|fault| unreadable(path, &fault))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Error::new(Kind::Io, "the file is too large")
            .at(path.display().to_string())
            .hint("models and receipts are at most 1 GiB long"));
    }
    Ok(bytes)
}

/// Why a public file cannot be read.
pub fn unreadable(path: &Path, fault: &io::Error) -> Error {
    let (rule, hint) = match fault.kind() {
        io::ErrorKind::NotFound => ("the file does not exist", "check the path"),
        io::ErrorKind::IsADirectory => ("this is a directory, not a file", "give the path of a file in it"),
        io::ErrorKind::PermissionDenied => ("the file may not be read", "check the rights of the file"),
        _ => ("the file cannot be read", "check the path and the disk"),
    };
    Error::new(Kind::Io, rule).at(path.display().to_string()).hint(hint)
}

/// Prints to stdout. A reader that has heard enough (`| head`) is not an error.
pub fn print(text: &str) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(fault) if fault.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(Kind::Io, "stdout cannot be written").hint("check where it leads, and the space there"))
        }
        _ => Ok(()),
    }
}
