//! Which plans are refused, before anything is spent.

use super::cube::cube_lattice;
use super::mechanism::check_paper_lattice;
use crate::error::{Error, Kind, Result};
use crate::math::vector::dot;
use crate::measure::{Allocation, Side};
use crate::plan::{Facts, Mechanism, Method, Plan, Shares};
use crate::privacy::Privacy;
use crate::schema::Schema;

/// Refuses a plan that contradicts itself or does not suit the schema.
pub(crate) fn check(plan: &Plan, schema: &Schema) -> Result<()> {
    let (width, strata) = (schema.width(), schema.strata());
    if let Some(shares) = &plan.shares {
        // The number of rows is not known yet, and no rule of the shares depends on it.
        let facts = Facts::of(schema, 1, 1.0);
        shares.check(&facts)?;
        check_stages(plan, shares, &facts)?;
    }
    check_mechanism(plan)?;
    check_dimension(plan, width)?;
    check_basis(plan, width)?;
    check_lattice(plan, width, strata)
}

/// Refuses shares by hand for measurements that the rest of the plan leaves out.
fn check_stages(plan: &Plan, shares: &Shares, facts: &Facts) -> Result<()> {
    let gaussian = plan.method == Method::Gaussian;
    let shape = shares.moments > 0 && shares.measure > 0;
    let lost = (plan.public_basis.is_some() || plan.dimension.is_some()) && !shape
        || shares.marginals + shares.labels > 0 && (gaussian || plan.public_basis.is_some() || !plan.texture)
        || gaussian && facts.strata == 1 && shares.measure > 0;
    if lost {
        return Err(Error::new(Kind::Usage, "the budget shares do not suit the rest of the plan").hint(
            "directions that are given or asked for need moments and a measure, marginals and labels need \
             texture and directions that are found",
        ));
    }
    Ok(())
}

fn check_dimension(plan: &Plan, width: usize) -> Result<()> {
    if let Some(k) = plan.dimension {
        if k == 0 || k > width {
            return Err(Error::new(
                Kind::Usage,
                format!("`--dimension` must lie between 1 and the number of columns, {width}; {k} was given"),
            )
            .hint("leave it out to let Sunprint choose"));
        }
        if matches!(plan.method, Method::Cube | Method::Gaussian) {
            return Err(Error::new(
                Kind::Usage,
                format!("`--dimension` has no meaning with `--method {}`, which does not project", plan.method.name()),
            )
            .hint("leave `--dimension` out"));
        }
    }
    Ok(())
}

fn check_basis(plan: &Plan, width: usize) -> Result<()> {
    if plan.public_basis.is_some() {
        if plan.method != Method::Default {
            return Err(Error::new(Kind::Usage, "`--public-basis` works with the default method only")
                .hint("leave `--method` out"));
        }
        if plan.shares.is_some_and(|shares| shares.moments > 0 && shares.measure == 0) {
            return Err(Error::new(Kind::Usage, "a public basis without a share for the measure says nothing")
                .hint("give the measure at least one ten-thousandth"));
        }
        let directions = orthonormal(plan.public_basis.as_deref().unwrap_or_default(), width)?.len();
        if let Some(k) = plan.dimension.filter(|&k| k > directions) {
            return Err(Error::new(
                Kind::Usage,
                format!("`--dimension` is {k}, and the public basis has fewer directions: {directions}"),
            )
            .hint("leave `--dimension` out, or give more directions"));
        }
    }
    Ok(())
}

/// Refuses a lattice that is too large whatever the number of rows: whoever asks for it should hear so before the rows
/// are read. As rows and budget grow, lattices may only become finer.
fn check_lattice(plan: &Plan, width: usize, strata: usize) -> Result<()> {
    if plan.mechanism != Mechanism::Psmm {
        return Ok(());
    }
    let depth_noise = plan.tuning.depth_noise;
    let endless = Allocation { rows: 1e30, amount: 1.0, privacy: Privacy::Pure, strata, depth_noise };
    match plan.method {
        Method::Paper => check_paper_lattice(plan, &endless),
        Method::Cube => {
            let sides = vec![Side { low: 0.0, width: 1.0 }; width];
            let less = |error: Error| match error.advice().map(|hint| hint.replace("these rows", "the largest tables"))
            {
                Some(hint) => error.hint(hint),
                None => error,
            };
            cube_lattice(&sides, &endless, plan).map(drop).map_err(less)
        }
        Method::Default | Method::Gaussian => Ok(()),
    }
}

/// The rules about mechanisms.
fn check_mechanism(plan: &Plan) -> Result<()> {
    if let Some(cell) = plan.cell {
        if !(1e-6..=1e6).contains(&cell) {
            return Err(Error::new(
                Kind::Usage,
                format!("`--cell` must lie between 0.000001 and 1000000; {cell} was given"),
            )
            .hint("it is the side of a cell, in units of a column's range"));
        }
        if plan.mechanism != Mechanism::Psmm {
            return Err(Error::new(Kind::Usage, "`--cell` works with `--mechanism psmm` only")
                .hint("give `--mechanism psmm` too, or leave `--cell` out"));
        }
    }
    Ok(())
}

/// Gram-Schmidt, refusing what is not a basis. Public input: errors may name it.
pub(super) fn orthonormal(given: &[Vec<f64>], width: usize) -> Result<Vec<Vec<f64>>> {
    let fail = |rule: String| {
        Error::new(Kind::Usage, rule)
            .hint(format!("`--public-basis` takes k rows of {width} numbers, one per numeric column"))
    };
    if given.is_empty() || given.len() > width {
        return Err(fail(format!("the public basis has {} directions for {width} columns", given.len())));
    }
    let mut basis: Vec<Vec<f64>> = Vec::with_capacity(given.len());
    for (i, vector) in given.iter().enumerate() {
        if vector.len() != width || vector.iter().any(|x| !x.is_finite()) {
            return Err(fail(format!("direction {} of the public basis is not {width} finite numbers", i + 1)));
        }
        let length = dot(vector, vector).sqrt();
        let mut unit: Vec<f64> = vector.iter().map(|x| x / length.max(f64::MIN_POSITIVE)).collect();
        // Twice is enough: the second round removes what rounding left in the first.
        for _ in 0..2 {
            for known in &basis {
                let along = dot(known, &unit);
                unit.iter_mut().zip(known).for_each(|(x, k)| *x -= along * k);
            }
        }
        let left = dot(&unit, &unit).sqrt();
        if left.is_nan() || left < 1e-6 {
            return Err(fail(format!(
                "direction {} of the public basis is zero or a mixture of those before it",
                i + 1
            )));
        }
        unit.iter_mut().for_each(|x| *x /= left);
        basis.push(unit);
    }
    Ok(basis)
}
