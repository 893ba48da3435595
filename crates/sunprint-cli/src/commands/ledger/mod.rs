//! `sunprint ledger`: what each dataset has spent, ceilings, and whether the ledger is as it was written.

mod text;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::Serialize;
use sunprint::error::{Error, Kind, Result};
use sunprint::ledger::{Account, Book, Ledger, Limit, MOST_BYTES, Sum};
use sunprint::privacy::Ratio;
use sunprint::receipt::Receipt;

use crate::args::{
    LedgerArgs, LedgerCommand, LedgerExportArgs, LedgerImportArgs, LedgerLimitArgs, LedgerShowArgs, LedgerVerifyArgs,
};
use crate::files;
use crate::files::to_json;
use crate::ledgers;
use crate::words::{Talk, counted};

/// Runs one of the commands.
pub fn run(args: &LedgerArgs, talk: Talk) -> Result<()> {
    match &args.command {
        LedgerCommand::Show(args) => show(args),
        LedgerCommand::Limit(args) => limit(args, talk),
        LedgerCommand::Verify(args) => verify(args),
        LedgerCommand::Export(args) => export(args, talk),
        LedgerCommand::Import(args) => import(args, talk),
    }
}

/// What `ledger show --json` prints.
#[derive(Serialize)]
struct Shown<'a> {
    ledger: &'a Path,
    events: u64,
    hash: Option<&'a str>,
    datasets: &'a [Account],
}

fn show(args: &LedgerShowArgs) -> Result<()> {
    let path = ledgers::named(&args.ledger)?;
    let book = Ledger::open_existing(&path)?.read()?;
    let accounts = match &args.dataset {
        Some(name) => vec![book.account(name).ok_or_else(|| unknown(name, &book, &path))?],
        None => book.datasets().into_iter().filter_map(|name| book.account(name)).collect(),
    };
    let (events, hash) = book.head().map_or((0, None), |(count, hash)| (count, Some(hash)));
    files::print(&if args.json.json {
        to_json(&Shown { ledger: &path, events, hash, datasets: &accounts })?
    } else if args.csv {
        text::csv(&accounts)
    } else {
        text::plain(&path, &book, &accounts)
    })
}

fn unknown(name: &str, book: &Book, path: &Path) -> Error {
    let known: Vec<String> = book.datasets().iter().map(|name| format!("`{}`", name.escape_debug())).collect();
    let hint = match known.len() {
        0 => "it knows none yet".to_owned(),
        1..=10 => format!("it knows {}", known.join(", ")),
        _ => "`sunprint ledger show` lists those that it knows".to_owned(),
    };
    let rule = format!("the ledger knows no dataset `{}`", name.escape_debug());
    Error::new(Kind::Usage, rule).at(path.display().to_string()).hint(hint)
}

fn limit(args: &LedgerLimitArgs, talk: Talk) -> Result<()> {
    let amount = |text: &Option<String>| text.as_deref().map(str::parse::<Ratio>).transpose();
    let delta = amount(&args.delta)?.unwrap_or(Ratio::ZERO);
    if delta >= Ratio::ONE {
        return Err(Error::new(Kind::Usage, "`--delta` of a ceiling must be below 1").hint("such as 1e-6"));
    }
    if args.epsilon.is_none() && !args.none {
        return Err(
            Error::new(Kind::Usage, "the ceiling is missing").hint("give `--epsilon E`, or `--none` to have none")
        );
    }
    let limit = amount(&args.epsilon)?.map(|epsilon| Limit { epsilon, delta });
    let path = ledgers::named(&args.ledger)?;
    if !args.new && !path.exists() {
        let rule = format!("there is no ledger here, and so no dataset `{}`", args.dataset.escape_debug());
        return Err(Error::new(Kind::Usage, rule)
            .at(path.display().to_string())
            .hint("`--new` sets the ceiling of a dataset that is not fitted yet; name a ledger with `--ledger FILE`"));
    }
    let mut ledger = Ledger::open(&path)?;
    if args.new {
        ledger.limit(&args.dataset, limit)?;
    } else {
        ledger.limit_known(&args.dataset, limit)?;
    }
    let name = args.dataset.escape_debug();
    let Some(limit) = limit else {
        talk.say(format_args!("dataset `{name}` has no ceiling now"));
        return Ok(());
    };
    let total = ledger.read()?.total(&args.dataset);
    talk.say(format_args!("dataset `{name}`: {}", text::ceiling(&limit, &total)));
    if total.epsilon > Sum::from(limit.epsilon) || total.delta > Sum::from(limit.delta) {
        talk.warn("more than that is spent already: every fit will be refused");
    }
    Ok(())
}

fn verify(args: &LedgerVerifyArgs) -> Result<()> {
    let path = ledgers::named(&args.ledger)?;
    let receipt = args.receipt.as_deref().map(read_receipt).transpose()?;
    let book = Ledger::open_existing(&path)?.read()?;
    let mut answer = match book.head() {
        Some((count, hash)) => format!("the chain of {} is whole; it ends with {hash}\n", counted(count, "event")),
        None => "the ledger is empty\n".to_owned(),
    };
    if let (Some(receipt), Some(file)) = (receipt, &args.receipt) {
        let refused =
            |rule: String, hint: &str| Err(Error::new(Kind::Ledger, rule).at(file.display().to_string()).hint(hint));
        let Some(entry) = &receipt.ledger else {
            return refused(
                "the receipt names no ledger".to_owned(),
                "its fit ran with `--ledger none`, or before there were ledgers",
            );
        };
        let recorded = book.entry(entry).map_err(|error| error.at(path.display().to_string()))?;
        let same =
            (&receipt.dataset, receipt.epsilon, receipt.delta) == (&recorded.dataset, recorded.epsilon, recorded.delta);
        if !same {
            return refused(
                format!("the receipt promises something else than entry {} of the ledger", entry.number),
                "trust neither before you know which of them was changed",
            );
        }
        let (name, state) = (recorded.dataset.escape_debug(), recorded.state.word());
        answer += &format!("entry {} of the receipt is in it: dataset `{name}`, {state}\n", entry.number);
    }
    files::print(&answer)
}

fn read_receipt(path: &Path) -> Result<Receipt> {
    Receipt::from_json(&read_some(path, Receipt::MOST_BYTES)?, &place(path))
}

fn export(args: &LedgerExportArgs, talk: Talk) -> Result<()> {
    let path = ledgers::named(&args.ledger)?;
    let mut ledger = Ledger::open_existing(&path)?;
    let existing = args.force.existing();
    ledgers::keep_apart(&args.file, &path)?;
    files::check_output("FILE", &args.file, &[], existing)?;
    files::write_private(&args.file, &ledger.export()?, existing)?;
    if !files::is_stream(&args.file) {
        talk.say(format_args!("the ledger is in {}", args.file.display()));
    }
    Ok(())
}

fn import(args: &LedgerImportArgs, talk: Talk) -> Result<()> {
    let path = ledgers::named(&args.ledger)?;
    let events = Ledger::import(&path, &read_some(&args.file, MOST_BYTES)?, &place(&args.file))?;
    talk.say(format_args!("{} are in {}", counted(events, "event"), path.display()));
    Ok(())
}

/// What a file that is read is called in messages.
fn place(path: &Path) -> String {
    if files::is_stream(path) { "stdin".to_owned() } else { path.display().to_string() }
}

/// A file, or stdin, up to one byte more than it may have.
fn read_some(path: &Path, most: usize) -> Result<Vec<u8>> {
    let most = most as u64 + 1;
    let mut bytes = Vec::new();
    let read = if files::is_stream(path) {
        io::stdin().lock().take(most).read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes))
    };
    read.map_err(|fault| files::unreadable(path, &fault))?;
    Ok(bytes)
}
