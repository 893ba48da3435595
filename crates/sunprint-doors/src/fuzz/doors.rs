//! The doors: where bytes come in that others may have made.

use super::mutate::Form;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use sunprint::ledger::Ledger;
use sunprint::model::Model;
use sunprint::receipt::{Receipt, Statement};
use sunprint::schema::Schema;
use sunprint::source::{Format, Input, Silent, Store, check};
use sunprint::tally::{Pass, Tally, Work};

/// A door: what comes through it, and who answers. The answer is a sentence, or nothing where the file was accepted.
pub struct Door {
    /// Its name, and that of its folder in the corpus.
    pub name: &'static str,
    /// How many parts of a thousand of all executions it gets: cheap doors get most.
    pub share: u64,
    pub(super) form: Form,
    pub(super) words: &'static [&'static str],
    pub(super) knock: fn(&mut Hall, &[u8]) -> Option<String>,
}

/// What doors need: a folder for those that open files, and things that are public.
pub struct Hall {
    folder: tempfile::TempDir,
    schema: Schema,
    passes: Vec<Pass>,
}

const SCHEMA: &str = include_str!("../../../../fuzz/people.toml");
const PASSES: &str = include_str!("../../../../fuzz/passes.jsonl");

impl Hall {
    pub(super) fn new() -> io::Result<Hall> {
        // In memory, if there is such a folder.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
        let wrong = |error: sunprint::error::Error| io::Error::other(error.to_string());
        let schema = Schema::parse(SCHEMA, "people.toml").map_err(wrong)?;
        let passes = PASSES.lines().map(Pass::from_json).collect::<Result<_, _>>().map_err(wrong)?;
        Ok(Hall { folder, schema, passes })
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join(name);
        // A full disk would be a fault of the hall, and shows as a file that is refused.
        let _ = fs::write(&path, bytes);
        path
    }

    fn table(&self, name: &str, format: Format, bytes: &[u8]) -> Option<String> {
        let input = Input::new(self.file(name, bytes), Some(format));
        let said = Store::open(&input, &self.schema, &sunprint::source::Room::default(), &Silent).err();
        let report = check(&input, &self.schema, &Silent);
        said.map(|error| error.to_string()).or_else(|| report.err().map(|error| error.to_string()))
    }
}

const TOML_WORDS: &[&str] = &[
    "[[column]]",
    "[dataset]",
    "[[constraint]]",
    "name = ",
    "kind = ",
    "\"integer\"",
    "\"continuous\"",
    "\"categorical\"",
    "\"boolean\"",
    "\"date\"",
    "\"datetime\"",
    "min = ",
    "max = ",
    "scale = ",
    "\"log\"",
    "\"cyclic\"",
    "values = ",
    "[\"a\", \"b\"]",
    "missing = \"allow\"",
    "role = \"label\"",
    "ordered = true",
    "other = \"l\"",
    "decimals = ",
    "format = \"%d.%m.%Y %H:%M:%S\"",
    "rule = \"age <= 3 * height + 2\"",
    "\"1600-02-29\"",
    "\"9999-12-31\"",
    "nan",
    "inf",
    "-inf",
    "0x7f",
    "1_000",
    "[[[[[[[[",
    "{a = {a = {",
    "\"\"\"",
    "'",
    "\\u0000",
    "1979-05-27T07:32:00Z",
    "true",
];

const CSV_WORDS: &[&str] = &[
    "\"",
    "\"\"",
    ",",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "\u{feff}",
    "nan",
    "1e999",
    "-inf",
    "2020-02-30",
    "\u{202e}",
    ",,,,,,,,",
];

const TREE_WORDS: &[&str] =
    &["[", "]", "{", "}", "\"", ":", "null", "1e999", "[[[[[[[[[[[[[[[[", "\\ud800", "\\u0000", ","];

/// All of them. The shares add up to 1000.
pub const DOORS: [Door; 11] = [
    Door { name: "tally", share: 400, form: Form::Summed, words: &["SPT\0"], knock: tally },
    Door { name: "pass", share: 130, form: Form::Json, words: TREE_WORDS, knock: pass },
    Door { name: "schema", share: 160, form: Form::Text, words: TOML_WORDS, knock: schema },
    Door { name: "receipt", share: 130, form: Form::Json, words: TREE_WORDS, knock: receipt },
    Door { name: "import", share: 80, form: Form::Json, words: TREE_WORDS, knock: import },
    Door { name: "model", share: 40, form: Form::Json, words: TREE_WORDS, knock: model },
    Door { name: "csv", share: 20, form: Form::Text, words: CSV_WORDS, knock: csv },
    Door { name: "squeezed", share: 10, form: Form::Bytes, words: &[], knock: squeezed },
    Door { name: "ledger", share: 10, form: Form::Bytes, words: &["SQLite format 3\0", "CREATE TABLE"], knock: ledger },
    Door { name: "parquet", share: 10, form: Form::Bytes, words: &["PAR1"], knock: parquet },
    Door { name: "arrow", share: 10, form: Form::Bytes, words: &["ARROW1"], knock: arrow },
];

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| "not text".to_string())
}

fn schema(_: &mut Hall, bytes: &[u8]) -> Option<String> {
    let parsed = text(bytes).and_then(|text| Schema::parse(text, "s").map_err(|error| error.to_string()));
    parsed
        .map(|schema| drop(Schema::parse(&schema.to_toml(), "again").expect("a schema is read as it is written")))
        .err()
}

fn model(_: &mut Hall, bytes: &[u8]) -> Option<String> {
    let model = match Model::from_json(bytes, "m") {
        Ok(model) => model,
        Err(error) => return Some(error.to_string()),
    };
    let drawn = model.draw(3, 1).block(0);
    assert!(drawn.units.iter().all(|x| (0.0..=1.0).contains(x)), "whatever loads draws rows of the cube");
    let statement = Statement::of(model.receipt(), model.schema());
    let _ = (model.receipt().to_string(), statement.to_text(), statement.to_html());
    let _ = (model.layout(), model.schema().to_toml());
    None
}

fn receipt(_: &mut Hall, bytes: &[u8]) -> Option<String> {
    match Receipt::from_json(bytes, "r") {
        Ok(receipt) => {
            let _ = (receipt.sentence(), receipt.to_string(), serde_json::to_string(&receipt));
            None
        }
        Err(error) => Some(error.to_string()),
    }
}

fn import(hall: &mut Hall, bytes: &[u8]) -> Option<String> {
    let path = hall.folder.path().join("imported.sqlite");
    let imported = Ledger::import(&path, bytes, "i");
    if imported.is_ok() {
        let _ = fs::remove_file(path);
    }
    imported.err().map(|error| error.to_string())
}

fn ledger(hall: &mut Hall, bytes: &[u8]) -> Option<String> {
    let path = hall.file("ledger.sqlite", bytes);
    let read = Ledger::open_existing(&path).and_then(|mut ledger| ledger.read());
    read.err().map(|error| error.to_string())
}

/// The first byte says which pass the rest would answer.
fn tally(hall: &mut Hall, bytes: &[u8]) -> Option<String> {
    let Some((which, rest)) = bytes.split_first() else { return Some("empty".to_string()) };
    let pass = &hall.passes[usize::from(*which) % hall.passes.len()];
    match Tally::from_secret_bytes(rest, pass) {
        Ok(mut tally) => {
            let again =
                Tally::from_secret_bytes(&tally.to_secret_bytes(), pass).expect("a tally is read as it is written");
            tally.merge(again).err().map(|error| error.to_string())
        }
        Err(error) => Some(error.to_string()),
    }
}

fn pass(_: &mut Hall, bytes: &[u8]) -> Option<String> {
    let pass = match text(bytes).and_then(|text| Pass::from_json(text).map_err(|error| error.to_string())) {
        Ok(pass) => pass,
        Err(said) => return Some(said),
    };
    // Larger ones ask for as much memory as they say, up to the limits of a pass.
    let small = match &pass.work {
        Work::Cells(cells) => cells.leaves() < 1 << 16,
        Work::Grid(grid) => grid.leaves() < 1 << 16,
        Work::Marginals(marginals) => marginals.leaves(pass.strata) < 1 << 16,
        _ => pass.width < 64 && pass.strata < 64,
    };
    if small && pass.width < 64 {
        let mut codes = sunprint::tally::codes::Codes::with_capacity(pass.width, 2);
        codes.push(&vec![u16::MAX; pass.width], u32::MAX);
        codes.push(&vec![0; pass.width], 0);
        drop(pass.tally(&codes));
    }
    None
}

fn csv(hall: &mut Hall, bytes: &[u8]) -> Option<String> {
    hall.table("t.csv", Format::Csv, bytes)
}

/// The first byte of each form says which it is.
fn squeezed(hall: &mut Hall, bytes: &[u8]) -> Option<String> {
    let (name, format) = if bytes.first() == Some(&0x1f) { ("t.csv.gz", "csv.gz") } else { ("t.csv.zst", "csv.zst") };
    let format = Format::of_path(Path::new(&format!("t.{format}")))?;
    hall.table(name, format, bytes)
}

fn parquet(hall: &mut Hall, bytes: &[u8]) -> Option<String> {
    hall.table("t.parquet", Format::Parquet, bytes)
}

fn arrow(hall: &mut Hall, bytes: &[u8]) -> Option<String> {
    hall.table("t.arrow", Format::Arrow, bytes)
}
