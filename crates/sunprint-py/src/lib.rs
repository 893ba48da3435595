//! The native half of Sunprint for Python: conversions, and no arithmetic.
//!
//! Frames come in and go out through Arrow's C interface (`capsules`, the one file with `unsafe` code, and `imported`,
//! which checks what came) or as plain buffers and lists of objects (`columns`, `cells`); work runs without the interpreter's lock and can be interrupted (`watch`); an error is raised
//! as one of the exceptions of `sunprint._errors`, and a bug as one that says nothing of a value (`errors`). The typed
//! shell in `python/sunprint` is what users see.

mod capsules;
mod cells;
mod columns;
mod compare;
mod errors;
mod fit;
mod imported;
mod marked;
mod model;
mod options;
mod protocol;
mod rows;
mod schema;
mod tables;
mod watch;

use pyo3::pymodule;

/// The native half of the package `sunprint`.
#[pymodule(name = "_native")]
mod native {
    use super::errors;
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::compare::{evaluate, plan, wasserstein1};
    #[pymodule_export]
    use crate::fit::{fit, spent};
    #[pymodule_export]
    use crate::marked::{check, open_tally, seal_tally, sealed_cells, tally_cells, tally_marked};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::protocol::{Fit, Pass, Tally};
    #[pymodule_export]
    use crate::rows::Rows;
    #[pymodule_export]
    use crate::schema::Schema;
    #[pymodule_export]
    use crate::watch::stumble;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        errors::keep_panics_quiet();
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
