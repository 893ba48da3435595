//! The simplex method on a network, with a pivot rule that ends.
//!
//! # Why it cannot go round in circles
//!
//! Call a tree *strongly feasible* if from every node something can be carried to the root: `up > 0` in every link
//! (Cunningham 1976). The first tree is one, and every pivot makes the next. Let arc f → t enter. What it carries goes
//! round a cycle: from the join of f and t down to f, over the arc, from t up to the join; as much as the narrowest place
//! lets through, `amount`. **Of the narrowest places the last on this way leaves the tree.** The tree below it is cut off
//! and hangs from the entering arc. Whatever comes later on the way is wider than `amount` and still lets something
//! through forwards; whatever comes before it carries `amount` and lets that through backwards.
//!
//! * It lies between t and the join. The links there had `up > 0`, so amount > 0. Later on the way are the links above
//!   it: forwards is up. Before it are the cut-off links, the entering arc and f's side: for all of them the root now
//!   lies backwards, and amount > 0.
//! * It lies between the join and f. Later are the cut-off links, the entering arc and t's side: for all of them the root
//!   now lies forwards. Before it are the links above it, whose `up > 0` has grown by amount ≥ 0.
//! * It is the entering arc. Later is t's side, before it f's side, as above; the tree stays as it is.
//!
//! So amount = 0 happens only in the second case. Then the part that is cut off contains f and is raised by
//! −(reduced cost) > 0, while no other potential moves (y is 0 at the root): Σy rises. When amount > 0 the cost of the
//! flow falls. The pair (cost, −Σy) gets smaller at every pivot, cost first; it depends only on the tree and on which
//! arcs outside are full, so none of these states comes twice, and there are finitely many.

use super::tree::{ENDLESS, Link, Tree};

/// An arc, in the direction in which it can still carry something.
///
/// An arc outside the tree is either empty or full; a full one is turned round and has the opposite cost. So all arcs
/// outside the tree are empty, and one test prices them all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Arc {
    pub from: u32,
    pub to: u32,
    pub cost: i64,
}

impl Arc {
    fn turned(self) -> Self {
        Arc { from: self.to, to: self.from, cost: -self.cost }
    }
}

/// A negative cycle of arcs without a capacity was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unbounded;

/// A strongly feasible tree, and the arcs that may take the place of others in it.
pub(crate) struct Simplex {
    tree: Tree,
    arcs: Vec<Arc>,
    /// By arc; arcs beyond the end of the list have no capacity.
    capacities: Vec<i64>,
    /// Arcs before this one are artificial: they leave and never come back.
    artificial: usize,
    /// Where the search for the next arc goes on.
    at: usize,
}

/// Which arc of the cycle leaves the tree: the link of this node, or none.
enum Leaves {
    BelowTail(usize),
    BelowHead(usize),
    Entering,
}

impl Simplex {
    /// Starts from a tree. The first `artificial` arcs are those of its star, one for each node but the root.
    pub fn new(links: Vec<Link>, arcs: Vec<Arc>, capacities: Vec<i64>, artificial: usize) -> Self {
        debug_assert!(links[..links.len() - 1].iter().all(|link| link.up > 0), "strongly feasible");
        let tree = Tree::new(links.clone(), |node| {
            let arc = arcs[links[node].arc as usize];
            if arc.from as usize == node { -arc.cost } else { arc.cost }
        });
        Simplex { tree, arcs, capacities, artificial, at: artificial }
    }

    /// y: what a unit is worth at each node, the root last. No arc outside the tree has cost + y_from − y_to < 0 after
    /// [`run`](Self::run); in the tree this is 0.
    pub fn potentials(&self) -> &[i64] {
        &self.tree.potentials
    }

    /// All arcs: the artificial ones, those of the start, those added.
    pub fn arcs(&self) -> &[Arc] {
        &self.arcs
    }

    /// The arcs of the tree with what they carry, in the direction of the arc as it stands in [`arcs`](Self::arcs).
    pub fn carried(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        let links = &self.tree.links;
        links[..links.len() - 1].iter().enumerate().map(|(node, link)| {
            let arc = link.arc as usize;
            (arc, if self.arcs[arc].from as usize == node { link.down } else { link.up })
        })
    }

    /// Offers more arcs, without a capacity. The tree stays as it is: it is the start of the next run.
    pub fn offer(&mut self, arcs: impl IntoIterator<Item = Arc>) {
        self.at = self.arcs.len();
        self.arcs.extend(arcs);
    }

    /// Pivots until no arc pays.
    pub fn run(&mut self) -> Result<(), Unbounded> {
        // About √arcs at a time: large enough to choose well, small enough to be quick.
        let block = self.arcs.len().isqrt().max(32);
        while let Some(arc) = self.best_of_a_block(block) {
            self.pivot(arc)?;
        }
        Ok(())
    }

    /// The arc with the lowest reduced cost in the next block that has a negative one.
    fn best_of_a_block(&mut self, block: usize) -> Option<usize> {
        let potentials = &self.tree.potentials;
        let mut left = self.arcs.len() - self.artificial;
        while left > 0 {
            let begin = if self.at < self.arcs.len() { self.at } else { self.artificial };
            let end = (begin + block.min(left)).min(self.arcs.len());
            let (mut lowest, mut best) = (0, 0);
            for (k, arc) in self.arcs[begin..end].iter().enumerate() {
                let reduced = arc.cost + potentials[arc.from as usize] - potentials[arc.to as usize];
                if reduced < lowest {
                    (lowest, best) = (reduced, k);
                }
            }
            self.at = end;
            left -= end - begin;
            if lowest < 0 {
                return Some(begin + best);
            }
        }
        None
    }

    fn pivot(&mut self, entering: usize) -> Result<(), Unbounded> {
        let Arc { from, to, cost } = self.arcs[entering];
        let (from, to) = (from as usize, to as usize);
        let reduced = cost + self.tree.potentials[from] - self.tree.potentials[to];
        let capacity = self.capacities.get(entering).copied().unwrap_or(ENDLESS);
        let links = &mut self.tree.links;
        // Up to the join: of two nodes neither of which is the join, the one with the smaller subtree is not above the
        // other. The last blocking arc below the tail is the first one met on the way up, below the head the last one.
        let (mut tail, mut head) = (from, to);
        let (mut down, mut below_tail) = (ENDLESS, from);
        let (mut up, mut below_head) = (ENDLESS + 1, to);
        while tail != head {
            if links[tail].size < links[head].size {
                let link = &links[tail];
                if link.down < down {
                    (down, below_tail) = (link.down, tail);
                }
                tail = link.parent as usize;
            } else {
                let link = &links[head];
                if link.up <= up {
                    (up, below_head) = (link.up, head);
                }
                head = link.parent as usize;
            }
        }
        let join = tail;
        // Below the head is later than the entering arc, and that is later than below the tail.
        let (mut amount, mut leaves) = (capacity, Leaves::Entering);
        if down < amount {
            (amount, leaves) = (down, Leaves::BelowTail(below_tail));
        }
        if up <= amount {
            (amount, leaves) = (up, Leaves::BelowHead(below_head));
        }
        // Arcs without a capacity carry less than half of ENDLESS, so this cycle has no others.
        if amount > ENDLESS / 2 {
            return Err(Unbounded);
        }
        if amount > 0 {
            let mut node = from;
            while node != join {
                let link = &mut links[node];
                link.down -= amount;
                link.up += amount;
                node = link.parent as usize;
            }
            let mut node = to;
            while node != join {
                let link = &mut links[node];
                link.up -= amount;
                link.down += amount;
                node = link.parent as usize;
            }
        }
        let arc = entering as u32;
        match leaves {
            Leaves::Entering => self.arcs[entering] = self.arcs[entering].turned(),
            Leaves::BelowTail(top) => {
                let leaving = &mut self.arcs[links[top].arc as usize];
                if leaving.from as usize != top {
                    *leaving = leaving.turned();
                }
                let link = Link { parent: to as u32, size: 0, arc, up: capacity - amount, down: amount };
                self.tree.rehang(top, from, link, join, -reduced);
            }
            Leaves::BelowHead(top) => {
                let leaving = &mut self.arcs[links[top].arc as usize];
                if leaving.to as usize != top {
                    *leaving = leaving.turned();
                }
                let link = Link { parent: from as u32, size: 0, arc, up: amount, down: capacity - amount };
                self.tree.rehang(top, to, link, join, reduced);
            }
        }
        Ok(())
    }
}
