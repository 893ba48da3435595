//! The search: all deficits look for mass at the same time, and each meets the nearest that is left.
//!
//! **Prices.** Every cell v has a potential y_v ≥ 0, the price of a unit there. Prices are *fair* if y_w − y_v ≤ c(v, w)
//! for every move (buying at v and carrying to w earns nothing), with equality where mass moves, and y_v = 0 where mass
//! is left over. A flow with fair prices is optimal for the deficits it serves: see [`super::proof`].
//!
//! **Clock.** All prices start at 0 and nothing moves, which is fair. A clock t runs. A cell with a deficit always has the
//! price t. Around each such *root* grows a *tree* of cells that it can draw on at equal price: v belongs to the tree of w
//! if y_w − y_v = c(v, w), so that mass could come from v (a [`Link::Move`]); or if mass goes from w to v already, which
//! could stay at w while v looks elsewhere (a [`Link::Cancel`]). Prices in trees rise with the clock, all others stand
//! still. With d_v = t − y_v, the *label*, a constant while v is in a tree, everything stays fair inside the forest; a
//! free cell v next to w in the forest has to join at the time d_w + c(v, w) + y_v, when its price becomes unfair
//! otherwise. The least d_w + c over its neighbours in the forest is its *reach*. This is Dijkstra's method, with all
//! deficits as sources and one price for each cell in place of a new start for each path.
//!
//! **Meeting mass.** When a cell with mass left over joins (its price is still 0) mass comes to the root along the tree,
//! as much as root, cell and the amounts to be cancelled allow. A root that is served is no root any more, and a cell
//! whose cancelled amount is used up has lost its link. Such *orphans* look for another parent at the same price, on a
//! root of any tree, and take their branch along; those that find none fall, free at the price that they have, and
//! their children are orphans. So the work is the number of cells that join and fall, and most trees stay as they are.
//! Dead ends are never searched twice: a tree that has found nothing stays until the clock moves on.
//!
//! **How long.** While a deficit has to be served, mass is left somewhere at price 0, so fairness along the way to it
//! keeps t at or below the cost of a way across the lattice. Whenever mass is met, at least one unit is served, and
//! between two meetings at the same time a cell joins at most once and none falls. So the search ends, and prices fit
//! the integers that hold them. On noise the time grows about like √cells × cells with a deficit.
//!
//! **Order within one time.** Cells with mass first. Then moves, last come first taken: each lowers the price and so
//! leads straight towards price 0, where mass is. Cancellations, which lead away from it, wait at the end of the queue,
//! as do cells that fell. (First come first taken for all is as good on noise, but its trees grow to thousands of cells
//! for each deficit if all mass is in one corner; the lowest price first does several times the work on noise.)

use super::clock::Clock;
use super::flows::Flows;
use super::steps::Steps;
use std::collections::VecDeque;

const NONE: u32 = u32::MAX;

/// The label of a cell in no tree; the reach of a cell next to no tree.
const FREE: i32 = i32::MAX;

/// The reach of a cell in a tree: nothing is nearer.
const HELD: i32 = i32::MIN;

/// How a cell hangs on its parent.
#[derive(Clone, Copy)]
enum Link {
    /// It has a deficit itself.
    Root,
    /// Not known: no tree is near, or the one that was has fallen.
    Unknown,
    /// The move from the cell to its parent: the parent can have mass from here.
    Move(u16),
    /// The move from the parent to the cell: the parent can keep mass that goes here.
    Cancel(u16),
}

pub(super) struct Forest<'a> {
    steps: &'a Steps,
    clock: Clock,
    pub(super) flows: Flows,
    /// What each cell has left (positive) or lacks (negative).
    pub(super) mass: Vec<i64>,
    /// y, as of when the cell was last free; in a tree it is t − d.
    price: Vec<i32>,
    /// d in a tree, else [`FREE`].
    label: Vec<i32>,
    /// For a free cell a lower bound of d_w + c over its neighbours w in trees, which `link` attained when it was set.
    reach: Vec<i32>,
    link: Vec<Link>,
    first_child: Vec<u32>,
    sibling: Vec<u32>,
    /// The last session of [`Forest::place_orphans`] in which the cell was found to hang on a root.
    rooted: Vec<u32>,
    session: u32,
    orphans: VecDeque<u32>,
    /// Units of deficit that have to be served yet.
    to_serve: u64,
}

impl<'a> Forest<'a> {
    /// Nothing moved. `to_serve` may be at most the sum of the deficits and at most the sum of what is left over.
    pub(super) fn new(steps: &'a Steps, masses: &[i64], to_serve: u64) -> Self {
        let cells = masses.len();
        // A cell in reach is due at d_w + c(v, w) + y_v = t + c(v, w) + y_v − y_w, and y_v − y_w ≤ c(w, v).
        let dearest = steps.all().iter().map(|step| step.cost).max().unwrap_or(0);
        Forest {
            steps,
            clock: Clock::new(2 * dearest as usize),
            flows: Flows::none(cells),
            mass: masses.to_vec(),
            price: vec![0; cells],
            label: vec![FREE; cells],
            reach: vec![FREE; cells],
            link: vec![Link::Unknown; cells],
            first_child: vec![NONE; cells],
            sibling: vec![NONE; cells],
            rooted: vec![0; cells],
            session: 0,
            orphans: VecDeque::new(),
            to_serve,
        }
    }

    /// Serves as much as was asked for. Tells `progress` from time to time how much has been served.
    pub(super) fn serve(&mut self, progress: &dyn Fn(u64)) {
        const TELL: u32 = 1 << 14;
        let (all, mut taken) = (self.to_serve, 0);
        if all > 0 {
            for root in 0..self.mass.len() {
                if self.mass[root] < 0 {
                    (self.reach[root], self.link[root]) = (0, Link::Root);
                    self.join(root);
                }
            }
        }
        while self.to_serve > 0 {
            match self.clock.take() {
                Some(cell) => self.visit(cell),
                None => self.clock.advance(),
            }
            taken += 1;
            if taken == TELL {
                progress(all - self.to_serve);
                taken = 0;
            }
        }
        progress(all);
    }

    /// The prices of all cells, and the price of a deficit.
    pub(super) fn prices(&self) -> (Vec<i64>, i64) {
        let now = self.clock.now();
        let prices = (self.price.iter().zip(&self.label))
            .map(|(&price, &label)| i64::from(if label == FREE { price } else { now - label }))
            .collect();
        (prices, i64::from(now))
    }

    /// When a free cell within reach has to join.
    #[inline]
    fn due(&self, cell: usize) -> Option<i32> {
        (self.reach[cell] != FREE).then(|| self.reach[cell] + self.price[cell])
    }

    fn parent(&self, cell: usize) -> Option<usize> {
        match self.link[cell] {
            Link::Root | Link::Unknown => None,
            Link::Move(step) => Some(self.steps.to(cell, step)),
            Link::Cancel(step) => Some(self.steps.to(cell, self.steps.all()[usize::from(step)].back)),
        }
    }

    /// A cell taken from the clock: it joins, gives mass, or was entered for a reason that no longer holds.
    fn visit(&mut self, cell: usize) {
        let now = self.clock.now();
        if self.label[cell] != FREE || self.due(cell) != Some(now) {
            return;
        }
        if !self.holds(cell) {
            (self.reach[cell], self.link[cell], _) = self.look_for_parent(cell, now - self.price[cell], true);
            match self.due(cell) {
                None => return,
                Some(time) if time > now => return self.clock.at(time, cell),
                Some(_) => {}
            }
        }
        if self.mass[cell] > 0 { self.give(cell) } else { self.join(cell) }
    }

    /// Whether a free cell's link still gives its reach.
    fn holds(&self, cell: usize) -> bool {
        let Some(parent) = self.parent(cell) else { return false };
        let label = self.label[parent];
        label != FREE
            && match self.link[cell] {
                Link::Root | Link::Unknown => false,
                Link::Move(step) => label + self.steps.all()[usize::from(step)].cost == self.reach[cell],
                Link::Cancel(step) => {
                    label - self.steps.all()[usize::from(step)].cost == self.reach[cell]
                        && self.flows.amount(parent, step) > 0
                }
            }
    }

    /// Finds the reach of a cell with the price t − `least`, how it would hang there, and whether it can do so at once
    /// and on a root. No reach is below `least`: the prices are fair. `all_rooted`: there are no orphans.
    fn look_for_parent(&mut self, cell: usize, least: i32, all_rooted: bool) -> (i32, Link, bool) {
        let steps = self.steps;
        let (mut reach, mut link) = (FREE, Link::Unknown);
        for (i, step, neighbour) in steps.from(cell) {
            let label = self.label[neighbour];
            if label == FREE {
                continue;
            }
            let found = if label + step.cost == least {
                (least, Link::Move(i))
            } else if label - step.cost == least && self.flows.amount(neighbour, step.back) > 0 {
                // Mass that comes from there: the price difference is the cost of the move, or there is none.
                (least, Link::Cancel(step.back))
            } else {
                (label + step.cost, Link::Move(i))
            };
            if found.0 < reach {
                (reach, link) = found;
            }
            if found.0 == least && (all_rooted || self.is_rooted(neighbour)) {
                return (found.0, found.1, true);
            }
        }
        (reach, link, false)
    }

    /// A cell without mass becomes part of the forest, by its link, and its neighbours come within reach.
    fn join(&mut self, cell: usize) {
        let (steps, now) = (self.steps, self.clock.now());
        let label = std::mem::replace(&mut self.reach[cell], HELD);
        (self.label[cell], self.first_child[cell]) = (label, NONE);
        self.hook(cell);
        for (_, step, neighbour) in steps.from(cell) {
            let (reach, before) = (label + step.cost, self.reach[neighbour]);
            if reach > before {
                continue;
            }
            let due = reach + self.price[neighbour];
            // An equal reach is no news, unless it is due now and comes from a fallen tree.
            if reach == before && (due > now || self.parent(neighbour).is_some_and(|parent| self.label[parent] != FREE))
            {
                continue;
            }
            (self.reach[neighbour], self.link[neighbour]) = (reach, Link::Move(step.back));
            if due > now {
                self.clock.at(due, neighbour);
            } else if self.mass[neighbour] > 0 {
                self.clock.hit(neighbour);
            } else {
                self.clock.next(neighbour);
            }
        }
        for (step, _) in self.flows.from(cell) {
            let target = steps.to(cell, step);
            let reach = label - steps.all()[usize::from(step)].cost;
            if reach < self.reach[target] {
                (self.reach[target], self.link[target]) = (reach, Link::Cancel(step));
                self.clock.at(now, target);
            }
        }
    }

    /// Enters a cell in its parent's list.
    fn hook(&mut self, cell: usize) {
        if let Some(parent) = self.parent(cell) {
            self.sibling[cell] = std::mem::replace(&mut self.first_child[parent], cell as u32);
        }
    }

    /// A free cell with mass, linked to a tree and due, gives to the root what it can.
    fn give(&mut self, cell: usize) {
        let mut amount = self.to_serve.min(self.mass[cell].unsigned_abs());
        let mut root = cell;
        while let Some(parent) = self.parent(root) {
            if let Link::Cancel(step) = self.link[root] {
                amount = amount.min(self.flows.amount(parent, step));
            }
            root = parent;
        }
        amount = amount.min(self.mass[root].unsigned_abs());
        self.to_serve -= amount;
        self.mass[root] += amount as i64;
        self.mass[cell] -= amount as i64;
        // Change the flow along the path. Cells whose link is used up are orphans, and so is a root that is served.
        let (mut at, mut whole) = (cell, true);
        while let Some(parent) = self.parent(at) {
            match self.link[at] {
                Link::Move(step) => self.flows.add(at, step, amount),
                Link::Cancel(step) if self.flows.cancel(parent, step, amount) => {
                    whole = false;
                    if at != cell {
                        self.unhook(at);
                        self.orphans.push_back(at as u32);
                    }
                }
                _ => {}
            }
            at = parent;
        }
        if self.mass[root] == 0 {
            whole = false;
            self.orphans.push_back(root as u32);
        }
        self.place_orphans();
        if whole && self.mass[cell] == 0 {
            return self.join(cell);
        }
        // It is still due, if only to find out who is near now.
        if self.mass[cell] > 0 { self.clock.hit(cell) } else { self.clock.at(self.clock.now(), cell) }
    }

    /// Takes a cell in a tree out of its parent's list.
    fn unhook(&mut self, cell: usize) {
        let Some(parent) = self.parent(cell) else { return };
        let next = self.sibling[cell];
        if self.first_child[parent] == cell as u32 {
            self.first_child[parent] = next;
            return;
        }
        let mut before = self.first_child[parent] as usize;
        while self.sibling[before] != cell as u32 {
            before = self.sibling[before] as usize;
        }
        self.sibling[before] = next;
    }

    /// Cells that hang on nothing any more find another parent in the forest, with all that hangs on them, or fall, and
    /// then their children are in the same position.
    fn place_orphans(&mut self) {
        if self.orphans.is_empty() {
            return;
        }
        if self.session == u32::MAX {
            self.rooted.fill(0);
            self.session = 0;
        }
        self.session += 1;
        for &orphan in &self.orphans {
            self.link[orphan as usize] = Link::Unknown;
        }
        while let Some(cell) = self.orphans.pop_front() {
            let cell = cell as usize;
            let (reach, link, safe) = self.look_for_parent(cell, self.label[cell], false);
            self.link[cell] = link;
            if safe {
                self.hook(cell);
                continue;
            }
            let mut child = self.first_child[cell];
            while child != NONE {
                self.link[child as usize] = Link::Unknown;
                self.orphans.push_back(child);
                child = self.sibling[child as usize];
            }
            self.price[cell] = self.clock.now() - self.label[cell];
            (self.label[cell], self.reach[cell]) = (FREE, reach);
            if let Some(due) = self.due(cell) {
                self.clock.at(due, cell);
            }
        }
    }

    /// Whether a cell of the forest hangs on a root: during a session of [`Forest::place_orphans`] some hang on orphans.
    /// Cells that do will do so until the session ends, and are remembered.
    fn is_rooted(&mut self, cell: usize) -> bool {
        let mut top = cell;
        while self.rooted[top] != self.session {
            match self.parent(top) {
                Some(parent) => top = parent,
                None if matches!(self.link[top], Link::Root) => break,
                None => return false,
            }
        }
        let mut at = cell;
        while self.rooted[at] != self.session {
            self.rooted[at] = self.session;
            at = self.parent(at).unwrap_or(top);
        }
        true
    }
}
