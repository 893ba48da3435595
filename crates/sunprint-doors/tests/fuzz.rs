//! A few executions of every door; `./bench fuzz` does ten million.

use sunprint_doors::fuzz::{DOORS, corpus, run};

#[test]
fn no_door_panics_or_hangs() {
    assert_eq!(DOORS.iter().map(|door| door.share).sum::<u64>(), 1000);
    for door in &DOORS {
        let found = run(door, 60 * door.share.max(20), 5, &corpus(), None).unwrap();
        assert!(found.faults.is_empty(), "{}: {:#?}", door.name, found.faults);
        // The corpus itself is good, so that changes begin where they matter.
        assert!(found.accepted > 0, "{}", door.name);
    }
}
