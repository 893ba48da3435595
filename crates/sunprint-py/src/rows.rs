//! Rows as Arrow batches: what is drawn, and what the shell makes of frames that do not speak Arrow.

use crate::capsules::{export_schema, export_stream};
use crate::columns;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::{PyIndexError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};
use std::sync::Arc;

/// Rows in Arrow's form. Hand them to any library that takes the Arrow PyCapsule interface.
#[pyclass(frozen, module = "sunprint")]
pub(crate) struct Rows {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Rows {
    pub(crate) fn new(schema: SchemaRef, batches: Vec<RecordBatch>) -> Rows {
        Rows { schema, batches }
    }

    /// The columns, as they are said to be.
    pub(crate) fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    /// The batches, once more each time; nothing is copied.
    pub(crate) fn batches(&self) -> Vec<RecordBatch> {
        self.batches.clone()
    }

    fn reader(&self) -> Box<dyn RecordBatchReader + Send> {
        let batches = self.batches.clone().into_iter().map(Ok);
        Box::new(RecordBatchIterator::new(batches, Arc::clone(&self.schema)))
    }

    fn arrays(&self, column: usize) -> Vec<ArrayRef> {
        self.batches.iter().map(|batch| Arc::clone(batch.column(column))).collect()
    }
}

#[pymethods]
impl Rows {
    /// Rows from columns that do not speak Arrow, for the shell.
    #[staticmethod]
    fn from_columns(names: Vec<String>, parts: Vec<Bound<'_, PyTuple>>) -> PyResult<Rows> {
        let columns = parts.iter().map(columns::import).collect::<PyResult<Vec<_>>>()?;
        let fields = |types: Vec<&DataType>| {
            let field = |(name, data_type): (&String, &DataType)| Field::new(name, data_type.clone(), true);
            Arc::new(Schema::new(names.iter().zip(types).map(field).collect::<Vec<_>>()))
        };
        // What is said of a column need not be the type that its values are read with.
        let schema = fields(columns.iter().map(|(declared, _)| declared).collect());
        let read = fields(columns.iter().map(|(_, array)| array.data_type()).collect());
        let batch = RecordBatch::try_new(read, columns.into_iter().map(|(_, array)| array).collect());
        let uneven = |_| PyTypeError::new_err("the columns of a batch differ in length");
        Ok(Rows { schema, batches: vec![batch.map_err(uneven)?] })
    }

    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// A column as plain buffers or a list of text, for the shell.
    fn column<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Bound<'py, PyTuple>> {
        let field = self.schema.fields().get(number).ok_or_else(|| PyIndexError::new_err("no such column"))?;
        columns::export(py, &self.arrays(number), field.data_type())
    }

    /// Arrow's word for the type of a column.
    fn type_of(&self, number: usize) -> PyResult<String> {
        let field = self.schema.fields().get(number).ok_or_else(|| PyIndexError::new_err("no such column"))?;
        Ok(field.data_type().to_string())
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("<sunprint.Rows: {} rows, {} columns>", self.__len__(), self.schema.fields().len())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The producer may hand over its own types, whatever was wished for.
        drop(requested_schema);
        export_stream(py, self.reader())
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        export_schema(py, &self.schema)
    }
}
