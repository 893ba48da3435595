//! A fence around the readers of other libraries, which may panic over damaged files.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs the work of another library; `None` if it panicked.
pub(super) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    let outer = GUARDED.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(work));
    GUARDED.set(outer);
    outcome.ok()
}

/// Whether a panic of this thread would now be caught and become an ordinary error about a damaged file. A program
/// with a panic hook of its own keeps silent then: it is no bug, and the panic's message may quote a value.
pub fn panic_is_caught() -> bool {
    GUARDED.get()
}

#[cfg(test)]
mod tests {
    use super::{guarded, panic_is_caught};

    #[test]
    fn a_panic_inside_is_nothing_outside() {
        assert!(!panic_is_caught());
        assert_eq!(guarded(panic_is_caught), Some(true));
        assert_eq!(guarded(|| -> u8 { panic!("a private value") }), None);
        assert!(!panic_is_caught());
    }
}
