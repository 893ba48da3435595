use super::*;
use crate::math::stream::Stream;

/// A schema of integer (`i`) and continuous (`c`) columns `a`, `b`, … with these bounds.
fn parsed(columns: &[(char, f64, f64)], rules: &[String]) -> Result<Schema> {
    let mut text = String::new();
    for (i, (kind, min, max)) in columns.iter().enumerate() {
        let kind = if *kind == 'i' { "integer" } else { "continuous" };
        let name = char::from(b'a' + i as u8);
        text += &format!("[[column]]\nname = \"{name}\"\nkind = \"{kind}\"\nmin = {min}\nmax = {max}\n");
    }
    for rule in rules {
        text += &format!("[[constraint]]\nrule = \"{rule}\"\n");
    }
    Schema::parse(&text, "test.toml")
}

fn enforced(constraints: &Constraints, row: &[f64]) -> Vec<f64> {
    let mut moved = row.to_vec();
    constraints.enforce(&mut moved);
    moved
}

/// A whole number from 0 up to but without `below`.
fn pick(random: &mut Stream, below: usize) -> usize {
    ((random.unit() * below as f64) as usize).min(below - 1)
}

/// A rule between some of the columns, of the forms that schemas have.
fn some_rule(random: &mut Stream, width: usize) -> String {
    let mut name = || char::from(b'a' + pick(random, width) as u8);
    let (x, y, z) = (name(), name(), name());
    let sign = ["<=", ">=", "<", ">", "="][pick(random, 5)];
    match pick(random, 6) {
        0 | 1 => format!("{x} {sign} {y}"),
        2 => format!("{x} + {y} {sign} {z}"),
        3 => format!("{x} {sign} 2 * {y} - {}", pick(random, 5)),
        4 => format!("0.5 * {x} + {y} {sign} 1.25 * {z}"),
        _ => format!("{x} {sign} {y} + {}.5", pick(random, 3)),
    }
}

#[test]
fn rows_obey_whatever_the_rules_are() {
    let mut random = Stream::new(5, 0, 0);
    let (mut accepted, mut moved) = (0, 0);
    for _ in 0..600 {
        let width = 2 + pick(&mut random, 4);
        let bounds = [('i', 0.0, 9.0), ('i', -100.0, 50.0), ('c', 0.0, 1.0), ('c', -3.7, 1000.0), ('i', 0.0, 1e6)];
        let columns: Vec<_> = (0..width).map(|_| bounds[pick(&mut random, bounds.len())]).collect();
        let rules: Vec<String> = (0..1 + pick(&mut random, 3)).map(|_| some_rule(&mut random, width)).collect();
        let Ok(schema) = parsed(&columns, &rules) else { continue };
        let constraints = Constraints::new(&schema).unwrap();
        accepted += 1;
        for _ in 0..20 {
            let row: Vec<f64> = (0..width).map(|_| (1.2 * random.unit() - 0.1).clamp(0.0, 1.0)).collect();
            let kept = constraints.hold(&row);
            let after = enforced(&constraints, &row);
            assert!(constraints.hold(&after), "{columns:?} {rules:?} {row:?} {after:?}");
            assert!(after.iter().all(|x| (0.0..=1.0).contains(x)));
            assert!(!kept || after == row, "a row that obeys does not move");
            assert_eq!(enforced(&constraints, &after), after, "{rules:?}: once is enough");
            moved += usize::from(!kept);
        }
    }
    assert!(accepted > 200 && moved > 2000, "{accepted} systems, {moved} rows moved");
}

/// x is the nearest point of a convex set to p exactly if (p − x)·(y − x) ≤ 0 for every y of the set.
#[test]
fn continuous_rows_move_to_the_nearest() {
    let mut random = Stream::new(6, 0, 0);
    let mut checked = 0;
    for _ in 0..150 {
        let width = 2 + pick(&mut random, 3);
        let bounds = [('c', 0.0, 1.0), ('c', -2.0, 3.0), ('c', 0.0, 10.0)];
        let columns: Vec<_> = (0..width).map(|_| bounds[pick(&mut random, bounds.len())]).collect();
        let rules: Vec<String> = (0..1 + pick(&mut random, 3)).map(|_| some_rule(&mut random, width)).collect();
        let Ok(schema) = parsed(&columns, &rules) else { continue };
        let constraints = Constraints::new(&schema).unwrap();
        let mut row = || -> Vec<f64> { (0..width).map(|_| random.unit()).collect() };
        for _ in 0..10 {
            let (drawn, other) = (row(), row());
            let (x, y) = (enforced(&constraints, &drawn), enforced(&constraints, &other));
            let product: f64 = (0..width).map(|j| (drawn[j] - x[j]) * (y[j] - x[j])).sum();
            // Ticks are up to 1/65535 wide, and one that takes up what the others leave moves by several.
            assert!(product < 5e-4, "{columns:?} {rules:?} {drawn:?} {x:?} {y:?}: {product}");
            checked += 1;
        }
    }
    assert!(checked > 500);
}

/// On small grids: refused exactly where there is no row.
#[test]
fn contradictions_are_those_of_brute_force() {
    let mut random = Stream::new(7, 0, 0);
    let mut refused = 0;
    for _ in 0..400 {
        let columns = [('i', 0.0, 3.0), ('i', -1.0, 2.0), ('i', 1.0, 4.0)];
        let rules: Vec<String> = (0..1 + pick(&mut random, 4)).map(|_| some_rule(&mut random, 3)).collect();
        // Rules one by one say which rows obey, without the others' say.
        let alone: Vec<Option<System>> =
            rules.iter().map(|rule| parsed(&columns, std::slice::from_ref(rule)).ok()?.system().ok()).collect();
        let mut possible = false;
        for row in 0..64 {
            let ticks = [row % 4, row / 4 % 4 - 1, row / 16 + 1];
            possible |= alone.iter().all(|system| {
                system.as_ref().is_some_and(|system| {
                    let own: Vec<i64> = system.lines.iter().map(|line| ticks[line.column]).collect();
                    system.rules[0].holds(&own)
                })
            });
        }
        let whole = parsed(&columns, &rules);
        let trivial = whole.as_ref().is_err_and(|error| error.to_string().contains("says nothing"));
        assert!(trivial || whole.is_ok() == possible, "{rules:?}: {:?}", whole.err());
        refused += usize::from(!possible);
    }
    assert!((50..350).contains(&refused), "{refused}");
}

#[test]
fn sums_of_integers_and_of_decimals_are_exact() {
    let schema = parsed(&[('i', 0.0, 20.0), ('i', 0.0, 20.0), ('i', 0.0, 30.0)], &["a + b = c".into()]).unwrap();
    let constraints = Constraints::new(&schema).unwrap();
    // 16 + 16 = 10 of 30: nearest in places is a move of all three.
    let moved = constraints.ticks(&enforced(&constraints, &[0.8, 0.8, 1.0 / 3.0]));
    let moved: Vec<i64> = moved.into_iter().flatten().collect();
    assert_eq!(moved[0] + moved[1], moved[2]);
    assert!(moved[0].abs_diff(moved[1]) <= 1 && (10..=14).contains(&moved[0]), "{moved:?}");
    // Far too many rules for one row: a chain of 24 columns, drawn upside down.
    let columns: Vec<_> = (0..24).map(|i| if i % 2 == 0 { ('i', 0.0, 1000.0) } else { ('c', 0.0, 1000.0) }).collect();
    let name = |i: u8| char::from(b'a' + i);
    let rules: Vec<String> = (0..23).map(|i| format!("{} < {}", name(i), name(i + 1))).collect();
    let constraints = Constraints::new(&parsed(&columns, &rules).unwrap()).unwrap();
    let row: Vec<f64> = (0..24).map(|i| 1.0 - f64::from(i) / 23.0).collect();
    let after = enforced(&constraints, &row);
    assert!(constraints.hold(&after));
    assert!(after.iter().all(|x| (x - 0.5).abs() < 0.05), "all meet in the middle: {after:?}");
}

fn column(name: &str, rest: &str) -> String {
    format!("[[column]]\nname = \"{name}\"\n{rest}\n")
}

/// On a log scale rules are curved, and still the row is the nearest: a = b meet in the middle of their logarithms.
#[test]
fn log_scales_meet_at_equal_ratios() {
    let log = "kind = \"continuous\"\nmin = 0.01\nmax = 10000\nscale = \"log\"\ndecimals = 4";
    let text =
        column("a", log) + &column("b", log) + &column("c", "kind = \"integer\"\nmin = 1\nmax = 1000\nscale = \"log\"");
    let one = Schema::parse(&(text.clone() + "[[constraint]]\nrule = \"a <= b\"\n"), "t").unwrap();
    let constraints = Constraints::new(&one).unwrap();
    let after = enforced(&constraints, &[0.9, 0.1, 0.3]);
    assert!(constraints.hold(&after));
    assert!((after[0] - 0.5).abs() < 1e-4 && (after[1] - 0.5).abs() < 1e-4 && after[2] == 0.3, "{after:?}");
    let sum = Schema::parse(&(text.clone() + "[[constraint]]\nrule = \"a + b = c\"\n"), "t").unwrap();
    let constraints = Constraints::new(&sum).unwrap();
    let mut random = Stream::new(8, 0, 0);
    for _ in 0..200 {
        let row: Vec<f64> = (0..3).map(|_| random.unit()).collect();
        let after = enforced(&constraints, &row);
        assert!(constraints.hold(&after), "{row:?} {after:?}");
        assert_eq!(enforced(&constraints, &after), after);
        // No row of a coarse search is nearer, up to what a step of one in `c` means on a log scale.
        let far = |x: &[f64]| x.iter().zip(&row).map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt();
        let mut best = f64::INFINITY;
        for ticks in 1..=1000 {
            let c = place_of(f64::from(ticks), 1.0, 1000.0);
            for part in 1..200 {
                let a = f64::from(ticks) * f64::from(part) / 200.0;
                let (a, b) = (place_of(a, 0.01, 1e4), place_of(f64::from(ticks) - a, 0.01, 1e4));
                if (0.0..=1.0).contains(&a) && (0.0..=1.0).contains(&b) {
                    best = best.min(far(&[a, b, c]));
                }
            }
        }
        assert!(far(&after) < best + 0.06, "{row:?} {after:?}: {} and {best}", far(&after));
    }
    let without = text.replacen("\ndecimals = 4", "", 1) + "[[constraint]]\nrule = \"a <= b\"\n";
    let error = Schema::parse(&without, "t").unwrap_err();
    assert!(error.to_string().contains("column `a` has a log scale and no `decimals`"), "{error}");
}

fn place_of(value: f64, min: f64, max: f64) -> f64 {
    (value / min).ln() / (max / min).ln()
}

#[test]
fn dates_are_compared_and_empty_cells_are_free() {
    let date = "kind = \"date\"\nmin = \"1900-01-01\"\nmax = \"2030-12-31\"";
    let text = column("born", date) + &column("died", &format!("{date}\nmissing = \"allow\""));
    let text = text + "[[constraint]]\nrule = \"born < died\"\n";
    let schema = Schema::parse(&text, "t").unwrap();
    let constraints = Constraints::new(&schema).unwrap();
    assert_eq!(schema.width(), 3);
    let after = enforced(&constraints, &[0.8, 0.6, 0.0]);
    let ticks = constraints.ticks(&after);
    assert!(ticks[0] < ticks[1] && (after[0] - 0.7).abs() < 1e-3 && (after[1] - 0.7).abs() < 1e-3, "{after:?}");
    let empty = [0.8, 0.5, 0.7];
    assert_eq!(enforced(&constraints, &empty), empty, "no date of death, no rule");
    for (rule, sentence) in [
        ("born + died <= 3", "does more with dates than compare two of them"),
        ("born <= died - 3", "does more with dates than compare two of them"),
        ("born <= 2 * died", "does more with dates than compare two of them"),
        ("born >= 3", "does more with dates than compare two of them"),
    ] {
        let error = Schema::parse(&text.replace("born < died", rule), "t").unwrap_err();
        assert!(error.to_string().contains(sentence), "{error}");
    }
    let hour = column("hour", "kind = \"integer\"\nmin = 0\nmax = 23\nscale = \"cyclic\"");
    let error = Schema::parse(&(hour + "[[constraint]]\nrule = \"hour <= 3\"\n"), "t").unwrap_err();
    assert!(error.to_string().contains("column `hour` is cyclic and cannot be in a constraint"), "{error}");
}
