//! Days and moments as numbers, and as text.
//!
//! A day is counted from 1970-01-01 and a moment in seconds from its beginning, in the Gregorian calendar and without
//! leap seconds or time zones. Years go from 1 to 9999.

/// Seconds of a day.
pub const DAY: i64 = 86_400;

/// From 0001-01-01 to 1970-01-01.
const EPOCH: i64 = 719_162;

const BEFORE_MONTH: [i64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// The days from 0001-01-01 to the first of January of a year.
fn before_year(year: i64) -> i64 {
    let whole = year - 1;
    365 * whole + whole.div_euclid(4) - whole.div_euclid(100) + whole.div_euclid(400)
}

/// The days of a year before a month, which counts from 0; 12 gives the whole year.
fn before_month(year: i64, month: usize) -> i64 {
    BEFORE_MONTH[month] + i64::from(month > 1 && is_leap(year))
}

/// The number of a day; `None` if the calendar has no such day.
pub fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || day < 1 {
        return None;
    }
    let (first, next) = (before_month(year, month as usize - 1), before_month(year, month as usize));
    (day <= next - first).then(|| before_year(year) + first + day - 1 - EPOCH)
}

/// Year, month and day of a day's number; the nearest day of the years 1 to 9999.
pub fn calendar(day: i64) -> (i64, i64, i64) {
    let days = day.clamp(-EPOCH, before_year(10_000) - 1 - EPOCH) + EPOCH;
    // 400 years have 146,097 days: the guess is at most one year off.
    let mut year = 1 + days * 400 / 146_097;
    while before_year(year) > days {
        year -= 1;
    }
    while before_year(year + 1) <= days {
        year += 1;
    }
    let within = days - before_year(year);
    let month = (1..12).take_while(|&month| before_month(year, month) <= within).count();
    (year, month as i64 + 1, within - before_month(year, month) + 1)
}

/// Digits at the beginning of a text, at least and at most so many; their value, and what follows.
fn digits(text: &[u8], least: usize, most: usize) -> Option<(i64, &[u8])> {
    let count = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    let value = text[..count].iter().fold(0, |value, byte| 10 * value + i64::from(byte - b'0'));
    (count >= least).then_some((value, &text[count..]))
}

fn after(text: &[u8], byte: u8) -> Option<&[u8]> {
    text.strip_prefix(&[byte])
}

fn moment(day: i64, [hour, minute, second]: [i64; 3]) -> Option<i64> {
    let clock = hour <= 23 && minute <= 59 && second <= 60;
    clock.then_some(day * DAY + 3600 * hour + 60 * minute + second)
}

/// The moment that an ISO text spells: `2024-02-29`, then perhaps `T` or a space and `13:45` or `13:45:10`, a fraction of
/// a second, which is dropped, and `Z` or an offset such as `+02:00`, which is taken off.
pub fn read_iso(text: &str) -> Option<i64> {
    let (year, rest) = digits(text.trim().as_bytes(), 4, 4)?;
    let (month, rest) = digits(after(rest, b'-')?, 2, 2)?;
    let (day, rest) = digits(after(rest, b'-')?, 2, 2)?;
    let day = day_number(year, month, day)?;
    let [b'T' | b't' | b' ', rest @ ..] = rest else {
        return rest.is_empty().then_some(day * DAY);
    };
    let (hour, rest) = digits(rest, 2, 2)?;
    let (minute, mut rest) = digits(after(rest, b':')?, 2, 2)?;
    let mut second = 0;
    if let Some(seconds) = after(rest, b':') {
        (second, rest) = digits(seconds, 2, 2)?;
        if let Some(fraction) = after(rest, b'.') {
            rest = digits(fraction, 1, 18)?.1;
        }
    }
    let offset = match rest {
        [] | [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let (hours, rest) = digits(rest, 2, 2)?;
            let (minutes, rest) = digits(after(rest, b':').unwrap_or(rest), 2, 2)?;
            let size = 3600 * hours + 60 * minutes;
            rest.is_empty().then_some(if *sign == b'-' { -size } else { size })?
        }
        _ => return None,
    };
    Some(moment(day, [hour, minute, second])? - offset)
}

/// A day as ISO text.
pub fn iso_day(day: i64) -> String {
    Pattern::iso(false).text(day * DAY)
}

/// A moment as ISO text.
pub fn iso_moment(moment: i64) -> String {
    Pattern::iso(true).text(moment)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

const LETTERS: [(char, Field); 6] = [
    ('Y', Field::Year),
    ('m', Field::Month),
    ('d', Field::Day),
    ('H', Field::Hour),
    ('M', Field::Minute),
    ('S', Field::Second),
];

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Literal(Vec<u8>),
    Field(Field),
}

/// How days or moments are written as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    items: Vec<Item>,
    /// ISO, which is also read in its other spellings.
    iso: bool,
}

impl Pattern {
    /// The default: `%Y-%m-%d`, or `%Y-%m-%dT%H:%M:%S` for moments.
    pub fn iso(moments: bool) -> Pattern {
        let format = if moments { "%Y-%m-%dT%H:%M:%S" } else { "%Y-%m-%d" };
        Pattern { items: items(format).unwrap_or_default(), iso: true }
    }

    /// Reads a format; says what is wrong with it. Days need year, month and day and nothing else, moments at least the
    /// hour too.
    pub fn new(format: &str, moments: bool) -> Result<Pattern, &'static str> {
        let items = items(format)?;
        let count = |field| items.iter().filter(|item| **item == Item::Field(field)).count();
        if LETTERS.iter().any(|&(_, field)| count(field) > 1) {
            return Err("has a part twice");
        }
        let has = |field| count(field) == 1;
        if ![Field::Year, Field::Month, Field::Day].into_iter().all(has) {
            return Err("must have %Y, %m and %d");
        }
        let clock = [Field::Hour, Field::Minute, Field::Second].map(has);
        match (moments, clock) {
            (false, [false, false, false]) | (true, [true, _, false] | [true, true, true]) => {}
            (false, _) => return Err("has a time of day, which a date has not"),
            (true, [false, ..]) => return Err("must have %H, the hour"),
            (true, _) => return Err("has seconds but no minutes"),
        }
        Ok(Pattern { items, iso: false })
    }

    /// The moment that a text spells; `None` where it spells none.
    pub fn read(&self, text: &str) -> Option<i64> {
        if self.iso {
            return read_iso(text);
        }
        let mut rest = text.trim().as_bytes();
        let mut parts = [1, 1, 1, 0, 0, 0];
        for (i, item) in self.items.iter().enumerate() {
            match item {
                Item::Literal(literal) => rest = rest.strip_prefix(literal.as_slice())?,
                Item::Field(Field::Year) => (parts[0], rest) = digits(rest, 4, 4)?,
                Item::Field(field) => {
                    // A single digit will do where something follows that is no digit.
                    let least = match self.items.get(i + 1) {
                        Some(Item::Field(_)) => 2,
                        Some(Item::Literal(literal)) if literal[0].is_ascii_digit() => 2,
                        _ => 1,
                    };
                    (parts[*field as usize], rest) = digits(rest, least, 2)?;
                }
            }
        }
        let [year, month, day, clock @ ..] = parts;
        if rest.is_empty() { moment(day_number(year, month, day)?, clock) } else { None }
    }

    /// Appends a moment.
    pub fn push(&self, out: &mut Vec<u8>, moment: i64) {
        let (year, month, day) = calendar(moment.div_euclid(DAY));
        let second = moment.rem_euclid(DAY);
        for item in &self.items {
            match item {
                Item::Literal(literal) => out.extend_from_slice(literal),
                Item::Field(Field::Year) => push_digits(out, year, 4),
                Item::Field(Field::Month) => push_digits(out, month, 2),
                Item::Field(Field::Day) => push_digits(out, day, 2),
                Item::Field(Field::Hour) => push_digits(out, second / 3600, 2),
                Item::Field(Field::Minute) => push_digits(out, second / 60 % 60, 2),
                Item::Field(Field::Second) => push_digits(out, second % 60, 2),
            }
        }
    }

    /// A moment as text.
    pub fn text(&self, moment: i64) -> String {
        let mut out = Vec::new();
        self.push(&mut out, moment);
        String::from_utf8_lossy(&out).into_owned()
    }
}

fn push_digits(out: &mut Vec<u8>, value: i64, count: u32) {
    out.extend((0..count).rev().map(|place| b'0' + (value / 10_i64.pow(place) % 10) as u8));
}

fn items(format: &str) -> Result<Vec<Item>, &'static str> {
    let mut items: Vec<Item> = Vec::new();
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        let literal = match (letter, letter == '%') {
            (plain, false) => plain,
            _ => match letters.next() {
                Some('%') => '%',
                Some(letter) => {
                    let known = LETTERS.iter().find(|(known, _)| *known == letter);
                    items.push(Item::Field(known.ok_or("has an unknown part")?.1));
                    continue;
                }
                None => return Err("ends in a lone `%`"),
            },
        };
        let mut bytes = [0; 4];
        let bytes = literal.encode_utf8(&mut bytes).as_bytes();
        match items.last_mut() {
            Some(Item::Literal(before)) => before.extend_from_slice(bytes),
            _ => items.push(Item::Literal(bytes.to_vec())),
        }
    }
    Ok(items)
}

/// A day in a model: as ISO text.
pub(super) mod as_day {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(day: &i64, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&super::iso_day(*day))
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<i64, D::Error> {
        let moment = super::read_iso(&String::deserialize(from)?).ok_or_else(|| D::Error::custom("not a date"))?;
        Ok(moment.div_euclid(super::DAY))
    }
}

/// A moment in a model: as ISO text.
pub(super) mod as_moment {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(moment: &i64, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(&super::iso_moment(*moment))
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<i64, D::Error> {
        super::read_iso(&String::deserialize(from)?).ok_or_else(|| D::Error::custom("not a moment"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_the_calendar() {
        let mut expected = day_number(1, 1, 1).unwrap();
        assert_eq!((expected, day_number(1970, 1, 1)), (-EPOCH, Some(0)));
        for year in (1..=9999).filter(|year| year % 97 == 0 || (1895..2105).contains(year)) {
            expected = day_number(year, 1, 1).unwrap();
            for month in 1..=12 {
                for day in 1..=31 {
                    if let Some(number) = day_number(year, month, day) {
                        assert_eq!((number, calendar(number)), (expected, (year, month, day)));
                        expected += 1;
                    } else {
                        assert!(day > 28 && ![1, 3, 5, 7, 8, 10, 12].contains(&month));
                    }
                }
            }
            assert_eq!(expected, before_year(year + 1) - EPOCH);
        }
        assert_eq!(day_number(1900, 2, 29).or(day_number(2023, 2, 29)).or(day_number(2024, 13, 1)), None);
        assert_eq!((calendar(i64::MIN), calendar(i64::MAX)), ((1, 1, 1), (9999, 12, 31)));
    }

    #[test]
    fn iso_spellings() {
        let at = |text: &str| read_iso(text);
        assert_eq!(at("1970-01-02"), Some(DAY));
        assert_eq!(at("1970-01-01T00:01"), Some(60));
        assert_eq!(at(" 1970-01-01 00:00:07.999Z "), Some(7));
        assert_eq!(at("1970-01-01T02:00:00+02:00"), Some(0));
        assert_eq!(at("1969-12-31T23:30:00-0030"), Some(0));
        for wrong in
            ["", "1970", "1970-1-1", "1970-02-30", "1970-01-01T", "1970-01-01T24:00", "1970-01-01x", "0000-01-01"]
        {
            assert_eq!(at(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn formats_read_what_they_write() {
        for (format, moments) in
            [("%d.%m.%Y", false), ("%Y%m%d", false), ("%m/%d/%Y %H:%M:%S", true), ("%d %m %Y, %H%%", true)]
        {
            let pattern = Pattern::new(format, moments).unwrap();
            for day in [-700_000, -1, 0, 1, 20_000, 2_000_000] {
                let moment = day * DAY + if moments { 5 * 3600 } else { 0 };
                assert_eq!(pattern.read(&pattern.text(moment)), Some(moment), "{format}");
            }
        }
        let short = Pattern::new("%d.%m.%Y", false).unwrap();
        assert_eq!(short.read("1.2.1970"), Some(31 * DAY));
        assert_eq!((short.read("1.2.70"), short.read("30.2.1970"), short.read("")), (None, None, None));
        for (wrong, moments) in [
            ("%Y-%m", false),
            ("%Y-%m-%d %d", false),
            ("%Y-%m-%d %H", false),
            ("%Y-%m-%d", true),
            ("%Y-%m-%d %H:%S", true),
            ("%y-%m-%d", false),
            ("%Y-%m-%d%", false),
        ] {
            assert!(Pattern::new(wrong, moments).is_err(), "{wrong}");
        }
    }
}
