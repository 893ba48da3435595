//! A few kills at random moments; `./bench kills` does a thousand.
#![cfg(target_os = "linux")]

use std::time::Duration;
use sunprint_doors::kills::{Orders, run};

#[test]
fn nothing_is_lost_left_or_under_counted() {
    let program = env!("CARGO_BIN_EXE_sunprint").into();
    let orders = Orders { program, rows: 20_000, times: 25, seed: 3, most: Duration::from_secs(60) };
    let found = run(&orders, |_| {}).unwrap();
    assert!(found.faults.is_empty(), "{found:#?}");
}
