//! The boundary where a bug becomes one sentence: no value, no backtrace, exit code 1.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::words::Talk;

/// Runs `work`; if it panics, says so in one sentence and returns exit code 1.
///
/// A panic's message may quote a value, and values may be private, so the message is dropped. What is left is the
/// place in the source code, which is public.
pub fn contain(talk: Talk, work: impl FnOnce() -> u8) -> u8 {
    static SAID: AtomicBool = AtomicBool::new(false);
    panic::set_hook(Box::new(move |info| {
        // The readers of other libraries may panic over a damaged file, which is caught and refused in one sentence.
        if sunprint::source::panic_is_caught() {
            return;
        }
        // Several threads may fall over the same bug.
        if !SAID.swap(true, Ordering::Relaxed) {
            let place = info.location().map(|place| public_place(place.file(), place.line())).unwrap_or_default();
            let sentence = format!("sunprint stopped because of a bug{place}; no output was written");
            talk.refuse(sentence, Some("please report it, with the command but without any data"));
        }
    }));
    let code = panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or(1);
    drop(panic::take_hook());
    code
}

/// ` at privacy/cube.rs:12`: the last two parts of the path, which name no folder of the machine that built the program.
fn public_place(file: &str, line: u32) -> String {
    let mut parts: Vec<&str> = file.rsplit(['/', '\\']).take(2).collect();
    parts.reverse();
    format!(" at {}:{line}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::{contain, public_place};
    use crate::words::Talk;

    #[test]
    fn a_bug_becomes_exit_code_one() {
        assert_eq!(contain(Talk::early(), || 0), 0);
        assert_eq!(contain(Talk::early(), || panic!("a private value")), 1);
    }

    #[test]
    fn a_place_names_no_folder_of_the_builder() {
        assert_eq!(public_place("/home/someone/sunprint/src/privacy/cube.rs", 12), " at privacy/cube.rs:12");
    }
}
