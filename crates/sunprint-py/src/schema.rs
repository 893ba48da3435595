//! The schema: all public knowledge of a table.

use crate::errors::returned;
use pyo3::prelude::*;
use std::path::PathBuf;
use sunprint::schema;

/// A schema that was read and checked.
#[pyclass(frozen, module = "sunprint._native")]
pub(crate) struct Schema {
    pub(crate) inner: schema::Schema,
}

#[pymethods]
impl Schema {
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str, place: &str) -> PyResult<Schema> {
        returned(py, schema::Schema::parse(text, place)).map(|inner| Schema { inner })
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Schema> {
        returned(py, schema::Schema::load(&path)).map(|inner| Schema { inner })
    }

    /// The text of a schema file.
    fn to_toml(&self) -> String {
        self.inner.to_toml()
    }

    /// The same schema for a data set of another name.
    fn named(&self, name: String) -> Schema {
        let mut inner = self.inner.clone();
        inner.dataset.name = name;
        Schema { inner }
    }

    #[getter]
    fn name(&self) -> &str {
        &self.inner.dataset.name
    }

    #[getter]
    fn names(&self) -> Vec<&str> {
        self.inner.columns.iter().map(|column| column.name.as_str()).collect()
    }

    /// The kinds of the columns, in their order.
    #[getter]
    fn kinds(&self) -> Vec<&str> {
        self.inner.columns.iter().map(|column| column.kind.word()).collect()
    }

    /// The categories of every column; none for numbers and dates.
    #[getter]
    fn categories(&self) -> Vec<Vec<&str>> {
        self.inner.columns.iter().map(|column| column.categories()).collect()
    }

    /// The number of coordinates.
    #[getter]
    fn width(&self) -> usize {
        self.inner.width()
    }

    #[getter]
    fn strata(&self) -> usize {
        self.inner.strata()
    }
}
