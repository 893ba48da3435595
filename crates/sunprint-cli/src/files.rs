//! Files that the command line writes itself: models, receipts, schemas.
//!
//! A file is written beside its place and renamed into it, so that a reader finds the old file or the new one, never
//! half of one.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sunprint::error::{Error, Kind, Result};

/// The name of stdin and stdout.
pub const STREAM: &str = "-";

/// Refuses, before any row is read, an output that cannot be written or that would overwrite `inputs`.
pub fn check_output(option: &str, output: &Path, inputs: &[&Path]) -> Result<()> {
    if output == Path::new(STREAM) {
        return Ok(());
    }
    let shown = output.display();
    if output.as_os_str().is_empty() || output.file_name().is_none() && !output.is_dir() {
        return Err(Error::new(Kind::Usage, format!("`{option}` must name a file")));
    }
    if output.is_dir() {
        return Err(Error::new(Kind::Io, format!("`{option}` names the folder `{shown}`, and a file is needed"))
            .hint("add a file name"));
    }
    if let Some(input) = inputs.iter().find(|input| same_file(input, output)) {
        return Err(Error::new(Kind::Usage, format!("`{option}` names the file `{}`, which is read", input.display()))
            .hint("choose another name for the output"));
    }
    let folder = folder_of(output);
    if !folder.is_dir() {
        let (trouble, advice) =
            if folder.exists() { ("is not a folder", "choose another") } else { ("does not exist", "create it first") };
        return Err(
            Error::new(Kind::Io, format!("the folder `{}` of `{option}` {trouble}", folder.display())).hint(advice)
        );
    }
    // The one sure way to learn whether a file can be made in a folder is to make one.
    let trial = beside(output);
    create_new(&trial)
        .map(drop)
        .and_then(|()| fs::remove_file(&trial))
        .map_err(|error| cannot_write(output, &error).hint("choose a folder in which you may write"))
}

/// Writes a whole file beside its place, then renames it. `-` is stdout.
pub fn write_whole(output: &Path, bytes: &[u8]) -> Result<()> {
    if output == Path::new(STREAM) {
        return print_bytes(bytes);
    }
    let partial = beside(output);
    let written = create_new(&partial)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&partial, output));
    written.map_err(|error| {
        let _ = fs::remove_file(&partial);
        cannot_write(output, &error)
    })
}

/// Reads a public text file.
pub fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| {
        let rule = format!("`{}` cannot be read: {}", path.display(), reason(&error));
        let refusal = Error::new(Kind::Io, rule);
        if error.kind() == io::ErrorKind::NotFound { refusal.hint("check the name and the folder") } else { refusal }
    })
}

/// Prints to stdout. A reader that has heard enough (`| head`) is not an error.
pub fn print(text: &str) -> Result<()> {
    print_bytes(text.as_bytes())
}

fn print_bytes(bytes: &[u8]) -> Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(Kind::Io, format!("stdout cannot be written: {}", reason(&error))))
        }
        _ => Ok(()),
    }
}

/// Whether two paths lead to one file.
fn same_file(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// `.people.sunprint.1234.partial` in the same folder.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    folder_of(path).join(format!(".{name}.{}.partial", std::process::id()))
}

fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn cannot_write(path: &Path, error: &io::Error) -> Error {
    Error::new(Kind::Io, format!("`{}` cannot be written: {}", path.display(), reason(error)))
}

/// The operating system's reason without its number, as part of a sentence.
fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
