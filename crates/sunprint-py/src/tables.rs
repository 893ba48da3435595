//! What a table may be: a file, an object that speaks Arrow, or an iterator of such objects.

use crate::capsules::{import_batch, import_stream};
use crate::errors::foreign;
use crate::imported::{Fault, as_bytes};
use crate::rows::Rows;
use arrow_array::{ArrayRef, RecordBatch, new_empty_array};
use arrow_schema::{DataType, Fields, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyString};
use std::path::PathBuf;
use sunprint::error::{Error, Kind, Result};
use sunprint::schema::Schema;
use sunprint::source::{Batches, Format, Input, Layout, Progress, Room, Store, Table};
use sunprint::tally::{Pass, Tally};

/// What errors call a table that is no file.
const PLACE: &str = "the table";

/// A table as it was handed over. Nothing is read yet.
pub(crate) enum Handed {
    /// A file.
    File(Input),
    /// Something with `__arrow_c_stream__` or `__arrow_c_array__`.
    Frame(Py<PyAny>),
    /// An iterator of such things. Their columns are known when the first one is here.
    Parts(Py<PyIterator>),
}

/// A table whose shape was checked.
pub(crate) enum Opened {
    File(Input),
    Batches(Box<Batches>),
}

impl Handed {
    /// What an object is: a path as text, something that speaks Arrow, or an iterator.
    pub(crate) fn of(object: &Bound<'_, PyAny>, format: Option<&str>, ignore_extra: bool) -> PyResult<Handed> {
        if let Ok(path) = object.cast::<PyString>() {
            let format = format.map(str::parse::<Format>).transpose();
            let format = format.map_err(|error| crate::errors::raise(object.py(), &error))?;
            let input = Input::new(PathBuf::from(path.to_str()?), format).ignoring_extra(ignore_extra);
            return Ok(Handed::File(input));
        }
        if object.hasattr("__arrow_c_stream__")? || object.hasattr("__arrow_c_array__")? {
            return Ok(Handed::Frame(object.clone().unbind()));
        }
        Ok(Handed::Parts(object.try_iter()?.unbind()))
    }

    /// Checks the shape.
    pub(crate) fn open(self, schema: &Schema, ignore_extra: bool) -> Result<Opened> {
        let batches = match self {
            Handed::File(input) => {
                input.format()?;
                input.check()?;
                return Ok(Opened::File(input));
            }
            Handed::Frame(object) => {
                let reader = Python::attach(|py| reader_of(object.bind(py)))?;
                Batches::new(reader.schema.fields(), schema, PLACE, ignore_extra, reader.batches)
            }
            Handed::Parts(iterator) => {
                let mut parts = Parts { iterator: Some(iterator), current: None };
                let fields = parts.begin()?;
                Batches::new(&fields, schema, PLACE, ignore_extra, parts)
            }
        };
        Ok(Opened::Batches(Box::new(batches.map_err(|error| of_a_frame(&error))?)))
    }
}

impl Opened {
    /// The codes of all rows, in memory or in a spill file; `charge` is called before the rows are looked at.
    pub(crate) fn store(
        self,
        schema: &Schema,
        room: &Room,
        progress: &dyn Progress,
        charge: impl FnOnce() -> Result<()> + Send,
    ) -> Result<Store> {
        match self {
            Opened::File(input) => Store::open_charged(&input, schema, room, progress, charge),
            Opened::Batches(batches) => Store::of_batches_charged(*batches, schema, room, progress, charge),
        }
    }

    /// The codes of all rows in memory, with counts of what the schema changes. For the curator's eyes.
    pub(crate) fn table(self, schema: &Schema, progress: &dyn Progress) -> Result<Table> {
        match self {
            Opened::File(input) => Table::open_checked(&input, schema, progress),
            Opened::Batches(batches) => Table::of_batches_checked(*batches, schema, progress),
        }
    }

    /// The answer of these rows to a pass.
    pub(crate) fn answer(self, schema: &Schema, pass: &Pass, progress: &dyn Progress) -> Result<Tally> {
        match self {
            Opened::File(input) => input.answer(schema, pass, progress),
            Opened::Batches(batches) => batches.answer(schema, pass, progress),
        }
    }

    /// The columns' names and types; nothing for a file, whose header was not read.
    pub(crate) fn layout(&self) -> Option<Layout> {
        match self {
            Opened::File(_) => None,
            Opened::Batches(batches) => Some(batches.layout().clone()),
        }
    }
}

/// The library speaks of files; a frame has no header and no lines.
fn of_a_frame(error: &Error) -> Error {
    if error.to_string().ends_with("the first line names no column of the schema") {
        return Error::new(Kind::Data, "no column has a name of the schema")
            .at(PLACE)
            .hint("the table and the schema must use the same names");
    }
    let sentence = error.to_string().replace("of the file", "of the table").replace("in the file", "in the table");
    let hint = error.advice().unwrap_or_default();
    let hint = hint.replace("from the file", "from the table").replace("to the file", "to the table");
    Error::new(error.kind(), sentence).hint(hint.replace("in the file", "in the table"))
}

fn unreadable() -> Error {
    Error::new(Kind::Data, "a column has an Arrow type that cannot be read")
        .at(PLACE)
        .hint("columns may hold numbers, booleans, dates or text; convert this one or drop it from the table")
}

/// Batches, and the columns that they are said to have.
struct Reader {
    schema: SchemaRef,
    batches: Box<dyn Iterator<Item = Result<RecordBatch>> + Send>,
}

/// The batches of an object that speaks Arrow.
fn reader_of(object: &Bound<'_, PyAny>) -> Result<Reader> {
    let py = object.py();
    if let Ok(rows) = object.cast::<Rows>() {
        let rows = rows.get();
        return Ok(Reader { schema: rows.schema(), batches: Box::new(rows.batches().into_iter().map(Ok)) });
    }
    let raised = |error: PyErr| foreign(py, &error, "the table's own export to Arrow");
    let speaks = |name: &str| object.hasattr(name).map_err(raised);
    if speaks("__arrow_c_stream__")? {
        let stream = import_stream(object).map_err(raised)?.map_err(fault)?;
        return Ok(Reader { schema: stream.schema(), batches: Box::new(stream.map(|batch| batch.map_err(fault))) });
    }
    if speaks("__arrow_c_array__")? {
        let (schema, batch) = import_batch(object).map_err(raised)?.map_err(fault)?;
        return Ok(Reader { schema, batches: Box::new(std::iter::once(Ok(batch))) });
    }
    Err(no_table())
}

/// What is said of an object that speaks Arrow and cannot be read. Its own words are not repeated.
pub(crate) fn fault(fault: Fault) -> Error {
    match fault {
        Fault::Type => unreadable(),
        Fault::Reader => unread(),
        Fault::Broken => broken(),
        Fault::NoTable => no_table(),
    }
}

/// The first column of an object that speaks Arrow, batch by batch.
pub(crate) fn first_columns(
    object: &Bound<'_, PyAny>,
) -> Result<impl Iterator<Item = Result<ArrayRef>> + Send + use<>> {
    let batches = reader_of(object)?.batches;
    Ok(batches.map(|batch| batch?.columns().first().cloned().ok_or_else(no_table)))
}

/// The one column of an object that speaks Arrow, with its type, in one array: the shell has put its chunks together.
pub(crate) fn only_column(object: &Bound<'_, PyAny>) -> Result<(DataType, ArrayRef)> {
    let Reader { schema, mut batches } = reader_of(object)?;
    let [field] = &schema.fields()[..] else { return Err(no_table()) };
    let empty = || new_empty_array(&as_bytes(field.data_type()));
    let array = match batches.next().transpose()? {
        Some(batch) => batch.columns().first().cloned().ok_or_else(no_table)?,
        None => empty(),
    };
    if batches.next().is_some() { Err(no_table()) } else { Ok((field.data_type().clone(), array)) }
}

fn no_table() -> Error {
    Error::new(Kind::Data, "what was handed over is not a table with columns")
        .hint("give a frame of polars, pandas, pyarrow or DuckDB, a numpy array, a file's path, or batches of those")
}

fn unread() -> Error {
    Error::new(Kind::Data, "the table's own reader failed while it was being read")
        .hint("its message is not repeated, for it may quote a value; read the table to its end outside of sunprint")
}

fn broken() -> Error {
    Error::new(
        Kind::Data,
        "an array of the table is not valid Arrow: its offsets, keys or lengths contradict each other",
    )
    .hint("no library should make such a table; make it anew from its source, for instance from the file")
}

/// Batches that an iterator in Python makes, one after the other, on whichever thread wants the next.
struct Parts {
    iterator: Option<Py<PyIterator>>,
    current: Option<Reader>,
}

impl Parts {
    /// Pulls the first part and gives its columns.
    fn begin(&mut self) -> Result<Fields> {
        let first = self.pull()?.ok_or_else(|| {
            Error::new(Kind::Data, "the iterator gives no batch")
                .hint("a generator that was used up gives nothing more")
        })?;
        let fields = first.schema.fields().clone();
        self.current = Some(first);
        Ok(fields)
    }

    fn pull(&mut self) -> Result<Option<Reader>> {
        let Some(iterator) = &self.iterator else { return Ok(None) };
        let pulled = Python::attach(|py| match iterator.bind(py).clone().next() {
            None => Ok(None),
            Some(Err(error)) => Err(foreign(py, &error, "the iterator of batches")),
            Some(Ok(part)) => reader_of(&part).map(Some),
        })?;
        if pulled.is_none() {
            self.iterator = None;
        }
        Ok(pulled)
    }

    fn step(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if let Some(batch) = self.current.as_mut().and_then(|current| current.batches.next()) {
                return batch.map(Some);
            }
            self.current = self.pull()?;
            if self.current.is_none() {
                return Ok(None);
            }
        }
    }
}

impl Iterator for Parts {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Result<RecordBatch>> {
        self.step().transpose()
    }
}
