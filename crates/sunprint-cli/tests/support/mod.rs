//! Transcripts: what a user types and what comes back, kept as text files and compared with the built program.
//!
//! A transcript is a small play, run from top to bottom in an empty folder of its own:
//!
//! ```text
//! # a remark
//! file people.csv                        makes a file from the lines that follow; see `stage` for others
//! | age
//! | 41
//! $ sunprint check people.csv --schema people.toml < input.txt > output.txt
//!   a line on stdout
//! ! a line on stderr
//! = 1                                    the exit code, left out if it is 0
//! ~ sunprint demo                        the same, with `N` in the place of every number that comes back
//! $ ls                                   the files of the folder
//!   people.csv
//! $ shape output.csv                     the header and the number of lines of a text file, never its values
//!   age, and 1 line
//! ```
//!
//! Lines that begin with two spaces, `!` or `=` are what came back; everything else is the script. With
//! `UPDATE_TRANSCRIPTS=1` what came back is written into the file.
//!
//! Whatever the script, a command that is refused must say one sentence and a hint, and leave every file as it was.

mod stage;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A transcript on disk.
pub struct Transcript {
    pub path: PathBuf,
    pub text: String,
}

/// Every transcript for this system, by name.
pub fn all() -> Vec<Transcript> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    let all = paths.into_iter().map(|path| Transcript { text: fs::read_to_string(&path).unwrap(), path });
    all.filter(|transcript| cfg!(target_os = "linux") || !transcript.name().starts_with("linux-")).collect()
}

impl Transcript {
    /// The words of every `sunprint` command of the script.
    pub fn commands(&self) -> Vec<Vec<String>> {
        self.text.lines().filter_map(spoken).map(|(words, _)| words).collect()
    }

    /// What came back on stderr, line by line.
    pub fn said(&self) -> impl Iterator<Item = &str> {
        self.text.lines().filter_map(|line| line.strip_prefix("! "))
    }

    /// The transcript as it is now: the script, with what comes back from the built program.
    pub fn play(&self) -> String {
        let stage = tempfile::tempdir().unwrap();
        // Outside of the stage: a fit that is refused leaves its folder alone, but not always the ledger.
        let ledger = tempfile::tempdir().unwrap();
        let mut played = String::new();
        let mut lines = self.text.lines().peekable();
        while let Some(line) = lines.next() {
            if is_reply(line) {
                continue;
            }
            let _ = writeln!(played, "{line}");
            let mut content = Vec::new();
            while let Some(text) = lines.next_if(|line| line.starts_with('|')) {
                let _ = writeln!(played, "{text}");
                content.push(text.strip_prefix("| ").unwrap_or(&text[1..]));
            }
            if let Some((words, vague)) = spoken(line) {
                let before = stage::everything(stage.path());
                let output = run(words, stage.path(), &ledger.path().join("ledger.sqlite"));
                if !output.status.success() {
                    self.assert_refused(line, &output);
                    assert!(stage::everything(stage.path()) == before, "{}: {line}: left a trace", self.name());
                }
                played.push_str(&reply(&output, stage.path(), ledger.path(), vague));
            } else if let Some(shown) = stage::show(line, stage.path()) {
                played.push_str(&shown);
            } else {
                let known = line.is_empty() || line.starts_with('#') || stage::set(line, &content, stage.path());
                assert!(known, "{}: not a line of a script: {line}", self.name());
            }
        }
        played
    }

    /// One sentence and one hint at the end, exit code 1 or 2.
    fn assert_refused(&self, line: &str, output: &Output) {
        let said = String::from_utf8_lossy(&output.stderr);
        let lines: Vec<&str> = said.lines().collect();
        let helped = line.trim_end() == "$ sunprint";
        let refused = lines.iter().filter(|line| line.starts_with("error: ")).count() == 1
            && lines.len() >= 2
            && lines[lines.len() - 2].starts_with("error: ")
            && lines[lines.len() - 1].starts_with("hint: ")
            && output.stdout.is_empty();
        assert!(refused || helped, "{}: {line}: {said}", self.name());
        assert!([Some(1), Some(2)].contains(&output.status.code()), "{}: {line}", self.name());
    }

    /// The file's name.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap().to_string_lossy().into_owned()
    }
}

fn is_reply(line: &str) -> bool {
    line.starts_with("  ") || line.starts_with('!') || line.starts_with('=')
}

/// The words of a command, and whether numbers do not matter.
fn spoken(line: &str) -> Option<(Vec<String>, bool)> {
    let vague = line.starts_with('~');
    let rest = line.strip_prefix(if vague { "~ sunprint" } else { "$ sunprint" })?;
    Some((words(rest), vague))
}

/// Runs the built program in a folder, with nothing of the caller's taste in the environment.
fn run(mut words: Vec<String>, folder: &Path, ledger: &Path) -> Output {
    let mut redirected = |mark: &str| {
        let at = words.iter().position(|word| word == mark)?;
        words.remove(at);
        Some(folder.join(words.remove(at)))
    };
    let input = redirected("<").map_or_else(Stdio::null, |path| File::open(path).unwrap().into());
    let output = redirected(">").map_or_else(Stdio::piped, |path| File::create(path).unwrap().into());
    let program = Command::new(env!("CARGO_BIN_EXE_sunprint"))
        .args(words)
        .current_dir(folder)
        .stdin(input)
        .stdout(output)
        .stderr(Stdio::piped())
        .env("COLUMNS", "100")
        .env("SUNPRINT_LEDGER", ledger)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("RUST_BACKTRACE")
        .spawn();
    program.unwrap().wait_with_output().unwrap()
}

/// What came back, as lines of a transcript.
fn reply(output: &Output, folder: &Path, ledger: &Path, vague: bool) -> String {
    let mut text = String::new();
    for (mark, stream) in [(" ", &output.stdout), ("!", &output.stderr)] {
        let said = normalised(&String::from_utf8_lossy(stream), folder, ledger);
        for line in if vague { without_choices(&said) } else { said.lines().map(str::to_owned).collect() } {
            let line = if vague { without_numbers(&line) } else { line };
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
fn normalised(text: &str, folder: &Path, ledger: &Path) -> String {
    let mut text = text.to_owned();
    for (path, word) in [(folder, "[FOLDER]"), (ledger, "[DATA]")] {
        let real = fs::canonicalize(path).unwrap();
        text = text.replace(&*real.to_string_lossy(), word).replace(&*path.to_string_lossy(), word);
    }
    without_hashes(&text.replace(env!("CARGO_PKG_VERSION"), "[VERSION]"))
}

/// `[HASH]` for every SHA-256, whole or its first 16 digits, and `[TIME]` for every moment.
fn without_hashes(text: &str) -> String {
    let mut clean = String::new();
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let hash = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
        let moment: String = rest.chars().take(19).map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        let skipped = if hash == 64 || hash == 16 && rest[16..].starts_with('…') {
            clean.push_str("[HASH]");
            hash
        } else if moment == "0000-00-00 00:00:00" || moment == "0000-00-00T00:00:00" {
            clean.push_str("[TIME]");
            19
        } else {
            let word = hash.max(letter.len_utf8());
            clean.push_str(&rest[..word]);
            word
        };
        rest = &rest[skipped..];
    }
    clean
}

/// What is judged of rows that were drawn, in lines of their own.
const JUDGED: [&str; 5] =
    ["  single columns  ", "  pairs of columns  ", "  whole rows  ", "  groups  ", "  learning  "];

/// The cells that a fit counts follow from the noise: a tree here, a lattice there. So does how good its rows are. Their
/// lines say just that.
fn without_choices(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut chosen = false;
    for line in text.lines() {
        // What does not fit on the line goes on below its beginning.
        if chosen && line.starts_with("                    ") {
            continue;
        }
        chosen = ["  cells  ", "  depth  ", "  side of a cell  "].iter().any(|title| line.starts_with(title));
        if let Some(title) = JUDGED.iter().find(|title| line.starts_with(**title)) {
            chosen = true;
            lines.push(format!("{title}[JUDGED]"));
            continue;
        }
        lines.push(if chosen { "  cells [CHOSEN]".to_owned() } else { line.to_owned() });
    }
    lines.dedup_by(|a, b| a == b && a == "  cells [CHOSEN]");
    lines
}

/// `N` for every number, and one space for many: columns move with the numbers in them.
fn without_numbers(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let word = |word: &str| {
        let bare = word.trim_start_matches(['-', '+', '(']).trim_end_matches(['%', ',', ')', ':', '`', '.']);
        let number = !bare.is_empty() && bare.chars().all(|c| c.is_ascii_digit() || ".,e-".contains(c));
        if number { word.trim_start_matches('-').replace(bare, "N") } else { word.to_owned() }
    };
    " ".repeat(indent) + &line.split_whitespace().map(word).collect::<Vec<_>>().join(" ")
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
