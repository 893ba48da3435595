//! Problems in lines, answers in lines. Whether the answers are right is asked by tests/oracles.

use serde_json::{Value, json};
use sunprint_audit::solve::answer_all;

fn answers(problems: &[Value]) -> Vec<Value> {
    let lines: String = problems.iter().map(|problem| format!("{problem}\n")).collect();
    let mut said = Vec::new();
    answer_all(lines.as_bytes(), &mut said).unwrap();
    let said = String::from_utf8(said).unwrap();
    said.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn each_problem_is_answered_with_proof() {
    let said = answers(&[
        json!({"problem": "transport", "a": [[0, 0]], "b": [[3, 4]], "metric": "l2", "whole": true}),
        json!({"problem": "flow", "supplies": [2, -2], "arcs": [[0, 1, 5, null], [0, 1, 3, 1]], "whole": true}),
        json!({"problem": "lattice", "shape": [1, 3], "metric": "linf", "supplies": [3, 0, -1], "total": 2, "whole": true}),
    ]);
    assert!(said.iter().all(|answer| answer["verified"] == true && answer["cpu"].as_f64() >= Some(0.0)), "{said:?}");
    assert_eq!(said[0]["cost"], 5.0);
    assert_eq!(said[0]["plan"], json!([[0, 0, 1.0]]));
    assert_eq!((&said[1]["cost"], &said[1]["amounts"]), (&json!(8), &json!([1, 1])));
    assert_eq!((&said[2]["cost"], &said[2]["measure"]), (&json!(2), &json!([2, 0, 0])));
}

#[test]
fn numbers_may_come_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: Vec<u8>| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let points = write("points", [0.0, 0.0, 6.0, 8.0].map(f64::to_le_bytes).concat());
    let weights = write("weights", [0.5, 0.5].map(f64::to_le_bytes).concat());
    let supplies = write("supplies", [-1, 4].map(i64::to_le_bytes).concat());
    let cut = write("cut", vec![0; 9]);
    let said = answers(&[
        json!({"problem": "transport", "a": {"file": points, "width": 2}, "weights_a": weights, "b": [[0, 0]], "metric": "l1"}),
        json!({"problem": "lattice", "shape": [2], "metric": "l1", "supplies": supplies, "total": 3}),
        json!({"problem": "lattice", "shape": [2], "metric": "l1", "supplies": cut, "total": 3}),
        json!({"problem": "lattice", "shape": [2], "metric": "l1", "supplies": folder.path().join("none"), "total": 3}),
    ]);
    assert_eq!((&said[0]["cost"], &said[1]["cost"]), (&json!(7.0), &json!(1)));
    assert!(said[2]["error"].as_str().unwrap().ends_with("a file of numbers must have eight bytes for each"));
    assert!(said[3]["error"].as_str().unwrap().ends_with("a file of numbers cannot be read"));
}

#[test]
fn what_cannot_be_solved_is_answered_with_a_sentence() {
    let said = answers(&[
        json!("nonsense"),
        json!({"problem": "knapsack"}),
        json!({"problem": "transport", "a": [[0], [0, 1]], "b": [[0]], "metric": "l2"}),
        json!({"problem": "transport", "a": [], "b": [[0]], "metric": "l2"}),
        json!({"problem": "transport", "a": [[0]], "b": [[0]], "metric": "l3"}),
        json!({"problem": "flow", "supplies": [1], "arcs": []}),
        json!({"problem": "lattice", "shape": [2], "metric": "l1", "supplies": [0], "total": 0}),
        json!({"problem": "lattice", "shape": [2], "metric": "l1", "supplies": [i64::MIN, i64::MAX], "total": 0}),
        json!({"problem": "lattice", "shape": [2], "metric": "l1", "supplies": [0, 0], "total": -1}),
    ]);
    assert_eq!(said.len(), 9);
    for answer in said {
        assert!(answer["error"].as_str().is_some_and(|sentence| !sentence.is_empty()), "{answer}");
    }
}
