//! Transcripts: what a user types and what comes back, kept as text files and compared with the built program.
//!
//! A transcript is a small play, run from top to bottom in an empty folder of its own:
//!
//! ```text
//! # a remark
//! file people.csv                        makes a file from the lines that follow
//! | age
//! | 41
//! folder results                         makes a folder
//! $ sunprint check people.csv --schema people.toml < input.txt
//!   a line on stdout
//! ! a line on stderr
//! = 1                                    the exit code, left out if it is 0
//! $ ls                                   the files of the folder
//!   people.csv
//! ```
//!
//! Lines that begin with two spaces, `!` or `=` are what came back; everything else is the script. With
//! `UPDATE_TRANSCRIPTS=1` what came back is written into the file.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A transcript on disk.
pub struct Transcript {
    pub path: PathBuf,
    pub text: String,
}

/// Every transcript, by name.
pub fn all() -> Vec<Transcript> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    paths.into_iter().map(|path| Transcript { text: fs::read_to_string(&path).unwrap(), path }).collect()
}

impl Transcript {
    /// The words of every `sunprint` command of the script.
    pub fn commands(&self) -> Vec<Vec<String>> {
        self.text.lines().filter_map(|line| line.strip_prefix("$ sunprint")).map(words).collect()
    }

    /// The transcript as it is now: the script, with what comes back from the built program.
    pub fn play(&self) -> String {
        let stage = tempfile::tempdir().unwrap();
        let mut played = String::new();
        let mut lines = self.text.lines().peekable();
        while let Some(line) = lines.next() {
            if is_reply(line) {
                continue;
            }
            played.push_str(line);
            played.push('\n');
            if let Some(name) = line.strip_prefix("file ") {
                let mut content = String::new();
                while let Some(text) = lines.next_if(|line| line.starts_with('|')) {
                    played.push_str(text);
                    played.push('\n');
                    content.push_str(text.strip_prefix("| ").unwrap_or(&text[1..]));
                    content.push('\n');
                }
                fs::write(stage.path().join(name), content).unwrap();
            } else if let Some(name) = line.strip_prefix("folder ") {
                fs::create_dir(stage.path().join(name)).unwrap();
            } else if line == "$ ls" {
                played.push_str(&list(stage.path()));
            } else if let Some(rest) = line.strip_prefix("$ sunprint") {
                played.push_str(&reply(&run(rest, stage.path()), stage.path()));
            } else {
                assert!(line.is_empty() || line.starts_with('#'), "{}: not a line of a script: {line}", self.name());
            }
        }
        played
    }

    /// The file's name.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap().to_string_lossy().into_owned()
    }
}

fn is_reply(line: &str) -> bool {
    line.starts_with("  ") || line.starts_with('!') || line.starts_with('=')
}

/// Runs the built program in a folder, with nothing of the caller's taste in the environment.
fn run(arguments: &str, folder: &Path) -> Output {
    let mut words = words(arguments);
    let input = words.iter().position(|word| word == "<").map(|at| {
        let name = words.remove(at + 1);
        words.remove(at);
        Stdio::from(File::open(folder.join(name)).unwrap())
    });
    Command::new(env!("CARGO_BIN_EXE_sunprint"))
        .args(words)
        .current_dir(folder)
        .stdin(input.unwrap_or_else(Stdio::null))
        .env("COLUMNS", "100")
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("RUST_BACKTRACE")
        .output()
        .unwrap()
}

/// What came back, as lines of a transcript.
fn reply(output: &Output, folder: &Path) -> String {
    let mut text = String::new();
    for (mark, stream) in [(" ", &output.stdout), ("!", &output.stderr)] {
        for line in normalised(&String::from_utf8_lossy(stream), folder).lines() {
            // An empty line of stdout keeps its mark, so that it can be told from an empty line of the script.
            let _ = writeln!(text, "{mark}{}{line}", if line.is_empty() && mark == "!" { "" } else { " " });
        }
    }
    match output.status.code() {
        Some(0) => {}
        Some(code) => text.push_str(&format!("= {code}\n")),
        None => text.push_str("= killed\n"),
    }
    text
}

/// Puts stable words in the place of what differs from run to run.
fn normalised(text: &str, folder: &Path) -> String {
    let real_folder = fs::canonicalize(folder).unwrap();
    let text =
        text.replace(&*real_folder.to_string_lossy(), "[FOLDER]").replace(&*folder.to_string_lossy(), "[FOLDER]");
    let text = text.replace(env!("CARGO_PKG_VERSION"), "[VERSION]");
    text.split_inclusive('\n').map(without_times).collect()
}

/// `in 1.4 s` as `in [TIME]`.
fn without_times(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let mut kept: Vec<&str> = Vec::new();
    let mut i = 0;
    while i < words.len() {
        let unit = words.get(i + 1).map_or("", |next| next.trim_end_matches([',', '.', ';', ')', '\n']));
        if words[i].parse::<f64>().is_ok() && ["ms", "s"].contains(&unit) {
            kept.push("[TIME]");
            i += 1;
            if words[i].ends_with('\n') {
                return kept.join(" ") + "\n";
            }
        } else {
            kept.push(words[i]);
        }
        i += 1;
    }
    kept.join(" ")
}

/// The names of the files in a folder, hidden ones too.
fn list(folder: &Path) -> String {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names.iter().map(|name| format!("  {name}\n")).collect()
}

/// Splits at spaces, except inside of double quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}
