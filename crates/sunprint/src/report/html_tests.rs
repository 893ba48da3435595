use super::super::page::{Absent, FORMAT, Headline};
use super::*;
use serde_json::Value;

const HOSTILE: &str = "</script><script>alert(1)</script>&\"'\u{2028}\u{2029}<!-- 🦆 אבג";

fn page() -> Page {
    Page {
        format: FORMAT,
        origin: Origin::Curator,
        dataset: HOSTILE.to_string(),
        version: "0.0.0",
        headline: Headline {
            origin: Origin::Curator,
            notices: vec![HOSTILE.to_string()],
            sentence: HOSTILE.to_string(),
            notes: vec![HOSTILE.to_string()],
        },
        verdict: None,
        privacy: None,
        distances: None,
        columns: None,
        correlations: None,
        plane: None,
        spectrum: None,
        learning: None,
        strata: None,
        validity: None,
        changed: None,
        predicted: None,
        cite: Some(HOSTILE.to_string()),
        absent: vec![Absent { panel: "columns", why: HOSTILE.to_string() }],
    }
}

/// What stands between two texts, every time.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    text.split(start).skip(1).filter_map(|rest| rest.split(end).next()).collect()
}

#[test]
fn the_json_is_whole_and_cannot_end_its_element() {
    let embedded = embedded(&page()).unwrap();
    assert!(!embedded.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{embedded}");
    let back: Value = serde_json::from_str(&embedded).unwrap();
    assert_eq!(back, serde_json::to_value(page()).unwrap());
    assert_eq!(back["dataset"], HOSTILE);
    let html = html(&page()).unwrap();
    let found = between(&html, "<script type=\"application/json\" id=\"numbers\">", "</script>");
    assert_eq!(found, [embedded.as_str()]);
}

#[test]
fn names_are_text() {
    let html = html(&page()).unwrap();
    assert!(!html.contains("<script>alert") && !html.contains("<!-- "));
    let safe = escaped(HOSTILE);
    assert!(html.contains(&format!("<bdi>{safe}</bdi>")), "the name stands there, turned into text");
    // Title, heading, notice, sentence, note, citation, reason.
    assert_eq!(html.matches(&safe).count(), 7);
}

#[test]
fn the_policy_allows_what_stands_there_and_nothing_else() {
    let html = html(&page()).unwrap();
    let policy = between(&html, "http-equiv=\"Content-Security-Policy\" content=\"", "\"")[0];
    let hash = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text)));
    let scripts = between(&html, "<script>", "</script>");
    let styles = between(&html, "<style>", "</style>");
    assert_eq!((scripts.len(), styles.len()), (3, 1));
    assert!(scripts.iter().chain(&styles).all(|text| policy.contains(&hash(text))));
    assert_eq!(policy.matches("'sha256-").count(), 5, "these, and the style of Plot");
    assert!(policy.starts_with("default-src 'none'; ") && !policy.contains("unsafe"));
    assert!(!html.contains(" style=\"") && !html.contains(" onclick"), "attributes that the policy would refuse");
}

#[test]
fn the_skeleton_is_small_and_ends_no_element_early() {
    let html = html(&page()).unwrap();
    assert!(html.len() < 700_000, "{}", html.len());
    let lower = [STYLE, LIBRARY[0], LIBRARY[1], &own_script()].concat().to_lowercase();
    for ending in ["</script", "</style", "<!--"] {
        assert!(!lower.contains(ending), "{ending}");
    }
}

/// Plot's style is in its source as a template; if the library is changed, so must be our copy.
#[test]
fn the_style_of_plot_is_that_of_the_library() {
    let template = STYLE_OF_PLOT.replace("plot-d6a7b5", "${c}").replace('\n', "\\n");
    assert!(LIBRARY[1].contains(&template), "{template}");
    assert!(LIBRARY[1].contains("\"plot-d6a7b5\""), "the class");
}

#[test]
fn both_kinds_say_what_they_are() {
    let mut page = page();
    assert!(html(&page).unwrap().contains("do not publish this page"));
    page.origin = Origin::Released;
    let public = html(&page).unwrap();
    assert!(public.contains("safe to publish") && !public.contains("do not publish this page"));
}
