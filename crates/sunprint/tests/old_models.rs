//! Models of earlier formats load, and draw what the program of their time drew. Format 1 is `by_hand` in `models.rs`.

use sunprint::model::Model;
use sunprint::run::write_rows;
use sunprint::source::{Output, Silent, TableWriter};

/// Fitted and drawn from by the last program that wrote format 2: a generated table of 2,000 rows with a missing value, an
/// integer, a category and a label, ε = 1, by `--mechanism pmm` and `psmm`; `sample --rows 20 --seed 7`.
const FORMAT_2: [(&[u8], &str); 2] = [
    (include_bytes!("data/format_2_tree.sunprint"), include_str!("data/format_2_tree.csv")),
    (include_bytes!("data/format_2_lattice.sunprint"), include_str!("data/format_2_lattice.csv")),
];

#[test]
fn models_of_format_2_draw_the_rows_that_they_drew() {
    for (bytes, rows) in FORMAT_2 {
        assert!(bytes.starts_with(b"{\"sunprint_model\":2,"));
        let model = Model::from_json(bytes, "old.sunprint").unwrap();
        // Written anew in the format of today it is the same model.
        let anew = Model::from_json(model.to_json().as_bytes(), "new.sunprint").unwrap();
        for model in [model, anew] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("drawn.csv");
            let output = Output::new(&path, None);
            let format = output.format().unwrap();
            let mut writer = TableWriter::create(&output, format, model.schema(), &model.layout()).unwrap();
            write_rows(&model.draw(20, 7), &mut writer, &Silent).unwrap();
            writer.finish().unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), rows);
        }
    }
}
