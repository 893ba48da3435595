//! Python objects, one by one: numbers, truth values, moments and text as what they are, and everything else as a value
//! that cannot be read.
//!
//! A column of objects holds whatever somebody put there, and one object must not decide the fate of a fit. The common
//! ones are told apart here; about others the shell is asked, see `python/sunprint/_cells.py`, and if it raises, then
//! the object cannot be read.

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, TimestampSecondArray, UnionArray};
use arrow_schema::{Field, UnionFields};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyString, PyTuple};
use std::sync::Arc;

/// Bytes that are no text.
const UNREADABLE: &[u8] = b"\xff";

const TRUTH: i8 = 0;
const WHOLE: i8 = 1;
const REAL: i8 = 2;
const MOMENT: i8 = 3;
const TEXT: i8 = 4;

/// Values that were told apart: of which kind each is, and its place among those of that kind.
#[derive(Default)]
struct Cells {
    kinds: Vec<i8>,
    places: Vec<i32>,
    truths: Vec<bool>,
    wholes: Vec<i64>,
    reals: Vec<f64>,
    moments: Vec<i64>,
    texts: LargeBinaryBuilder,
    /// How many texts there are, with those that are missing.
    text_count: usize,
}

/// A list of objects as an array of bytes, where all of them are text or missing, or of values each with a type of its own.
pub(crate) fn import(objects: &Bound<'_, PyList>) -> PyResult<ArrayRef> {
    let mut cells = Cells::default();
    let mut plain = None;
    for object in objects.iter() {
        if cells.take(&object) {
            continue;
        }
        if plain.is_none() {
            plain = Some(objects.py().import("sunprint._cells")?.getattr("plain")?);
        }
        // Whatever it raises is the fault of a value.
        let told = plain.as_ref().and_then(|plain| plain.call1((&object,)).ok());
        if !told.is_some_and(|told| cells.take_told(&told)) {
            cells.text(Some(UNREADABLE));
        }
    }
    cells.finish()
}

impl Cells {
    /// Takes an object of the common kinds; false for all others. No method of the object is called.
    fn take(&mut self, object: &Bound<'_, PyAny>) -> bool {
        if let Ok(text) = object.cast::<PyString>() {
            // Half a character becomes U+FFFD, as it does in files.
            self.text(Some(text.to_string_lossy().as_bytes()));
        } else if object.is_none() {
            self.text(None);
        } else if let Ok(truth) = object.cast::<PyBool>() {
            self.truths.push(truth.is_true());
            self.note(TRUTH, self.truths.len());
        } else if object.is_instance_of::<PyInt>() {
            let Ok(whole) = object.extract::<i64>() else { return false };
            self.wholes.push(whole);
            self.note(WHOLE, self.wholes.len());
        } else if let Ok(real) = object.cast::<PyFloat>() {
            let real = real.value();
            if real.is_nan() {
                self.text(None);
            } else {
                self.reals.push(real);
                self.note(REAL, self.reals.len());
            }
        } else {
            return false;
        }
        true
    }

    /// Takes what the shell made of an object: one of the common kinds, or a moment in a tuple of its own.
    fn take_told(&mut self, told: &Bound<'_, PyAny>) -> bool {
        if let Ok((moment,)) = told.cast::<PyTuple>().map_err(PyErr::from).and_then(|told| told.extract::<(i64,)>()) {
            self.moments.push(moment);
            self.note(MOMENT, self.moments.len());
            return true;
        }
        self.take(told)
    }

    fn text(&mut self, text: Option<&[u8]>) {
        self.texts.append_option(text);
        self.text_count += 1;
        self.note(TEXT, self.text_count);
    }

    fn note(&mut self, kind: i8, count: usize) {
        self.kinds.push(kind);
        self.places.push(i32::try_from(count - 1).unwrap_or(i32::MAX));
    }

    fn finish(mut self) -> PyResult<ArrayRef> {
        let texts = Arc::new(self.texts.finish());
        if self.kinds.iter().all(|kind| *kind == TEXT) {
            return Ok(texts);
        }
        let children: Vec<ArrayRef> = vec![
            Arc::new(BooleanArray::from(self.truths)),
            Arc::new(Int64Array::from(self.wholes)),
            Arc::new(Float64Array::from(self.reals)),
            Arc::new(TimestampSecondArray::from(self.moments)),
            texts,
        ];
        let field = |(name, array): (&str, &ArrayRef)| Field::new(name, array.data_type().clone(), true);
        let names = ["truth", "whole", "real", "moment", "text"];
        let fields = UnionFields::try_new(TRUTH..=TEXT, names.into_iter().zip(&children).map(field));
        let made = fields
            .and_then(|fields| UnionArray::try_new(fields, self.kinds.into(), Some(self.places.into()), children));
        // A list of more than two thousand million objects is cut into slices before it comes here.
        made.map(|array| Arc::new(array) as ArrayRef).map_err(|_| PyTypeError::new_err("a list of too many objects"))
    }
}
