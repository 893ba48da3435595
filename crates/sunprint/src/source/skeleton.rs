//! A first schema for a file: from its header alone, or from all of it where the data is declared public.

use super::arrow_in::ArrowFile;
use super::header::{Header, check_names};
use super::lines::{self, Lines};
use super::parquet_in::ParquetFile;
use super::place::{Format, Input};
use super::{Layout, Physical, PhysicalType, Progress, Silent, Unit, arrays, words};
use crate::door::Raw;
use crate::error::Result;
use crate::schema::dates::{self, DAY, iso_day, iso_moment};
use crate::schema::toml_text;
use std::collections::BTreeSet;
use std::fmt::Write;

const FROM_HEADER: &str = "# The schema of the table, from its header alone: no row was looked at.\n";

const FROM_NAMES: &str = "# The schema of the table, from the names that were given: no row was looked at.\n";

const FROM_NOTHING: &str = "\
# The schema of the table, which has no header: the values in its first line were counted, and none was looked at.
# Give the columns better names; they are told apart by their order.
";

const HEAD: &str = "\
# Fill in what is public knowledge, without looking at the data:
#   kind     continuous | integer | boolean | categorical | date | datetime
#   min/max  the smallest and largest value that the column can have; dates as \"2024-02-29\"
#   values   for categorical columns: every category
# and what else is known, where it is not the default:
#   missing  \"allow\" keeps missing values; without it they are filled in
#   role     \"label\" for the column to be predicted, \"stratum\" for groups to be kept apart
#   scale    for numbers: \"log\" if they are skewed and positive, \"cyclic\" for hours and angles
#   decimals for continuous columns: the digits behind the point
#   ordered  true if the categories are listed in their order
#   other    the category that stands for everything that is not listed
#   format   for dates as text, for instance \"%d.%m.%Y\"
";

const PUBLIC_HEAD: &str = "\
# The schema of the table, with kinds, bounds and categories taken from the data itself,
# because the data was declared public. Bounds taken from private data would break the promise.
";

/// As many different texts are taken for categories.
const MOST_TEXTS: usize = 1000;

/// A schema with names, and kinds where the file has types; bounds and categories are left as `"?"`. Reads only the
/// header.
pub fn skeleton(input: &Input) -> Result<String> {
    let layout = match input.format()? {
        Format::Parquet => ParquetFile::open(input, None)?.layout,
        Format::Arrow => ArrowFile::open(input, None)?.layout,
        text => open_text(input, text, &Silent)?.0,
    };
    let source = match input.header() {
        Header::FirstLine => FROM_HEADER,
        Header::Names(_) => FROM_NAMES,
        Header::Absent => FROM_NOTHING,
    };
    let mut out = begin(&format!("{source}{HEAD}"), input);
    for column in &layout.columns {
        begin_column(&mut out, &column.name);
        out.push_str(match column.physical {
            PhysicalType::Bool => "kind = \"boolean\"\n",
            PhysicalType::Utf8 | PhysicalType::LargeUtf8 | PhysicalType::Utf8View | PhysicalType::Dictionary { .. } => {
                "kind = \"categorical\"\nvalues = \"?\"\n"
            }
            PhysicalType::Plain
            | PhysicalType::Float16
            | PhysicalType::Float32
            | PhysicalType::Float64
            | PhysicalType::Decimal128 { .. } => "kind = \"continuous\"\nmin = \"?\"\nmax = \"?\"\n",
            PhysicalType::Date32 | PhysicalType::Date64 => "kind = \"date\"\nmin = \"?\"\nmax = \"?\"\n",
            PhysicalType::Timestamp { .. } => "kind = \"datetime\"\nmin = \"?\"\nmax = \"?\"\n",
            _ => "kind = \"integer\"\nmin = \"?\"\nmax = \"?\"\n",
        });
    }
    Ok(out)
}

/// A text file and its columns: by its first line, if that looks like a header, or else as was said.
fn open_text<'a>(input: &Input, format: Format, progress: &'a dyn Progress) -> Result<(Layout, Lines<'a>)> {
    match input.header() {
        Header::FirstLine => {
            let (layout, lines) = lines::open(input, format, None, progress)?;
            check_names(layout.columns.iter().map(|column| column.name.as_str()), lines.place())?;
            Ok((layout, lines))
        }
        Header::Names(names) => lines::open(input, format, Some(names.clone()), progress),
        Header::Absent => {
            let (mut layout, mut lines) = lines::open(input, format, Some(Vec::new()), progress)?;
            let column = |number: usize| Physical::new(format!("column_{number}"), PhysicalType::Plain);
            layout.columns = (1..=lines.count_columns()?).map(column).collect();
            Ok((layout, lines))
        }
    }
}

fn begin(head: &str, input: &Input) -> String {
    // The name of a file is public, and is the best guess.
    let name = input.stem().unwrap_or_else(|| "?".to_string());
    format!(
        "{head}\n[dataset]\nname = {}  # whose rows they are: all that is ever spent on them is added up under this name\n\
         unit = \"row\"  # one person, one row\n",
        toml_text(&name)
    )
}

fn begin_column(out: &mut String, name: &str) {
    // Writing to a text does not fail.
    let _ = write!(out, "\n[[column]]\nname = {}\n", toml_text(name));
}

/// A schema with kinds, bounds and categories from the data. Only for data that is public: the bounds of private data
/// are private.
pub fn skeleton_from_public_data(input: &Input, progress: &dyn Progress) -> Result<String> {
    let seen = match input.format()? {
        Format::Parquet => see_parquet(input, progress),
        Format::Arrow => see_arrow(input, progress),
        text => see_text(input, text, progress),
    };
    progress.done();
    let (layout, columns) = seen?;
    let mut out = begin(PUBLIC_HEAD, input);
    for (physical, seen) in layout.columns.iter().zip(columns) {
        begin_column(&mut out, &physical.name);
        seen.describe(&mut out);
    }
    Ok(out)
}

type Seen = (Layout, Vec<Column>);

fn see_text(input: &Input, format: Format, progress: &dyn Progress) -> Result<Seen> {
    let (layout, mut file) = open_text(input, format, progress)?;
    file.announce(progress);
    let place = file.place().to_string();
    let mut columns = vec![Column::default(); layout.columns.len()];
    let mut rows = 0u64;
    while let Some(block) = file.next_block(Vec::new())? {
        lines::for_each_row(&block, &place, format, columns.len(), |values| {
            rows += 1;
            values.iter().zip(&mut columns).for_each(|(text, column)| column.see(Raw::Text(text)));
        })?;
    }
    some_rows(rows, &place)?;
    Ok((layout, columns))
}

fn see_arrow(input: &Input, progress: &dyn Progress) -> Result<Seen> {
    let mut file = ArrowFile::open(input, None)?;
    progress.start(&format!("reading {}", file.place), None, Unit::Rows);
    let mut columns = vec![Column::default(); file.layout.columns.len()];
    let mut rows = 0;
    while let Some(batch) = file.next_rows()? {
        rows += batch.num_rows() as u64;
        see_batch(&batch, &mut columns);
        progress.advance(batch.num_rows() as u64);
    }
    some_rows(rows, &file.place)?;
    Ok((file.layout, columns))
}

fn see_parquet(input: &Input, progress: &dyn Progress) -> Result<Seen> {
    let file = ParquetFile::open(input, None)?;
    progress.start(&format!("reading {}", input.place()), Some(file.rows), Unit::Rows);
    some_rows(file.rows, &input.place())?;
    let mut columns = vec![Column::default(); file.layout.columns.len()];
    file.for_each_batch(|batch| {
        see_batch(&batch, &mut columns);
        progress.advance(batch.num_rows() as u64);
        true
    })?;
    Ok((file.layout, columns))
}

fn see_batch(batch: &arrow_array::RecordBatch, columns: &mut [Column]) {
    for (array, column) in batch.columns().iter().zip(columns) {
        arrays::for_each(array.as_ref(), 0..batch.num_rows(), |_, raw| column.see(raw));
    }
}

fn some_rows(rows: u64, place: &str) -> Result<()> {
    if rows == 0 { Err(words::no_rows(place)) } else { Ok(()) }
}

/// What was seen of one public column.
#[derive(Clone)]
struct Column {
    /// Whether everything seen so far was a whole number, a number, a truth value.
    whole: bool,
    number: bool,
    truth: bool,
    wholes: Option<(i64, i64)>,
    numbers: Option<(f64, f64)>,
    /// Whether everything was a day, or a moment.
    days: bool,
    moment: bool,
    moments: Option<(i64, i64)>,
    texts: BTreeSet<String>,
    missing: bool,
}

impl Default for Column {
    fn default() -> Self {
        Column {
            whole: true,
            number: true,
            truth: true,
            wholes: None,
            numbers: None,
            days: true,
            moment: true,
            moments: None,
            texts: BTreeSet::new(),
            missing: false,
        }
    }
}

impl Column {
    fn see(&mut self, raw: Raw) {
        match raw {
            Raw::Empty => self.missing = true,
            Raw::Moment(moment) => {
                (self.whole, self.number, self.truth) = (false, false, false);
                self.see_moment(moment, moment % DAY == 0);
            }
            Raw::Truth(_) => (self.whole, self.number, self.moment) = (false, false, false),
            Raw::Integer(x) => {
                (self.truth, self.moment) = (false, false);
                let (min, max) = self.wholes.unwrap_or((x, x));
                self.wholes = Some((min.min(x), max.max(x)));
                self.see_number(x as f64);
            }
            Raw::Number(x) => {
                self.missing |= x.is_nan();
                (self.truth, self.whole, self.moment) = (false, false, false);
                self.see_number(x);
            }
            Raw::Text(text) => self.see_text(text.trim()),
        }
    }

    fn see_number(&mut self, x: f64) {
        if x.is_finite() {
            let (min, max) = self.numbers.unwrap_or((x, x));
            self.numbers = Some((min.min(x), max.max(x)));
        }
    }

    fn see_moment(&mut self, moment: i64, is_day: bool) {
        self.days &= is_day;
        let (min, max) = self.moments.unwrap_or((moment, moment));
        self.moments = Some((min.min(moment), max.max(moment)));
    }

    fn see_text(&mut self, text: &str) {
        if text.is_empty() {
            self.missing = true;
            return;
        }
        if let Ok(x) = text.parse::<i64>() {
            self.see(Raw::Integer(x));
        } else if let Ok(x) = text.parse::<f64>() {
            self.see(Raw::Number(x));
        } else {
            (self.whole, self.number) = (false, false);
            match dates::read_iso(text) {
                Some(moment) => self.see_moment(moment, text.len() == "2024-02-29".len()),
                None => self.moment = false,
            }
            self.truth &= ["true", "false", "yes", "no"].contains(&text.to_ascii_lowercase().as_str());
        }
        if self.texts.len() <= MOST_TEXTS && !self.texts.contains(text) {
            self.texts.insert(text.to_string());
        }
    }

    fn describe(&self, out: &mut String) {
        let _ = match (self.wholes, self.numbers) {
            (Some((min, max)), _) if self.whole => {
                // One value alone is no range.
                let (min, max) = if min < max {
                    (min, max)
                } else {
                    (min.min(i64::MAX - 1), min.max(i64::MIN + 1).saturating_add(1))
                };
                write!(out, "kind = \"integer\"\nmin = {min}\nmax = {max}\n")
            }
            (_, Some((min, max))) if self.number => {
                let max = if min < max { max } else { min + min.abs().max(1.0) };
                write!(out, "kind = \"continuous\"\nmin = {min:?}\nmax = {max:?}\n")
            }
            _ if self.number => {
                write!(out, "kind = \"continuous\"  # no values were found\nmin = \"?\"\nmax = \"?\"\n")
            }
            _ if self.truth => writeln!(out, "kind = \"boolean\""),
            _ if self.moment && self.moments.is_some() => {
                let (min, max) = self.moments.unwrap_or_default();
                let max = max.max(min + if self.days { DAY } else { 1 });
                if self.days {
                    let (min, max) = (iso_day(min.div_euclid(DAY)), iso_day(max.div_euclid(DAY)));
                    write!(out, "kind = \"date\"\nmin = \"{min}\"\nmax = \"{max}\"\n")
                } else {
                    write!(out, "kind = \"datetime\"\nmin = \"{}\"\nmax = \"{}\"\n", iso_moment(min), iso_moment(max))
                }
            }
            _ if self.texts.len() > MOST_TEXTS => {
                write!(out, "kind = \"categorical\"  # more than {MOST_TEXTS} different texts\nvalues = \"?\"\n")
            }
            _ => {
                let values: Vec<String> = self.texts.iter().map(|text| toml_text(text)).collect();
                write!(out, "kind = \"categorical\"\nvalues = [{}]\n", values.join(", "))
            }
        };
        if self.missing {
            out.push_str("missing = \"allow\"\n");
        }
    }
}
