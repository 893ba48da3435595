//! A tally belongs to one pass of one fit. Any other is refused, and nothing is spent.

mod common;

use common::{plan, promise, random_rows, schema, table};
use sunprint::error::{Error, Kind};
use sunprint::fit::Fit;
use sunprint::plan::{Method, Plan};
use sunprint::privacy::Kernel;
use sunprint::tally::codes::{Codes, Q};
use sunprint::tally::{ClippedMoments, Digest, FitName, Pass, Tally, Work};

const WIDTH: usize = 3;
const ROWS: usize = 400;

fn begin(plan: Plan) -> Fit {
    let (schema, budget) = (schema(WIDTH, 1), promise("1", None));
    Fit::begin_with_danger_kernel(&schema, plan, budget, ROWS as u64, Kernel::quiet()).unwrap()
}

/// Rows in the middle of their bounds, so that they are clipped closely.
fn narrow() -> Codes {
    let near = |i: usize, j: usize| (Q / 2).wrapping_add(((i * 7 + j * 3) % 11) as u16);
    table(WIDTH, &(0..ROWS).map(|i| ((0..WIDTH).map(|j| near(i, j)).collect(), 0)).collect::<Vec<_>>())
}

fn wide() -> Codes {
    table(WIDTH, &random_rows(WIDTH, 1, ROWS, 3))
}

/// Goes through the passes of a fit up to that of the moments.
fn up_to_moments(fit: &mut Fit, codes: &Codes) -> (Pass, ClippedMoments) {
    loop {
        let pass = fit.next_pass().unwrap();
        if let Work::Moments(spec) = &pass.work {
            return (pass.clone(), spec.clone());
        }
        fit.absorb(pass.tally(codes)).unwrap();
    }
}

fn refused(error: Error, sentence: &str) {
    assert_eq!((error.kind(), error.to_string().lines().next()), (Kind::Protocol, Some(sentence)));
    assert!(error.advice().is_some());
}

const OTHER_FIT: &str = "the tally belongs to another fit than this one";
const OTHER_PASS: &str = "the tally answers another pass than the current one";

/// The other fit's rows are spread, and its pass clips them at a larger radius; number, shape and rows are the same.
#[test]
fn a_tally_of_another_fit_with_another_clamp_is_refused() {
    let mut fits = [begin(plan(Method::Gaussian)), begin(plan(Method::Gaussian))];
    let (mine, my_spec) = up_to_moments(&mut fits[0], &narrow());
    let (others, other_spec) = up_to_moments(&mut fits[1], &wide());
    assert!(other_spec.radius > 2 * my_spec.radius, "{} and {}", other_spec.radius, my_spec.radius);
    assert_eq!((mine.number, mine.width, mine.strata), (others.number, others.width, others.strata));
    let [fit, _] = &mut fits;
    let before = fit.receipt().spent.clone();
    let wrong = others.tally(&wide());
    assert_eq!(wrong.to_secret_bytes().len(), mine.tally(&wide()).to_secret_bytes().len());
    refused(fit.admits(&wrong).unwrap_err(), OTHER_FIT);
    refused(fit.absorb(wrong).unwrap_err(), OTHER_FIT);
    assert_eq!(fit.receipt().spent, before, "nothing was spent");
    assert_eq!(fit.next_pass().unwrap(), mine, "the fit waits for the right one");
    // Its charge is there still: the right tally is taken, and the fit ends.
    fit.admits(&mine.tally(&narrow())).unwrap();
    while let Some(pass) = fit.next_pass() {
        fit.absorb(pass.tally(&narrow())).unwrap();
    }
    let stages = fit.receipt().spent.len();
    assert_eq!(stages, fit.receipt().stages.len(), "every stage was paid for once");
}

/// First passes of two fits are the same but for the name.
#[test]
fn every_fit_has_a_name_of_its_own() {
    for method in [Method::Default, Method::Paper, Method::Cube, Method::Gaussian] {
        let (mut fit, other) = (begin(plan(method)), begin(plan(method)));
        let (mine, others) = (fit.next_pass().unwrap(), other.next_pass().unwrap());
        assert_ne!(mine.fit, others.fit);
        assert_eq!(Pass { fit: mine.fit, ..others.clone() }, mine);
        assert_eq!(fit.next_pass().unwrap(), mine, "a pass that is asked for twice is the same");
        let nobodys = Pass::new(mine.number, mine.width, mine.strata, mine.work.clone());
        for pass in [&others, &nobodys] {
            refused(fit.absorb(pass.tally(&wide())).unwrap_err(), OTHER_FIT);
            assert!(fit.receipt().spent.is_empty());
        }
        fit.absorb(mine.tally(&wide())).unwrap();
        assert_eq!(fit.next_pass().map_or(mine.fit, |pass| pass.fit), mine.fit, "one name in all passes");
        let spent = fit.receipt().spent.len();
        if fit.next_pass().is_some() {
            refused(fit.absorb(mine.tally(&wide())).unwrap_err(), OTHER_PASS);
            assert_eq!(fit.receipt().spent.len(), spent);
        }
    }
}

/// Everything that a pass says is in the mark of its tallies: one changed number, and neither side takes the other's.
#[test]
fn whatever_a_pass_says_is_in_its_tallies() {
    let mut fit = begin(plan(Method::Gaussian));
    let (pass, spec) = up_to_moments(&mut fit, &wide());
    let spent = fit.receipt().spent.len();
    let moments = |spec: ClippedMoments| Pass { work: Work::Moments(spec), ..pass.clone() };
    let mut centre = spec.centre.clone();
    centre[1] ^= 1;
    let changed = [
        moments(ClippedMoments { radius: spec.radius + 1, ..spec.clone() }),
        moments(ClippedMoments { radius: spec.radius * 25, ..spec.clone() }),
        moments(ClippedMoments { centre, ..spec.clone() }),
        Pass { number: pass.number + 1, ..pass.clone() },
        Pass { schema: Digest::of(b"other bounds"), ..pass.clone() },
    ];
    for other in changed {
        let theirs = other.tally(&wide());
        refused(
            Tally::from_secret_bytes(&theirs.to_secret_bytes(), &pass).err().unwrap(),
            "these bytes are a tally of another pass of this fit",
        );
        let mut mine = pass.tally(&wide());
        let before = mine.to_secret_bytes();
        refused(mine.merge(other.tally(&wide())).unwrap_err(), "two tallies of different passes cannot be merged");
        assert!(mine.to_secret_bytes() == before, "what was refused left nothing behind");
        refused(fit.absorb(theirs).unwrap_err(), OTHER_PASS);
        assert_eq!(fit.receipt().spent.len(), spent);
    }
    let stranger = Pass { fit: FitName::fresh().unwrap(), ..pass.clone() };
    let theirs = stranger.tally(&wide());
    refused(
        Tally::from_secret_bytes(&theirs.to_secret_bytes(), &pass).err().unwrap(),
        "these bytes are a tally of another fit",
    );
    refused(pass.tally(&wide()).merge(theirs).unwrap_err(), "two tallies of different fits cannot be merged");
}

/// A pass that was sent away, and a tally that comes back, still belong together; and the bits are those of one machine.
#[test]
fn names_survive_the_way_to_other_machines() {
    let codes = wide();
    let mut fit = begin(plan(Method::Default));
    while let Some(pass) = fit.next_pass() {
        let sent = Pass::from_json(&pass.to_json()).unwrap();
        assert_eq!((sent.fit, sent.schema), (pass.fit, sunprint::fit::digest_of(&schema(WIDTH, 1))));
        let back = Tally::from_secret_bytes(&sent.tally(&codes).to_secret_bytes(), &pass).unwrap();
        assert!(back == pass.tally(&codes));
        fit.absorb(back).unwrap();
    }
    fit.finish().unwrap();
}

#[test]
fn a_pass_without_a_name_is_refused() {
    let pass = begin(plan(Method::Default)).next_pass().unwrap();
    let (text, name) = (pass.to_json(), pass.fit.to_string());
    assert!(name.len() == 32 && text.contains(&name));
    let without = text.replace(&format!("\"fit\":\"{name}\","), "");
    let turned = [&name[1..], &format!("{name}0"), &format!("{}g", &name[1..]), &format!("{}é", &name[2..]), ""];
    for wrong in turned.iter().map(|other| text.replace(&name, other)).chain([without]) {
        assert_ne!(wrong, text);
        assert_eq!(Pass::from_json(&wrong).unwrap_err().kind(), Kind::Protocol);
    }
}
