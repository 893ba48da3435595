//! A finished model: draw, save, load, show.

use crate::errors::returned;
use crate::rows::Rows;
use crate::watch;
use pyo3::prelude::*;
use std::path::PathBuf;
use sunprint::error::{Error, Kind, Result};
use sunprint::model;
use sunprint::receipt::Statement;
use sunprint::run::{draw_batches, write_rows};
use sunprint::source::{AtomicFile, BatchMaker, Existing, Format, Output, Progress, TableWriter, Unit};

/// Everything that was released. Public.
#[pyclass(frozen, module = "sunprint._native")]
pub(crate) struct Model {
    pub(crate) inner: model::Model,
}

#[pymethods]
impl Model {
    /// Reads a model; `place` names it in errors.
    #[staticmethod]
    fn from_json(py: Python<'_>, text: &[u8], place: &str) -> PyResult<Model> {
        let read = py.detach(|| model::Model::from_json(text, place));
        returned(py, read).map(|inner| Model { inner })
    }

    fn to_json(&self) -> String {
        self.inner.to_json()
    }

    /// Writes the model to a file, whole or not at all. Another file is replaced only with `force`.
    #[pyo3(signature = (path, force=false))]
    fn save(&self, py: Python<'_>, path: PathBuf, force: bool) -> PyResult<()> {
        use std::io::Write;
        let write = || -> Result<()> {
            let mut file = AtomicFile::create(&path, Existing::replaced_if(force))?;
            file.write_all(self.inner.to_json().as_bytes()).map_err(|_| {
                Error::new(Kind::Io, "the model cannot be written")
                    .at(path.display().to_string())
                    .hint("check the disk")
            })?;
            file.finish()
        };
        let written = py.detach(write);
        returned(py, written)
    }

    /// Draws rows; `part` is a number and how many parts there are.
    #[pyo3(signature = (rows, seed, part=None, progress=None))]
    fn sample(
        &self,
        py: Python<'_>,
        rows: u64,
        seed: u64,
        part: Option<(u64, u64)>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Rows> {
        watch::run(py, progress, |watch| {
            let maker = BatchMaker::new(self.inner.schema(), &self.inner.layout())?;
            let draw = self.inner.draw(rows, seed);
            let (number, parts) = part.unwrap_or((0, 1));
            if number >= parts {
                let rule = format!("`part` is a number below that of all parts; ({number}, {parts}) was given");
                return Err(Error::new(Kind::Usage, rule));
            }
            // Whole blocks, so that the parts together are the rows of one draw.
            let place = |number: u64| (u128::from(draw.blocks()) * u128::from(number) / u128::from(parts)) as u64;
            let mut batches = Vec::new();
            watch.start("drawing", Some(rows), Unit::Rows);
            draw_batches(&draw, place(number)..place(number + 1), &maker, watch, |batch| {
                batches.push(batch);
                Ok(())
            })?;
            Ok(Rows::new(maker.schema(), batches))
        })
    }

    /// Draws rows into a file. Another file is replaced only with `force`.
    #[pyo3(signature = (path, rows, seed, format=None, progress=None, force=false))]
    #[allow(clippy::too_many_arguments)]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        rows: u64,
        seed: u64,
        format: Option<&str>,
        progress: Option<&Bound<'_, PyAny>>,
        force: bool,
    ) -> PyResult<()> {
        let format = returned(py, format.map(str::parse::<Format>).transpose())?;
        watch::run(py, progress, |watch| {
            let output = Output::new(path, format).over(Existing::replaced_if(force));
            let mut table = TableWriter::create(&output, output.format()?, self.inner.schema(), &self.inner.layout())?;
            watch.start("drawing", Some(rows), Unit::Rows);
            write_rows(&self.inner.draw(rows, seed), &mut table, watch)?;
            table.finish()
        })
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.inner.rows()
    }

    #[getter]
    fn dimension(&self) -> Option<usize> {
        self.inner.receipt().dimension
    }

    #[getter]
    fn spectrum(&self) -> Vec<f64> {
        self.inner.release().spectrum.clone()
    }

    #[getter]
    fn noise_edge(&self) -> f64 {
        self.inner.release().edge
    }

    #[getter]
    fn schema_toml(&self) -> String {
        self.inner.schema().to_toml()
    }

    #[getter]
    fn receipt_json(&self) -> String {
        serde_json::to_string(self.inner.receipt()).unwrap_or_default()
    }

    #[getter]
    fn receipt_text(&self) -> String {
        self.inner.receipt().to_string()
    }

    #[getter]
    fn receipt_sentence(&self) -> String {
        self.inner.receipt().sentence()
    }

    #[getter]
    fn statement_text(&self) -> String {
        Statement::of(self.inner.receipt(), self.inner.schema()).to_text()
    }

    #[getter]
    fn statement_html(&self) -> String {
        Statement::of(self.inner.receipt(), self.inner.schema()).to_html()
    }
}
