//! Models of earlier formats are refused with a sentence that says why, and what to do.

use sunprint::error::Kind;
use sunprint::model::Model;

/// Fitted by the last program that wrote format 2.
const FORMAT_2: &[u8] = include_bytes!("data/format_2_tree.sunprint");

fn refused(bytes: &[u8], format: u64) {
    let error = Model::from_json(bytes, "old.sunprint").unwrap_err();
    assert_eq!((error.kind(), error.place()), (Kind::Model, Some("old.sunprint")));
    let sentence = format!(
        "the model has format {format}: Sunprint 0.1 wrote it before its method changed, and this one reads format 7 alone"
    );
    assert!(error.to_string().contains(&sentence), "{error}");
    assert_eq!(error.advice(), Some("fit the table again with `sunprint fit`"));
}

#[test]
fn models_of_earlier_formats_are_refused() {
    assert!(FORMAT_2.starts_with(b"{\"sunprint_model\":2,"));
    refused(FORMAT_2, 2);
    // Whatever the rest looks like: nobody need know it any more.
    for format in 0..7 {
        refused(format!("{{\"sunprint_model\": {format}, \"facets\": [1]}}").as_bytes(), format);
    }
}
