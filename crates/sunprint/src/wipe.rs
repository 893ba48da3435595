//! Memory that held rows or exact statistics is overwritten before it is given back.
//!
//! Safe Rust cannot promise more than its best: a vector that grew has left its earlier, shorter copies behind, registers
//! and stacks are not cleaned, and what the system moved to a swap file stays there. docs/side-channels.md says what is
//! covered.

use std::hint::black_box;
use std::ops::{Deref, DerefMut};

/// Overwrites with zeros.
pub(crate) fn wipe<T: Copy + Default>(values: &mut [T]) {
    values.fill(T::default());
    // Somebody might look: the zeros must be there before the memory is given back.
    black_box(values);
}

/// Overwrites a vector with zeros, and the room behind its end, where longer contents may have stood.
pub(crate) fn wipe_all<T: Copy + Default>(values: &mut Vec<T>) {
    values.clear();
    values.resize(values.capacity(), T::default());
    black_box(values.as_mut_slice());
    values.clear();
}

/// A vector that is overwritten when it is dropped.
pub(crate) struct Wiped<T: Copy + Default>(pub(crate) Vec<T>);

impl<T: Copy + Default> Deref for Wiped<T> {
    type Target = Vec<T>;

    fn deref(&self) -> &Vec<T> {
        &self.0
    }
}

impl<T: Copy + Default> DerefMut for Wiped<T> {
    fn deref_mut(&mut self) -> &mut Vec<T> {
        &mut self.0
    }
}

impl<T: Copy + Default> Drop for Wiped<T> {
    fn drop(&mut self) {
        wipe_all(&mut self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::{wipe, wipe_all};

    #[test]
    fn nothing_is_left() {
        let mut values = vec![7_u16; 100];
        wipe(&mut values[10..]);
        assert!(values[..10].iter().all(|&value| value == 7) && values[10..].iter().all(|&value| value == 0));
        let before = values.capacity();
        wipe_all(&mut values);
        assert!(values.is_empty() && values.capacity() == before);
    }

    /// Looks into the memory of its own process, at the place where something was dropped.
    #[cfg(target_os = "linux")]
    #[test]
    fn dropped_memory_is_blank() {
        use super::Wiped;
        use crate::tally::codes::Codes;
        use std::os::unix::fs::FileExt;

        let memory = std::fs::File::open("/proc/self/mem").unwrap();
        let found = |address: usize, length: usize| {
            let mut bytes = vec![0; length];
            // Memory that was given back to the system cannot be read, and holds nothing.
            let read = memory.read_exact_at(&mut bytes, address as u64).is_ok();
            if read { bytes.windows(4).filter(|four| *four == [0xCD, 0xAB, 0xCD, 0xAB]).count() } else { 0 }
        };
        let values = vec![0xABCD_u16; 4000];
        let address = values.as_ptr() as usize;
        assert!(found(address, 8000) > 3000, "what is there is seen");
        let codes = Codes::from_parts(4, values, vec![0; 1000]);
        drop(codes);
        assert_eq!(found(address, 8000), 0);

        let mut buffer = Wiped(vec![0xABCD_u16; 4000]);
        let address = buffer.as_ptr() as usize;
        buffer.truncate(5);
        drop(buffer);
        assert_eq!(found(address, 8000), 0);
    }
}
