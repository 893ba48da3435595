//! stand-in
pub(crate) struct Sparse<'a> {
    pub supplies: &'a [i64],
    pub demands: &'a [i64],
    pub cost: &'a (dyn Costs + Sync),
}
pub(crate) trait Costs {
    fn row(&self, i: usize, out: &mut [i64]);
    fn rows(&self) -> usize;
    fn columns(&self) -> usize;
}
pub(crate) struct SparsePlan {
    pub moved: Vec<(u32, u32, i64)>,
    pub rows: Vec<i64>,
    pub columns: Vec<i64>,
}
/// Successive shortest paths on a table: from each row with mass left to a column with room left.
pub(crate) fn by_pricing(problem: &Sparse) -> SparsePlan {
    let (n, m) = (problem.cost.rows(), problem.cost.columns());
    let mut cost = vec![0i64; n * m];
    for i in 0..n {
        problem.cost.row(i, &mut cost[i * m..(i + 1) * m]);
    }
    let (mut supply, mut demand) = (problem.supplies.to_vec(), problem.demands.to_vec());
    let mut flow = vec![0i64; n * m];
    let (mut u, mut v) = (vec![0i64; n], vec![0i64; m]);
    // Feasible from the start, and kept so: u_i + v_j <= c_ij, equality where there is flow.
    for i in 0..n {
        u[i] = (0..m).map(|j| cost[i * m + j] - v[j]).min().unwrap_or(0);
    }
    for start in 0..n {
        while supply[start] > 0 {
            let (mut row_d, mut col_d) = (vec![i64::MAX; n], vec![i64::MAX; m]);
            let (mut row_from, mut col_from) = (vec![usize::MAX; n], vec![usize::MAX; m]);
            let (mut row_done, mut col_done) = (vec![false; n], vec![false; m]);
            row_d[start] = 0;
            let end = loop {
                let r = (0..n).filter(|&i| !row_done[i]).min_by_key(|&i| row_d[i]);
                let c = (0..m).filter(|&j| !col_done[j]).min_by_key(|&j| col_d[j]);
                let (rd, cd) = (r.map_or(i64::MAX, |i| row_d[i]), c.map_or(i64::MAX, |j| col_d[j]));
                if rd <= cd {
                    let i = r.expect("a row");
                    row_done[i] = true;
                    for j in 0..m {
                        let through = rd + cost[i * m + j] - u[i] - v[j];
                        if through < col_d[j] {
                            (col_d[j], col_from[j]) = (through, i);
                        }
                    }
                } else {
                    let j = c.expect("a column");
                    if demand[j] > 0 {
                        break j;
                    }
                    col_done[j] = true;
                    for i in 0..n {
                        if flow[i * m + j] > 0 && cd < row_d[i] {
                            (row_d[i], row_from[i]) = (cd, j);
                        }
                    }
                }
            };
            let length = col_d[end];
            for i in 0..n {
                if row_done[i] {
                    u[i] += length - row_d[i];
                }
            }
            for j in 0..m {
                if col_done[j] {
                    v[j] -= length - col_d[j];
                }
            }
            let mut amount = supply[start].min(demand[end]);
            let mut j = end;
            loop {
                let i = col_from[j];
                if i == start {
                    break;
                }
                j = row_from[i];
                amount = amount.min(flow[i * m + j]);
            }
            let mut j = end;
            loop {
                let i = col_from[j];
                flow[i * m + j] += amount;
                if i == start {
                    break;
                }
                j = row_from[i];
                flow[i * m + j] -= amount;
            }
            supply[start] -= amount;
            demand[end] -= amount;
        }
    }
    let moved = (0..n * m).filter(|&k| flow[k] > 0).map(|k| ((k / m) as u32, (k % m) as u32, flow[k])).collect();
    SparsePlan { moved, rows: u, columns: v }
}
