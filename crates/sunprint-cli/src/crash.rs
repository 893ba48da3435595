//! The boundary where a bug becomes one sentence: no value, no backtrace, exit code 1.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::words::Talk;

/// Runs `work`; if it panics, says so in one sentence and returns exit code 1.
///
/// A panic's message may quote a value, and values may be private, so the message is dropped. What is left is the
/// place in the source code, which is public.
pub fn contain(talk: Talk, work: impl FnOnce() -> u8) -> u8 {
    static SAID: AtomicBool = AtomicBool::new(false);
    panic::set_hook(Box::new(move |info| {
        // Several threads may fall over the same bug.
        if !SAID.swap(true, Ordering::Relaxed) {
            let sentence = format!("sunprint stopped because of a bug{}; no output was written", place(info));
            talk.refuse(sentence, Some("please report it, with the command but without any data"));
        }
    }));
    panic::catch_unwind(AssertUnwindSafe(work)).unwrap_or(1)
}

/// ` at file.rs:12`: the last two parts of the path, which name no folder of the machine that built the program.
fn place(info: &PanicHookInfo<'_>) -> String {
    let Some(location) = info.location() else { return String::new() };
    let mut parts: Vec<&str> = location.file().rsplit(['/', '\\']).take(2).collect();
    parts.reverse();
    format!(" at {}:{}", parts.join("/"), location.line())
}
