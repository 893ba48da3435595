//! A queue for the forest: which cells fall due at which time.

use std::collections::VecDeque;

/// Cells by the time when they fall due. Time is an integer, never runs back, and nothing is due further ahead than a
/// fixed reach, so a ring of lists is enough.
pub(super) struct Clock {
    now: i32,
    /// Due now, and has mass to give: always the first to be taken.
    hits: Vec<u32>,
    ring: Vec<VecDeque<u32>>,
    waiting: usize,
}

impl Clock {
    /// A clock at time 0 for events at most `reach` ahead.
    pub(super) fn new(reach: usize) -> Clock {
        Clock { now: 0, hits: Vec::new(), ring: vec![VecDeque::new(); (reach + 1).next_power_of_two()], waiting: 0 }
    }

    #[inline]
    pub(super) fn now(&self) -> i32 {
        self.now
    }

    /// A cell with mass to give is due now.
    #[inline]
    pub(super) fn hit(&mut self, cell: usize) {
        self.hits.push(cell as u32);
    }

    /// A cell is due now, before all others without mass.
    #[inline]
    pub(super) fn next(&mut self, cell: usize) {
        let slot = self.slot(self.now);
        self.ring[slot].push_front(cell as u32);
        self.waiting += 1;
    }

    /// A cell is due at a time, after all others.
    #[inline]
    pub(super) fn at(&mut self, time: i32, cell: usize) {
        let slot = self.slot(time);
        self.ring[slot].push_back(cell as u32);
        self.waiting += 1;
    }

    fn slot(&self, time: i32) -> usize {
        time as usize & (self.ring.len() - 1)
    }

    /// Takes a cell that is due now.
    #[inline]
    pub(super) fn take(&mut self) -> Option<usize> {
        if let Some(cell) = self.hits.pop() {
            return Some(cell as usize);
        }
        let slot = self.slot(self.now);
        let cell = self.ring[slot].pop_front()?;
        self.waiting -= 1;
        Some(cell as usize)
    }

    /// Moves on to the next time at which something is due. Nothing may be due now.
    ///
    /// # Panics
    /// If nothing is due ever again.
    pub(super) fn advance(&mut self) {
        assert!(self.waiting > 0, "mass is left, so a deficit can reach it");
        while self.ring[self.slot(self.now)].is_empty() {
            self.now += 1;
        }
    }
}
