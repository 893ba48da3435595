//! `sunprint audit`: what the shipped mechanisms lose, measured on made-up tables.

use std::fmt::Write;
use std::time::Instant;

use serde::Serialize;
use sunprint::error::{Error, Kind, Result};
use sunprint::privacy::{Epsilon, Kernel, Ratio};
use sunprint::source::{Progress, Unit};
use sunprint_audit::privacy::report::{TEETH, Watch};
use sunprint_audit::privacy::{self, Epsilons, Finding, Report, Trial};

use crate::args::{AuditArgs, ScopeArgs};
use crate::files;
use crate::files::to_json;
use crate::progress::Bars;
use crate::words::{Talk, counted, thousands};

/// Runs of the lines that get most, unless said otherwise.
const RUNS: u64 = privacy::stages::MANY;
/// A short audit has so many times fewer runs.
const SHORT: u64 = 10;

/// What `audit --json` prints.
#[derive(Serialize)]
struct Audited<'a> {
    broken_on_purpose: bool,
    caught: usize,
    #[serde(flatten)]
    report: &'a Report,
}

/// Runs every line, prints the table, and fails where a claim is exceeded or something broken is missed.
pub fn run(args: &AuditArgs, talk: Talk) -> Result<()> {
    let scope = &args.scope;
    let trials = trials(scope)?;
    // Without entropy nothing can be audited; better a sentence now than a crash later.
    Kernel::new()?;
    let bars = Bars::new(talk);
    let whole = trials.iter().map(Trial::all_runs).sum();
    bars.start("auditing", Some(whole), Unit::Steps);
    let began = Instant::now();
    let report = privacy::audit(&trials, &Watched(&bars));
    bars.done();

    let caught = report.caught().count();
    if args.json.json {
        files::print(&to_json(&Audited { broken_on_purpose: scope.broken, caught, report: &report })?)?;
    } else {
        files::print(&as_text(&report, scope.broken))?;
        talk.say(format_args!("{} runs in {} s", thousands(whole), began.elapsed().as_secs().max(1)));
    }
    verdict(&report, scope.broken)
}

/// Runs are counted by the bar.
struct Watched<'a>(&'a Bars);

impl Watch for Watched<'_> {
    fn advance(&self, runs: u64) {
        self.0.advance(runs);
    }
}

/// The lines that were asked for.
fn trials(scope: &ScopeArgs) -> Result<Vec<Trial>> {
    let epsilons = match scope.epsilon.as_deref() {
        None => Epsilons::default(),
        Some(text) => Epsilons::all(epsilon(text)?),
    };
    let all = if scope.broken { privacy::broken::all(&epsilons) } else { privacy::shipped(&epsilons) };
    let wanted = |trial: &Trial| {
        (!scope.quick || trial.short) && scope.only.as_ref().is_none_or(|name| trial.name.contains(name.as_str()))
    };
    let most = scope.runs.unwrap_or(if scope.quick { RUNS / SHORT } else { RUNS });
    let scaled = |trial: Trial| {
        let runs = u128::from(trial.runs) * u128::from(most) / u128::from(RUNS);
        Trial { runs: u64::try_from(runs).unwrap_or(u64::MAX).max(1), ..trial }
    };
    let trials: Vec<Trial> = all.into_iter().filter(wanted).map(scaled).collect();
    if trials.is_empty() {
        return Err(Error::new(Kind::Usage, "`--only` names no line of the audit").hint(
            "leave it out to see all names, or try `centre`, `level`, `moments`, `measure`, `lattice` or `fit`",
        ));
    }
    Ok(trials)
}

/// An ε at which every line can be audited: broken ones are given up to sixty times as much.
fn epsilon(text: &str) -> Result<Epsilon> {
    let epsilon: Epsilon = text.parse()?;
    let inside = Ratio::new(1, 10).is_some_and(|least| epsilon.ratio() >= least) && epsilon.ratio() <= Ratio::whole(10);
    if inside {
        return Ok(epsilon);
    }
    Err(Error::new(Kind::Usage, format!("`--epsilon` must lie between 0.1 and 10 for an audit; {text} was given"))
        .hint("a larger ε is lost in rare events, a smaller one in the noise of counting"))
}

/// The table, and what it says.
fn as_text(report: &Report, broken: bool) -> String {
    let mut text = String::new();
    let name = |found: &Finding| found.name.chars().count();
    let width = report.findings.iter().map(name).max().unwrap_or(0).max(9);
    let gaussian = report.findings.iter().any(|found| found.gaussian.is_some());
    let head = format!("{:<width$}  {:>7}  {:>9}  {:>8}", "", "runs", "claimed ε", "at least");
    let more = if gaussian { format!("  {:>9}  {:>8}", "claimed μ", "at least") } else { String::new() };
    let _ = writeln!(text, "{}", (head + &more).trim_end());
    for found in &report.findings {
        let line = format!(
            "{:<width$}  {:>7}  {:>9}  {:>8.3}",
            found.name,
            thousands(found.runs),
            found.claimed,
            found.measured
        );
        let more = found.gaussian.filter(|_| gaussian).map_or_else(
            || if gaussian { " ".repeat(21) } else { String::new() },
            |found| format!("  {:>9.3}  {:>8.3}", found.mu_claimed, found.mu_measured),
        );
        let mark = match (found.caught(), broken) {
            (true, true) => "  caught",
            (true, false) => "  EXCEEDED",
            (false, true) => "  MISSED",
            (false, false) if found.tight => "  tight",
            (false, false) => "",
        };
        let _ = writeln!(text, "{}", (line + &more + mark).trim_end());
    }
    text.push('\n');
    let percent = |confidence: f64| {
        let digits = format!("{:.4}", 100.0 * confidence);
        format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
    };
    let _ = match report.findings.len() {
        1 => writeln!(text, "confidence {}", percent(report.confidence)),
        lines => writeln!(
            text,
            "confidence {} for {} together, {} for each",
            percent(report.confidence),
            counted(lines as u64, "line"),
            percent(report.line_confidence)
        ),
    };
    let _ = writeln!(text, "{}", sentence(report, broken));
    text
}

/// The verdict in one sentence or two.
fn sentence(report: &Report, broken: bool) -> String {
    let (lines, caught) = (report.findings.len(), report.caught().count());
    if broken {
        return match lines - caught {
            0 if lines == 1 => "caught: what is broken on purpose is seen".to_owned(),
            0 => format!("all {lines} caught: whatever is broken on purpose is seen"),
            missed => format!("{caught} of {lines} caught, {missed} missed"),
        };
    }
    if caught > 0 {
        return format!("{caught} of {} exceeded: what is claimed is not kept", counted(lines as u64, "claim"));
    }
    let teeth = match report.teeth() {
        Some(part) if part >= TEETH => {
            format!(
                "; where the loss is known to equal the claim, at least {:.0} % of it was seen",
                (100.0 * part).floor()
            )
        }
        Some(_) => "; there were too few runs to see much of what is there".to_owned(),
        None => String::new(),
    };
    format!("no claim is exceeded{teeth}")
}

/// Good, or an error that ends the program with another code.
fn verdict(report: &Report, broken: bool) -> Result<()> {
    let (lines, caught) = (report.findings.len(), report.caught().count());
    if broken && caught < lines {
        let missed: Vec<&str> = report.passed().map(|found| found.name.as_str()).collect();
        return Err(
            Error::new(Kind::Budget, format!("not caught: {}", missed.join("; "))).hint("audit with more `--runs`")
        );
    }
    if !broken && caught > 0 {
        let exceeded: Vec<&str> = report.caught().map(|found| found.name.as_str()).collect();
        return Err(Error::new(Kind::Budget, format!("a claim is exceeded: {}", exceeded.join("; "))).hint(
            "once in a thousand audits this is chance: audit that line again with `--only`, and if it stays, report \
             it as SECURITY.md says",
        ));
    }
    Ok(())
}
