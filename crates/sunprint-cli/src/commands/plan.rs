//! `sunprint plan`: what a fit can give, before there is a table.

use std::fmt::Write;

use serde::Serialize;
use sunprint::error::Result;
use sunprint::forecast::{Forecast, LARGEST_EPSILON, Question, Spectrum, Verdict};
use sunprint::privacy::{Delta, Epsilon};
use sunprint::schema::Schema;

use crate::args::PlanningArgs;
use crate::files;
use crate::files::to_json;
use crate::words::{counted, thousands};

/// What `plan --json` prints.
#[derive(Serialize)]
struct Planned {
    columns: usize,
    forecasts: Vec<Forecast>,
    wish: Option<Wish>,
}

/// The ε for a wished W1, for each spectrum; nothing where none up to 100 gives it.
#[derive(Serialize)]
struct Wish {
    w1: f64,
    epsilons: Vec<(Spectrum, Option<f64>)>,
}

/// Reads the schema, predicts and prints.
pub fn run(args: &PlanningArgs) -> Result<()> {
    let epsilons = args.epsilon.iter().map(|text| number::<Epsilon>(text.trim())).collect::<Result<Vec<f64>>>()?;
    let delta = args.delta.as_deref().map(number::<Delta>).transpose()?;
    let schema = Schema::load(&args.schema)?;
    let questions: Vec<Question> =
        epsilons.iter().map(|&epsilon| Question::new(&schema, args.rows, epsilon, delta)).collect();
    let wish = args.wish.zip(questions.first()).map(|(w1, question)| {
        let epsilons = Spectrum::ALL.map(|spectrum| (spectrum, question.epsilon_for(spectrum, w1))).to_vec();
        Wish { w1, epsilons }
    });
    let forecasts = questions.iter().map(Question::forecast).collect();
    let planned = Planned { columns: schema.columns.len(), forecasts, wish };
    files::print(&if args.json.json { to_json(&planned)? } else { plain(&planned) })
}

/// A promise, checked as for a fit; predictions need no more digits than a float has.
fn number<T: std::str::FromStr<Err = sunprint::error::Error> + std::fmt::Display>(text: &str) -> Result<f64> {
    let checked: T = text.parse()?;
    Ok(text.parse().or_else(|_| checked.to_string().parse()).unwrap_or(f64::NAN))
}

fn plain(planned: &Planned) -> String {
    let mut text = String::new();
    for (i, forecast) in planned.forecasts.iter().enumerate() {
        let question = &forecast.question;
        if i == 0 {
            let _ = writeln!(
                text,
                "{}, {} as {}, {}",
                counted(question.rows, "row"),
                counted(planned.columns as u64, "column"),
                counted(question.width as u64, "coordinate"),
                if question.strata == 1 { "no strata".to_owned() } else { format!("{} strata", question.strata) },
            );
            let (memory, time) = (size(forecast.cost.bytes), time(forecast.cost.seconds));
            let _ = writeln!(text, "a fit takes about {memory} of memory and {time} on two cores");
        }
        text.push('\n');
        one(&mut text, forecast, planned.columns);
    }
    if let Some(wish) = &planned.wish {
        let _ = writeln!(text, "\nfor a W1 of {}", wish.w1);
        for (spectrum, epsilon) in &wish.epsilons {
            let answer = epsilon.map_or_else(
                || format!("no epsilon up to {LARGEST_EPSILON} gives it"),
                |epsilon| format!("epsilon {}", digits(epsilon)),
            );
            let _ = writeln!(text, "  {:<16}  {answer}", spectrum.name());
        }
    }
    text
}

/// One ε.
fn one(text: &mut String, forecast: &Forecast, columns: usize) {
    let delta = forecast.question.delta.map(|delta| format!(", delta {delta:e}")).unwrap_or_default();
    let _ = writeln!(text, "epsilon {}{delta}", forecast.question.epsilon);
    let _ = writeln!(text, "  shares            {}", shares(forecast));
    let noise = &forecast.noise;
    let percent = |x: f64| format!("{} %", digits(100.0 * x));
    let deviation = noise.typical_variance.sqrt();
    let _ = writeln!(text, "  a column's mean   off by about {} of its range", percent(noise.mean));
    let _ = writeln!(
        text,
        "  its variance      {} if it is typical ({} of its range deviate), off by about {}",
        digits(noise.typical_variance),
        percent(deviation),
        digits(noise.variance),
    );
    if let Some(distribution) = noise.distribution {
        let _ = writeln!(text, "  its values        the part up to any value off by about {}", percent(distribution));
    }
    if let Some(mean) = noise.stratum_mean {
        let _ = writeln!(text, "  a stratum's mean  off by about {} of its range", percent(mean));
    }
    match noise.edge {
        Some(edge) => {
            let _ = writeln!(text, "  a direction       drowns below a variance of about {}", digits(edge));
        }
        None => text.push_str("  directions        none is looked for\n"),
    }
    let mut line = |cells: [&str; 5]| {
        let [name, strongest, found, measured, w1] = cells;
        let _ = writeln!(text, "  {name:<16}  {strongest:>19}   {found:>5}   {measured:>8}   {w1}");
    };
    line(["if the table is", "strongest direction", "found", "measured", "W1"]);
    for outlook in &forecast.outlooks {
        line([
            outlook.spectrum.name(),
            &outlook.leading_over_edge.map_or_else(|| "–".to_owned(), |over| format!("{} × noise", digits(over))),
            &outlook.above.to_string(),
            &outlook.dimension.to_string(),
            &digits(outlook.w1),
        ]);
    }
    let ceiling = forecast.outlooks.first().map_or(0.0, |outlook| outlook.w1_of_the_mean);
    line(["the mean alone", "", "", "", &digits(ceiling)]);
    let _ = writeln!(text, "  {}", verdict(forecast, columns));
}

/// The shares, largest first, by the names that they have in the library.
fn shares(forecast: &Forecast) -> String {
    let value = serde_json::to_value(forecast.shares).unwrap_or_default();
    let stages = value.as_object().into_iter().flatten();
    let mut stages: Vec<(&str, u64)> =
        stages.map(|(name, share)| (name.as_str(), share.as_u64().unwrap_or(0))).collect();
    stages.retain(|(_, share)| *share > 0);
    stages.sort_by_key(|(_, share)| std::cmp::Reverse(*share));
    let words: Vec<String> = stages.iter().map(|(name, share)| format!("{name} {} %", (share + 50) / 100)).collect();
    words.join(", ")
}

fn verdict(forecast: &Forecast, columns: usize) -> String {
    let columns = counted(columns as u64, "column");
    match forecast.verdict {
        Verdict::Enough { directions, measured } => {
            let directions = counted(directions as u64, "direction");
            let shape = match measured {
                0 => "sites that say where rows are".to_owned(),
                _ => format!("the shape in {measured} of them"),
            };
            format!("enough rows: expect about {directions}, and {shape}")
        }
        Verdict::OnlyMeans { would_do } => {
            let rows = match would_do {
                Some(rows) => format!("about {} rows would do", thousands(rows)),
                None => "no number of rows would do".to_owned(),
            };
            format!("too few rows for directions at this epsilon: {} only; {rows}", measured(forecast))
        }
        Verdict::TooFew { would_do: Some(rows) } => {
            format!("too few rows for {columns} at this epsilon: about {} would do", thousands(rows))
        }
        Verdict::TooFew { would_do: None } => format!("no number of rows is enough for {columns} at this epsilon"),
    }
}

/// What a fit without directions measures.
fn measured(forecast: &Forecast) -> &'static str {
    let shares = &forecast.shares;
    match (shares.centre > 0, shares.contrasts > 0, shares.measure > 0) {
        (true, true, _) => "means of columns and of each stratum",
        (true, false, true) => "means of columns and sizes of strata",
        (true, false, false) => "means of columns",
        (false, true, _) => "means of each stratum",
        (false, false, _) => "sizes of strata",
    }
}

/// Two digits that count.
fn digits(x: f64) -> String {
    if !x.is_finite() || x == 0.0 {
        return x.to_string();
    }
    let behind = (1 - x.abs().log10().floor() as i32).clamp(0, 12) as usize;
    if x.abs() >= 1e6 { format!("{x:.1e}") } else { format!("{x:.behind$}") }
}

fn size(bytes: f64) -> String {
    if bytes < 1e9 { format!("{} MB", digits(bytes / 1e6)) } else { format!("{} GB", digits(bytes / 1e9)) }
}

fn time(seconds: f64) -> String {
    match seconds {
        s if s < 1.0 => "less than a second".to_owned(),
        s if s < 120.0 => format!("{} seconds", digits(s)),
        s if s < 7200.0 => format!("{} minutes", digits(s / 60.0)),
        s => format!("{} hours", digits(s / 3600.0)),
    }
}
