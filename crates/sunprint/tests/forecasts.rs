//! What is predicted is what is done: a forecast has the stages and shares of the fit that follows.

mod common;

use common::{fit, promise, random_rows, table};
use sunprint::forecast::{Question, Verdict};
use sunprint::plan::Plan;
use sunprint::privacy::Kernel;
use sunprint::schema::Schema;

const NUMBERS: &str = "[[column]]\nname = \"a\"\nkind = \"continuous\"\nmin = 0\nmax = 1\nmissing = \"allow\"\n\
    [[column]]\nname = \"b\"\nkind = \"integer\"\nmin = 0\nmax = 120\n\
    [[column]]\nname = \"hour\"\nkind = \"integer\"\nmin = 0\nmax = 23\nscale = \"cyclic\"\n";
const CHOICES: &str = "[[column]]\nname = \"c\"\nkind = \"categorical\"\nvalues = [\"p\", \"q\", \"r\"]\n\
    [[column]]\nname = \"d\"\nkind = \"categorical\"\nvalues = [\"u\", \"v\"]\nmissing = \"allow\"\n";

fn label(strata: usize) -> String {
    let values: Vec<String> = (0..strata).map(|s| format!("\"s{s}\"")).collect();
    let values = values.join(", ");
    format!("[[column]]\nname = \"y\"\nkind = \"categorical\"\nvalues = [{values}]\nrole = \"label\"\n")
}

/// Few rows and many; numbers, categories and both; no label, few strata and more than have contrasts.
#[test]
fn a_forecast_has_the_stages_of_the_fit() {
    for columns in [NUMBERS.to_string(), CHOICES.to_string(), format!("{NUMBERS}{CHOICES}")] {
        for strata in [1, 2, 5, 20] {
            let text = if strata > 1 { format!("{columns}{}", label(strata)) } else { columns.clone() };
            let schema = Schema::parse(&text, "table.toml").unwrap();
            for (rows, epsilon, delta) in
                [(30, "1", None), (30, "1", Some("1e-6")), (2_000, "0.5", None), (9_000, "1", None)]
            {
                let asked = Question::new(&schema, rows, epsilon.parse().unwrap(), delta.map(|d| d.parse().unwrap()));
                let forecast = asked.forecast();
                let codes = table(schema.width(), &random_rows(schema.width(), strata as u32, rows as usize, 3));
                let model = fit(&codes, &schema, Plan::default(), promise(epsilon, delta), Kernel::seeded(1)).unwrap();
                let receipt = model.receipt();
                let shares = &forecast.shares;
                let predicted = [
                    ("centre", shares.centre),
                    ("spread", shares.spread),
                    ("contrasts", shares.contrasts),
                    ("moments", shares.moments),
                    ("marginals", shares.marginals),
                    ("measure", shares.measure),
                    ("labels", shares.labels),
                    ("sites", shares.sites),
                ];
                let mut predicted = predicted;
                if shares.moments == 0 {
                    // Strata are counted in the pass of their sums, categories in the next.
                    predicted.swap(4, 5);
                }
                let predicted: Vec<(&str, u64)> = predicted.into_iter().filter(|stage| stage.1 > 0).collect();
                let done: Vec<(&str, u64)> = receipt.stages.iter().map(|s| (s.name.as_str(), s.share)).collect();
                let what = format!("{strata} strata, {rows} rows, ε = {epsilon}: {text}");
                assert_eq!(predicted, done, "{what}");
                let mut spent: Vec<&str> = receipt.spent.iter().map(|spent| spent.stage.as_str()).collect();
                // Sites may be counted more than once.
                spent.dedup();
                assert_eq!(spent, done.iter().map(|stage| stage.0).collect::<Vec<_>>(), "{what}");
                // What is said of a stage is said if it runs, and of none else.
                let runs = |name: &str| spent.contains(&name);
                let noise = &forecast.noise;
                assert_eq!(noise.edge.is_some(), runs("moments"), "{what}");
                assert_eq!(noise.stratum_mean.is_some(), runs("contrasts"), "{what}");
                assert_eq!(noise.distribution.is_some(), runs("marginals"), "{what}");
                assert_eq!(matches!(forecast.verdict, Verdict::OnlyMeans { .. }), !runs("moments"), "{what}");
                let blob = receipt.dimension == Some(0);
                assert_eq!(blob, !runs("moments") || !runs("measure"), "{what}");
                for outlook in &forecast.outlooks {
                    assert_eq!(outlook.dimension == 0, blob, "{what}");
                    assert!(outlook.w1.is_finite() && outlook.w1 > 0.0, "{what}");
                }
                let errors =
                    [Some(noise.mean), Some(noise.variance), noise.stratum_mean, noise.edge, noise.distribution];
                assert!(errors.iter().flatten().all(|x| x.is_finite() && *x > 0.0), "{what}: {noise:?}");
            }
        }
    }
}
