//! Few rows of a mixed table: means of numbers, and how often each category comes.

use sunprint::fit::Fit;
use sunprint::plan::{Facts, Plan, Shares};
use sunprint::privacy::{Budget, Kernel};
use sunprint::schema::{Form, HOT, Schema};
use sunprint::tally::Work;
use sunprint::tally::codes::Codes;

const ROWS: u64 = 1500;
/// How often each category comes, in tenths.
const TENTHS: [u64; 5] = [6, 2, 1, 1, 0];

fn schema() -> Schema {
    let number = |j: usize| format!("[[column]]\nname = \"x{j}\"\nkind = \"continuous\"\nmin = 0\nmax = 1\n");
    let category = "[[column]]\nname = \"c\"\nkind = \"categorical\"\nvalues = [\"p\", \"q\", \"r\", \"s\", \"t\"]\n";
    let label = "[[column]]\nname = \"y\"\nkind = \"categorical\"\nvalues = [\"a\", \"b\"]\nrole = \"label\"\n";
    let text: String = (0..10).map(number).chain([category.to_string(), label.to_string()]).collect();
    Schema::parse(&text, "mixed.toml").unwrap()
}

fn table(schema: &Schema) -> Codes {
    let mut codes = Codes::with_capacity(schema.width(), ROWS as usize);
    let category = |i: u64| {
        let mut sum = 0;
        TENTHS.iter().position(|tenths| {
            sum += tenths;
            i % 10 < sum
        })
    };
    for i in 0..ROWS {
        let mut row = vec![0_u16; schema.width()];
        for block in schema.blocks() {
            match block.form {
                Form::OneHot => row[block.start + category(i).unwrap()] = HOT,
                _ => row[block.start] = (20_000 + (i * 7919 + 13 * block.start as u64) % 20_000) as u16,
            }
        }
        codes.push(&row, (i / 10 % 2) as u32);
    }
    codes
}

/// The works of a fit, what it spent on marginals, and the furthest that a category's share is from the truth.
fn fitted(plan: Plan, seed: u64) -> (Vec<Work>, Vec<String>, f64) {
    let schema = schema();
    let codes = table(&schema);
    let budget = Budget::pure("1".parse().unwrap());
    let mut fit = Fit::begin_with_danger_kernel(&schema, plan, budget, ROWS, Kernel::seeded(seed)).unwrap();
    let mut works = Vec::new();
    while let Some(pass) = fit.next_pass() {
        works.push(pass.work.clone());
        fit.absorb(pass.tally(&codes)).unwrap();
    }
    let model = fit.finish().unwrap();
    let spent = model.receipt().spent.iter().filter(|spent| spent.stage == "marginals");
    let spent = spent.map(|spent| format!("{}; {}", spent.sensitivity, spent.noise)).collect();
    let start = schema.blocks().iter().find(|block| block.form == Form::OneHot).unwrap().start;
    let draw = model.draw(20_000, 1);
    let (mut counts, mut rows) = ([0.0; 5], 0.0);
    for block in 0..draw.blocks() {
        for row in draw.block(block).units.chunks_exact(schema.width()) {
            rows += 1.0;
            (0..5).for_each(|c| counts[c] += f64::from(u8::from(row[start + c] > 0.5)));
        }
    }
    let off = |c: usize| (counts[c] / rows - TENTHS[c] as f64 / 10.0).abs();
    (works, spent, (0..5).map(off).fold(0.0, f64::max))
}

/// One histogram of 1,500 rows with a tenth to three tenths of ε has noise of some thirty rows: 0.02. Fixed seeds.
#[test]
fn categories_come_as_often_as_they_do() {
    let facts = Facts::of(&schema(), ROWS, 1.0);
    let shares = Shares::for_table(&facts);
    assert!(facts.few_rows() && shares.moments == 0 && shares.marginals > 0, "{shares:?}");
    for seed in 0..5 {
        let (works, spent, off) = fitted(Plan::default(), seed);
        assert!(off < 0.1, "{off}");
        let kinds: Vec<bool> = works.iter().map(|work| matches!(work, Work::Marginals(_))).collect();
        assert_eq!(kinds, [false, false, true], "the last pass counts categories");
        assert_eq!(spent.len(), 1);
        assert!(spent[0].starts_with("in each of 1 histograms one count down and one up, by 1; discrete Laplace"));
    }
    // The control: means alone say nothing of categories.
    let without = Shares { contrasts: shares.contrasts + shares.marginals, marginals: 0, ..shares };
    let (works, spent, off) = fitted(Plan { shares: Some(without), ..Plan::default() }, 0);
    assert!(works.len() == 2 && spent.is_empty() && off > 0.2, "{off}");
}
