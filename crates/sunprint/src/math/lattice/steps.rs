//! The geometry: which moves there are, and which of them stay inside the box.

/// A move to a neighbouring cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// What to add to a cell's number, modulo the word: backwards is a large number.
    offset: usize,
    /// The faces of the box that a cell must not touch for this move to stay inside.
    faces: u32,
    pub(super) cost: i32,
    /// The number of the opposite move.
    pub(super) back: u16,
}

/// All moves of a lattice.
#[derive(Clone, Debug)]
pub(super) struct Steps {
    all: Vec<Step>,
    /// The faces of the box that each cell touches: two bits for each long side.
    touches: Vec<u32>,
    sides: usize,
}

impl Steps {
    /// All moves that change between one and `most` coordinates by one each; `cost` by the number of changes.
    pub(super) fn new(shape: &[u32], most: usize, cost: impl Fn(usize) -> i32) -> Steps {
        let cells = shape.iter().map(|&side| side as usize).product();
        let long: Vec<usize> = shape.iter().filter(|&&side| side > 1).map(|&side| side as usize).collect();
        // How far apart neighbours along each side are.
        let mut strides = vec![1usize; long.len()];
        for i in (1..long.len()).rev() {
            strides[i - 1] = strides[i] * long[i];
        }
        let mut all = Vec::new();
        // A move is a number of as many digits as there are sides, in base three: 0 back, 1 stay, 2 forth. The opposite
        // move has the opposite digits, so that the list read backwards is the list of opposites.
        for code in 0..3usize.pow(long.len() as u32) {
            let mut step = Step { offset: 0, faces: 0, cost: 0, back: 0 };
            let (mut digits, mut changes) = (code, 0);
            for (side, &stride) in strides.iter().enumerate().rev() {
                match digits % 3 {
                    0 => {
                        step.offset = step.offset.wrapping_sub(stride);
                        step.faces |= 1 << (2 * side);
                        changes += 1;
                    }
                    1 => {}
                    _ => {
                        step.offset = step.offset.wrapping_add(stride);
                        step.faces |= 2 << (2 * side);
                        changes += 1;
                    }
                }
                digits /= 3;
            }
            if (1..=most).contains(&changes) {
                all.push(Step { cost: cost(changes), ..step });
            }
        }
        let count = all.len();
        for (i, step) in all.iter_mut().enumerate() {
            step.back = u16::try_from(count - 1 - i).expect("the number of sides is limited");
        }
        let touches = (0..cells)
            .map(|cell: usize| {
                (strides.iter().zip(&long).enumerate()).fold(0, |faces, (i, (&stride, &side))| {
                    let at = cell / stride % side;
                    faces | u32::from(at == 0) << (2 * i) | u32::from(at == side - 1) << (2 * i + 1)
                })
            })
            .collect();
        Steps { all, touches, sides: long.len() }
    }

    pub(super) fn cells(&self) -> usize {
        self.touches.len()
    }

    /// The number of sides longer than one cell.
    pub(super) fn sides(&self) -> usize {
        self.sides
    }

    pub(super) fn all(&self) -> &[Step] {
        &self.all
    }

    /// The cell that a move leads to, which must stay inside.
    #[inline]
    pub(super) fn to(&self, cell: usize, step: u16) -> usize {
        cell.wrapping_add(self.all[usize::from(step)].offset)
    }

    /// The moves out of a cell and where they lead.
    #[inline]
    pub(super) fn from(&self, cell: usize) -> impl Iterator<Item = (u16, Step, usize)> {
        let touched = self.touches[cell];
        (self.all.iter().enumerate())
            .filter(move |(_, step)| step.faces & touched == 0)
            .map(move |(i, step)| (i as u16, *step, cell.wrapping_add(step.offset)))
    }
}
