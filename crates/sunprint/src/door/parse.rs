//! Text to numbers and truth values, tolerant of the common spellings.

/// The text without surrounding spaces and without one pair of surrounding quotes.
pub(super) fn bare(text: &str) -> &str {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote)) {
            return inner.trim();
        }
    }
    text
}

/// A real number; `None` where the text spells none. `nan` and `inf` are numbers here.
#[inline]
pub(super) fn number(text: &str) -> Option<f64> {
    // The plain case first: the cleaning is only looked at when the text is not a number as it stands.
    text.parse().ok().or_else(|| bare(text).parse().ok())
}

/// A whole number in plain digits; `None` for everything else, also for numbers too large.
#[inline]
pub(super) fn integer(text: &str) -> Option<i64> {
    let bytes = text.as_bytes();
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    // Eighteen digits stay below 2^63.
    if digits.is_empty() || digits.len() > 18 {
        return text.parse().ok();
    }
    let mut value = 0i64;
    for &digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if negative { -value } else { value })
}

/// False or true in the common spellings; `None` where the text spells neither.
pub(super) fn truth(text: &str) -> Option<bool> {
    const SPELLINGS: [(&str, bool); 12] = [
        ("0", false),
        ("1", true),
        ("false", false),
        ("true", true),
        ("no", false),
        ("yes", true),
        ("f", false),
        ("t", true),
        ("n", false),
        ("y", true),
        ("off", false),
        ("on", true),
    ];
    let text = bare(text);
    let listed = SPELLINGS.iter().find(|(spelling, _)| spelling.eq_ignore_ascii_case(text)).map(|(_, truth)| *truth);
    listed.or_else(|| match text.parse::<f64>() {
        Ok(0.0) => Some(false),
        Ok(1.0) => Some(true),
        _ => None,
    })
}
