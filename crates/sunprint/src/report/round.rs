//! Numbers that are only looked at, in few digits: a page of thousands of them stays small.

/// To so many significant digits.
fn significant(x: f64, digits: usize) -> f64 {
    // A decimal and back: the nearest number with few digits, whose own shortest spelling has no more.
    format!("{x:.*e}", digits - 1).parse().unwrap_or(x)
}

/// Five digits.
pub(super) fn five(x: f64) -> f64 {
    significant(x, 5)
}

/// Four digits.
pub(super) fn four(x: f64) -> f64 {
    significant(x, 4)
}

/// To a hundred-thousandth of a width, as coarsely as decimals allow: what is left of a date has days.
pub(super) fn within(x: f64, width: f64) -> f64 {
    if !(x.is_finite() && width.is_finite() && width > 0.0) {
        return five(x);
    }
    let decimals = 5 - width.log10().floor() as i32;
    match usize::try_from(decimals) {
        Ok(decimals) => format!("{x:.decimals$}").parse().unwrap_or(x),
        Err(_) => x.round(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_digits_are_left() {
        assert_eq!((five(0.123_456_789), four(-98_765.4), five(0.0)), (0.123_46, -98_770.0, 0.0));
        assert_eq!(within(1_700_000_123.456, 86_400.0), 1_700_000_123.5);
        assert_eq!(within(20_454.123_456, 36_500.0), 20_454.1);
        assert_eq!(within(1.234_567_891, 1e12), 1.0);
        assert!(five(f64::NAN).is_nan() && within(f64::INFINITY, 1.0) == f64::INFINITY);
        assert_eq!(serde_json::to_string(&five(1.0 / 3.0)).unwrap(), "0.33333");
    }

    proptest! {
        #[test]
        fn little_is_lost(x in -1e9_f64..1e9, width in 1e-6_f64..1e9) {
            prop_assert!((five(x) - x).abs() <= 1e-4 * x.abs());
            prop_assert!((within(x, width) - x).abs() <= 1e-5 * width + 1e-15 * x.abs());
        }
    }
}
