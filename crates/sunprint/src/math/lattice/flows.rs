//! How much mass makes each move. Few of the possible moves are made, so only those are stored.

const NONE: u32 = u32::MAX;

/// Chains of positive amounts, one chain for each cell, in one pool.
pub(super) struct Flows {
    first: Vec<u32>,
    pool: Vec<Link>,
    /// The chain of links that are free again.
    spare: u32,
}

#[derive(Clone, Copy)]
struct Link {
    amount: u64,
    next: u32,
    step: u16,
}

impl Flows {
    pub(super) fn none(cells: usize) -> Flows {
        Flows { first: vec![NONE; cells], pool: Vec::new(), spare: NONE }
    }

    /// The moves made out of a cell, and the amounts.
    #[inline]
    pub(super) fn from(&self, cell: usize) -> impl Iterator<Item = (u16, u64)> {
        let mut at = self.first[cell];
        std::iter::from_fn(move || {
            let link = self.pool.get(at as usize)?;
            at = link.next;
            Some((link.step, link.amount))
        })
    }

    /// How much makes the move.
    pub(super) fn amount(&self, cell: usize, step: u16) -> u64 {
        self.from(cell).find(|&(made, _)| made == step).map_or(0, |(_, amount)| amount)
    }

    pub(super) fn add(&mut self, cell: usize, step: u16, amount: u64) {
        let mut at = self.first[cell];
        while let Some(link) = self.pool.get_mut(at as usize) {
            if link.step == step {
                link.amount += amount;
                return;
            }
            at = link.next;
        }
        let link = Link { amount, next: self.first[cell], step };
        self.first[cell] = match self.pool.get_mut(self.spare as usize) {
            Some(spare) => {
                let at = std::mem::replace(&mut self.spare, spare.next);
                *spare = link;
                at
            }
            None => {
                self.pool.push(link);
                (self.pool.len() - 1) as u32
            }
        };
    }

    /// Takes an amount back, at most what there is. Whether nothing is left.
    pub(super) fn cancel(&mut self, cell: usize, step: u16, amount: u64) -> bool {
        let (mut before, mut at) = (NONE, self.first[cell]);
        while self.pool[at as usize].step != step {
            (before, at) = (at, self.pool[at as usize].next);
        }
        let link = &mut self.pool[at as usize];
        link.amount -= amount;
        if link.amount > 0 {
            return false;
        }
        let next = std::mem::replace(&mut link.next, self.spare);
        self.spare = at;
        match self.pool.get_mut(before as usize) {
            Some(link) => link.next = next,
            None => self.first[cell] = next,
        }
        true
    }
}
