//! A tree of questions to one row: is the code of this coordinate at or above that edge?

use serde::{Deserialize, Serialize};

/// One question, and where each answer leads: to another fork by its number, or to leaf `l` as `−1 − l`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, u16, i32, i32)", into = "(u32, u16, i32, i32)")]
pub struct Fork {
    /// The coordinate.
    pub at: u32,
    /// Codes below it go one way, others the other.
    pub edge: u16,
    /// Where codes below the edge go.
    pub below: i32,
    /// Where the others go.
    pub above: i32,
}

impl From<(u32, u16, i32, i32)> for Fork {
    fn from((at, edge, below, above): (u32, u16, i32, i32)) -> Fork {
        Fork { at, edge, below, above }
    }
}

impl From<Fork> for (u32, u16, i32, i32) {
    fn from(fork: Fork) -> Self {
        (fork.at, fork.edge, fork.below, fork.above)
    }
}

/// A binary tree over the coordinates of a row. The first fork is the root; without forks there is one leaf.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Forks {
    /// The forks; every fork leads to later ones and to leaves only.
    pub forks: Vec<Fork>,
}

impl Forks {
    /// How many leaves there are: one more than forks.
    pub fn leaves(&self) -> usize {
        self.forks.len() + 1
    }

    /// The leaf of a row whose codes are given one by one.
    #[inline(always)]
    pub fn leaf(&self, code: impl Fn(usize) -> u16) -> usize {
        let mut at: i32 = if self.forks.is_empty() { -1 } else { 0 };
        while at >= 0 {
            let fork = &self.forks[at as usize];
            at = if code(fork.at as usize) < fork.edge { fork.below } else { fork.above };
        }
        (-1 - at) as usize
    }

    /// Whether this is a tree over `width` coordinates: every way ends, and every leaf has one way to it.
    pub fn fit(&self, width: usize) -> bool {
        let (forks, leaves) = (self.forks.len(), self.leaves());
        let mut led = vec![false; forks + leaves];
        let mut lead = |from: usize, to: i32| -> bool {
            let place = match usize::try_from(to) {
                Ok(fork) if fork > from && fork < forks => fork,
                Ok(_) => return false,
                Err(_) => match usize::try_from(-1 - i64::from(to)) {
                    Ok(leaf) if leaf < leaves => forks + leaf,
                    _ => return false,
                },
            };
            !std::mem::replace(&mut led[place], true)
        };
        self.forks
            .iter()
            .enumerate()
            .all(|(i, fork)| (fork.at as usize) < width && lead(i, fork.below) && lead(i, fork.above))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fork(at: u32, edge: u16, below: i32, above: i32) -> Fork {
        Fork { at, edge, below, above }
    }

    #[test]
    fn a_row_follows_the_forks() {
        let forks = Forks { forks: vec![fork(0, 10, -1, 1), fork(1, 5, -2, -3)] };
        assert!(forks.fit(2) && !forks.fit(1));
        for (row, leaf) in [([9, 9], 0), ([10, 4], 1), ([10, 5], 2)] {
            assert_eq!(forks.leaf(|at| row[at]), leaf);
        }
        assert_eq!(Forks::default().leaf(|_| 7), 0);
        let json = serde_json::to_string(&forks).unwrap();
        assert_eq!(json, "[[0,10,-1,1],[1,5,-2,-3]]");
        assert_eq!(serde_json::from_str::<Forks>(&json).unwrap(), forks);
    }

    /// A file may hold anything: circles, ways out of the list, and two ways to one place are refused.
    #[test]
    fn what_is_no_tree_is_refused() {
        let wrong = [
            vec![fork(0, 1, 0, -1)],
            vec![fork(0, 1, -1, -1)],
            vec![fork(0, 1, -1, -3)],
            vec![fork(0, 1, 1, -1)],
            vec![fork(0, 1, i32::MIN, i32::MAX)],
            vec![fork(0, 1, -1, 1), fork(0, 1, 0, -2)],
            vec![fork(0, 1, 1, 1), fork(0, 1, -2, -3)],
            vec![fork(0, 1, -1, -2), fork(0, 1, -2, -3)],
        ];
        for forks in wrong {
            assert!(!Forks { forks: forks.clone() }.fit(1), "{forks:?}");
        }
    }
}
