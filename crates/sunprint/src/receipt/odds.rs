//! What the promise means for one person, in odds.

use super::Receipt;
use crate::plan::as_float;

/// What somebody who sees a release can come to believe about one row: docs/proofs.md, Lemma 23.
///
/// **Beliefs.** Let H be "the row is this one" and H′ "it is that one", believed with probabilities p and 1 − p. Whatever
/// is seen has at most e^ε times the probability under H that it has under H′, so by Bayes' rule the odds p : (1 − p)
/// grow at most by e^ε: the belief in H becomes at most p e^ε/(p e^ε + 1 − p), and at least p/(p + (1 − p) e^ε).
///
/// **With δ.** The law of the release under H is a part that is at most e^ε times the law under H′, and a rest of
/// probability at most δ. The bounds hold for the first part; about the rest nothing is promised.
///
/// **Guesses.** Let a rule say H with probability a under H, and H′ with probability b under H′. The promise gives
/// a ≤ e^ε (1 − b) + δ and b ≤ e^ε (1 − a) + δ, and the sum of both: (a + b)/2 ≤ (e^ε + δ)/(1 + e^ε).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Odds {
    epsilon: f64,
    delta: f64,
}

impl Odds {
    /// The odds of a receipt.
    pub fn of(receipt: &Receipt) -> Odds {
        Odds { epsilon: as_float(&receipt.epsilon), delta: receipt.delta.as_ref().map_or(0.0, as_float) }
    }

    /// The doubt that is left at least to somebody whose belief was `prior`: 1 less what the belief becomes at most.
    pub fn doubt(&self, prior: f64) -> f64 {
        let other = (1.0 - prior) * libm::exp(-self.epsilon);
        other / (prior + other)
    }

    /// How often a guess between two equally likely rows is wrong, at least.
    pub fn wrong(&self) -> f64 {
        let shrunk = libm::exp(-self.epsilon);
        ((1.0 - self.delta) * shrunk / (1.0 + shrunk)).max(0.0)
    }

    /// The sentences.
    pub fn in_words(&self) -> Vec<String> {
        let doubt = self.doubt(0.5);
        let pair = if doubt >= 0.01 {
            let most = libm::round(100.0 * (1.0 - doubt));
            format!("{most}:{} (at most {})", 100.0 - most, at_most(doubt))
        } else {
            format!("at most {}", at_most(doubt))
        };
        let mut words = Vec::new();
        if self.delta > 0.0 {
            words.push(
                "Apart from an event that has at most the probability δ, about which nothing is promised, the following \
                 holds."
                    .to_string(),
            );
        }
        words.push(format!(
            "Someone who thinks it 50:50 whether a given row of the table is yours, or whether it says one thing or \
             another, can come to {pair} by looking at this release and at everything that will ever be made of it; \
             with the same bound they can come to think that it is not."
        ));
        words.push(format!(
            "Someone who gives it a chance of 1 % can come to at most {}. A belief p becomes at most \
             e^ε p/(e^ε p + 1 − p), and for p = 1/2 this is e^ε/(1 + e^ε).",
            at_most(self.doubt(0.01))
        ));
        if self.delta > 0.0 {
            words.push(format!(
                "With δ counted in: whoever has to guess which of two equally likely rows was in the table is right \
                 with a probability of at most (e^ε + δ)/(1 + e^ε), {}.",
                at_most(self.wrong())
            ));
        }
        words.push(
            "This holds whatever else they know and however much they compute, as long as what they think of all other \
             rows does not hang on yours. It does not keep them from learning what is true of people like you: that \
             would be learnt from the others, had your row not been there."
                .to_string(),
        );
        words.push(if self.delta > 0.0 {
            "A person with k rows has k times the ε, and (e^kε − 1)/(e^ε − 1) times the δ.".to_string()
        } else {
            "A person with k rows has k times the ε.".to_string()
        });
        words
    }
}

/// One less the doubt, in percent, rounded up; with as many digits as the doubt needs.
fn at_most(doubt: f64) -> String {
    let left = 100.0 * doubt;
    if left < 1e-6 {
        return "100 %, which is no bound worth the name".to_string();
    }
    let digits = if left >= 1.0 { 1 } else { 1 - libm::floor(libm::log10(left)) as i32 };
    let scale = libm::pow(10.0, f64::from(digits));
    let left = libm::floor(left * scale) / scale;
    format!("{:.*} %", digits.max(0) as usize, 100.0 - left)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn odds(epsilon: f64, delta: f64) -> Odds {
        Odds { epsilon, delta }
    }

    #[test]
    fn beliefs_are_those_of_bayes_rule() {
        assert!((odds(1.0, 0.0).doubt(0.5) - 0.268_941_421_369_995_1).abs() < 1e-12);
        let one_percent = 0.01 * 1_f64.exp() / (0.01 * 1_f64.exp() + 0.99);
        assert!((odds(1.0, 0.0).doubt(0.01) - (1.0 - one_percent)).abs() < 1e-12);
        assert!((odds(0.0, 0.0).doubt(0.3) - 0.7).abs() < 1e-12, "nothing seen, nothing learnt");
        let guess = (1_f64.exp() + 0.01) / (1.0 + 1_f64.exp());
        assert!((odds(1.0, 0.01).wrong() - (1.0 - guess)).abs() < 1e-12);
        assert!(odds(1000.0, 0.5).wrong() >= 0.0 && odds(1000.0, 0.0).doubt(0.5) >= 0.0);
    }

    #[test]
    fn percentages_are_rounded_against_us() {
        assert_eq!(at_most(odds(1.0, 0.0).doubt(0.5)), "73.2 %");
        assert_eq!(at_most(odds(1.0, 0.0).doubt(0.01)), "2.7 %");
        assert_eq!(at_most(odds(10.0, 0.0).doubt(0.5)), "99.9955 %");
        assert_eq!(at_most(0.0), "100 %, which is no bound worth the name");
        assert_eq!(at_most(0.5), "50.0 %");
    }

    /// The table of docs/privacy-promise.md.
    #[test]
    fn the_promise_prints_the_same_odds() {
        let document = include_str!("../../../../docs/privacy-promise.md");
        let mut lines = 0;
        for line in document.lines().skip_while(|line| !line.starts_with("| ε |")).skip(2) {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let Some(epsilon) = cells.get(1).and_then(|cell| cell.parse().ok()) else { break };
            let odds = odds(epsilon, 0.0);
            assert_eq!([cells[2], cells[3]], [at_most(odds.doubt(0.5)), at_most(odds.doubt(0.01))], "{line}");
            lines += 1;
        }
        assert_eq!(lines, 6);
    }

    #[test]
    fn a_coin_becomes_73_to_27() {
        let words = odds(1.0, 0.0).in_words().join(" ");
        assert!(words.contains("come to 73:27 (at most 73.2 %)") && words.contains("1 % can come to at most 2.7 %"));
        assert!(!words.contains('δ'), "nothing is said of a δ that is not there");
        let words = odds(1.0, 1e-6).in_words().join(" ");
        assert!(words.starts_with("Apart from an event") && words.contains("(e^ε + δ)/(1 + e^ε), 73.2 %"));
    }
}
