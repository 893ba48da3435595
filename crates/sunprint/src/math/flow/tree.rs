//! The spanning tree of the simplex method: who hangs from whom, how much each tree arc can still carry, and what a
//! unit is worth at each node.
//!
//! All nodes stand in preorder in a doubly linked ring. A subtree is a stretch of it, and can be cut out, turned round
//! and put back by touching only the path along which it turns.

/// What an arc without a capacity can carry: more than anything does (see [`MOST`](super::MOST)).
pub(crate) const ENDLESS: i64 = 1 << 61;

/// A node's place below its parent. The arc between them may point either way; what matters is what it can carry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub parent: u32,
    /// Nodes of the subtree, this one included.
    pub size: u32,
    /// The arc between the node and its parent.
    pub arc: u32,
    /// What can still be carried from the node to its parent.
    pub up: i64,
    /// What can still be carried from the parent to the node; `up + down` is the capacity of the arc.
    pub down: i64,
}

impl Link {
    /// Below `parent`, by an arc without a capacity that points up and carries `amount`.
    pub fn rising(parent: usize, arc: usize, amount: i64) -> Self {
        Link { parent: parent as u32, size: 1, arc: arc as u32, up: ENDLESS - amount, down: amount }
    }

    /// Below `parent`, by an arc without a capacity that points down and carries `amount`.
    pub fn falling(parent: usize, arc: usize, amount: i64) -> Self {
        Link { parent: parent as u32, size: 1, arc: arc as u32, up: amount, down: ENDLESS - amount }
    }
}

/// A tree over all nodes; the last node is its root, whose link means nothing.
pub(crate) struct Tree {
    pub links: Vec<Link>,
    /// y, with y_to = y_from + cost along every tree arc.
    pub potentials: Vec<i64>,
    next: Vec<u32>,
    before: Vec<u32>,
    /// The last node of each subtree in the ring.
    last: Vec<u32>,
}

impl Tree {
    /// The tree of these links. Sizes are counted here; `rise` is y of a node minus y of its parent.
    pub fn new(mut links: Vec<Link>, rise: impl Fn(usize) -> i64) -> Self {
        let count = links.len();
        let root = count - 1;
        let order = preorder(&links);
        let mut tree = Tree {
            links: Vec::new(),
            potentials: vec![0; count],
            next: vec![0; count],
            before: vec![0; count],
            last: vec![0; count],
        };
        for (at, &node) in order.iter().enumerate() {
            tree.chain(node, order[(at + 1) % count]);
            let node = node as usize;
            links[node].size = 1;
            if node != root {
                tree.potentials[node] = tree.potentials[links[node].parent as usize] + rise(node);
            }
        }
        // Children stand behind their parents: backwards, every subtree is complete before it counts for its parent.
        for (at, &node) in order.iter().enumerate().rev() {
            let Link { parent, size, .. } = links[node as usize];
            tree.last[node as usize] = order[at + size as usize - 1];
            if node as usize != root {
                links[parent as usize].size += size;
            }
        }
        tree.links = links;
        tree
    }

    /// Cuts the subtree of `top` off and hangs it up by its node `knot`, below `link.parent`; every potential in it moves
    /// by `shift`. `join` is the lowest node above both `top` and the new parent, or that parent itself.
    pub fn rehang(&mut self, top: usize, knot: usize, link: Link, join: usize, shift: i64) {
        let Link { parent: above, size: moved, .. } = self.links[top];
        let hook = link.parent as usize;
        let (front, back) = (self.before[top], self.last[top]);
        self.chain(front, self.next[back as usize]);
        self.end_upwards(above as usize, back, front);
        let mut node = above as usize;
        while node != join {
            self.links[node].size -= moved;
            node = self.links[node].parent as usize;
        }
        let tail = self.turn(top, knot);
        self.links[knot] = Link { size: moved, ..link };
        let behind = self.next[hook];
        self.chain(hook as u32, knot as u32);
        self.chain(tail, behind);
        self.end_upwards(hook, hook as u32, tail);
        let mut node = hook;
        while node != join {
            self.links[node].size += moved;
            node = self.links[node].parent as usize;
        }
        let mut node = knot as u32;
        loop {
            self.potentials[node as usize] += shift;
            if node == tail {
                break;
            }
            node = self.next[node as usize];
        }
    }

    fn chain(&mut self, node: u32, behind: u32) {
        self.next[node as usize] = behind;
        self.before[behind as usize] = node;
    }

    /// From `node` upwards, a subtree that ended with `old` now ends with `new`.
    fn end_upwards(&mut self, mut node: usize, old: u32, new: u32) {
        let root = self.links.len() - 1;
        while self.last[node] == old {
            self.last[node] = new;
            if node == root {
                break;
            }
            node = self.links[node].parent as usize;
        }
    }

    /// Turns the subtree of `top`, already cut off, so that `knot` is on top, and returns its new last node. On the path
    /// knot = s₀, s₁, …, s_k = top each s_i becomes a child of s_(i−1): its stretch, without that of s_(i−1), goes to the
    /// end of the list. What the arc between the two can carry stays; up and down change places.
    fn turn(&mut self, top: usize, knot: usize) -> u32 {
        let whole = self.links[top].size;
        // Of the stretch of the node below: what stood before it, its last node, what stood behind that.
        let (mut front, mut end) = (self.before[knot], self.last[knot]);
        let mut behind = self.next[end as usize];
        let (mut below, mut old) = (knot, self.links[knot]);
        let mut tail = end;
        while below != top {
            let node = old.parent as usize;
            let link = self.links[node];
            let (node_front, node_end) = (self.before[node], self.last[node]);
            let rest = if end == node_end {
                front
            } else {
                self.chain(front, behind);
                behind = self.next[node_end as usize];
                node_end
            };
            self.chain(tail, node as u32);
            tail = rest;
            self.links[node] =
                Link { parent: below as u32, size: whole - old.size, arc: old.arc, up: old.down, down: old.up };
            (below, old, front, end) = (node, link, node_front, node_end);
        }
        let mut node = top;
        while node != knot {
            self.last[node] = tail;
            node = self.links[node].parent as usize;
        }
        self.last[knot] = tail;
        tail
    }
}

/// All nodes from the root, every parent before its children and every subtree in one piece.
fn preorder(links: &[Link]) -> Vec<u32> {
    let root = links.len() - 1;
    // The children of a node, one list behind the other: those of node v are children[starts[v]..starts[v + 1]].
    let mut starts = vec![0u32; links.len() + 1];
    links[..root].iter().for_each(|link| starts[link.parent as usize + 1] += 1);
    for node in 0..links.len() {
        starts[node + 1] += starts[node];
    }
    let mut free = starts.clone();
    let mut children = vec![0u32; root];
    for (node, link) in links[..root].iter().enumerate() {
        let at = &mut free[link.parent as usize];
        children[*at as usize] = node as u32;
        *at += 1;
    }
    let mut order = Vec::with_capacity(links.len());
    let mut open = vec![root as u32];
    while let Some(node) = open.pop() {
        order.push(node);
        open.extend_from_slice(&children[starts[node as usize] as usize..starts[node as usize + 1] as usize]);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::stream::Stream;

    /// Sizes, order and ends as they follow from the parents alone.
    fn is_sound(tree: &Tree) -> bool {
        let count = tree.links.len();
        let root = count - 1;
        let mut order = vec![root as u32];
        while order.len() < count {
            order.push(tree.next[order[order.len() - 1] as usize]);
        }
        let mut sizes = vec![1; count];
        let mut place = vec![0; count];
        order.iter().enumerate().for_each(|(at, &node)| place[node as usize] = at);
        for &node in order[1..].iter().rev() {
            sizes[tree.links[node as usize].parent as usize] += sizes[node as usize];
        }
        let ring = (0..count).all(|node| tree.before[tree.next[node] as usize] == node as u32);
        ring && sizes[root] == count
            && (0..count).all(|node| {
                let within = node == root || {
                    let parent = tree.links[node].parent as usize;
                    place[node] > place[parent] && place[node] + sizes[node] <= place[parent] + sizes[parent]
                };
                tree.links[node].size as usize == sizes[node]
                    && tree.last[node] == order[place[node] + sizes[node] - 1]
                    && within
            })
    }

    fn path(tree: &Tree, mut node: usize) -> Vec<usize> {
        let mut path = vec![node];
        while node + 1 != tree.links.len() {
            node = tree.links[node].parent as usize;
            path.push(node);
        }
        path
    }

    #[test]
    fn a_tree_stays_whole_however_it_is_rehung() {
        for (seed, count) in (0..40).zip([2usize, 3, 5, 9, 30].into_iter().cycle()) {
            let mut stream = Stream::new(seed, 0, 0);
            let links = (0..count).map(|node| {
                let parent = node + 1 + stream.below((count - node) as u64 - 1) as usize;
                Link::rising(parent.min(count - 1), node, 0)
            });
            let mut tree = Tree::new(links.collect(), |_| 0);
            assert!(is_sound(&tree));
            for arc in 0..200 {
                let top = stream.below(count as u64 - 1) as usize;
                let (inside, outside): (Vec<usize>, Vec<usize>) =
                    (0..count).partition(|&node| path(&tree, node).contains(&top));
                let knot = inside[stream.below(inside.len() as u64) as usize];
                let hook = outside[stream.below(outside.len() as u64) as usize];
                let above = path(&tree, top);
                let join = path(&tree, hook).into_iter().find(|node| above.contains(node)).unwrap();
                let mut expected = tree.potentials.clone();
                inside.iter().for_each(|&node| expected[node] += arc);
                tree.rehang(top, knot, Link::falling(hook, count, 1), join, arc);
                assert!(is_sound(&tree) && tree.links[knot].parent as usize == hook);
                assert_eq!(tree.potentials, expected);
            }
        }
    }
}
