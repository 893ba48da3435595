//! The protocol: passes go out, tallies come back. Whoever can tally the parts of a table and merge can run a fit.

use crate::errors::{contained, raise, returned};
use crate::model::Model;
use crate::options::{Charge, Options, Prepared};
use crate::schema::Schema;
use crate::tables::Handed;
use crate::watch;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use sunprint::error::{Error, Kind, Result};
use sunprint::ledger::{Entry, Ledger};
use sunprint::source::Layout;
use sunprint::{fit, tally};

/// What to tally: public, and may be sent anywhere. It carries the schema, so that a worker needs nothing else.
#[pyclass(frozen, module = "sunprint")]
pub(crate) struct Pass {
    pub(crate) inner: Arc<Described>,
}

/// A pass with the schema by which values become codes.
pub(crate) struct Described {
    pub(crate) pass: tally::Pass,
    pub(crate) schema: sunprint::schema::Schema,
}

#[pymethods]
impl Pass {
    #[staticmethod]
    fn from_text(py: Python<'_>, pass_: &str, schema: &str) -> PyResult<Pass> {
        let read = || -> Result<Pass> {
            let (pass, schema) = (tally::Pass::from_json(pass_)?, sunprint::schema::Schema::parse(schema, "the pass")?);
            let shape = (pass.width, pass.strata) == (schema.width(), schema.strata());
            if !shape || pass.schema != fit::digest_of(&schema) {
                return Err(Error::new(Kind::Protocol, "the pass and its schema do not belong together"));
            }
            Ok(Pass { inner: Arc::new(Described { pass, schema }) })
        };
        contained(py, read)
    }

    fn texts(&self) -> (String, String) {
        (self.inner.pass.to_json(), self.inner.schema.to_toml())
    }

    #[getter]
    fn number(&self) -> u32 {
        self.inner.pass.number
    }

    /// The schema by which values become codes.
    #[getter]
    fn schema(&self) -> Schema {
        Schema { inner: self.inner.schema.clone() }
    }

    /// Tallies one part of the table.
    #[pyo3(signature = (part, format=None, ignore_extra=false, progress=None))]
    fn tally(
        &self,
        py: Python<'_>,
        part: &Bound<'_, PyAny>,
        format: Option<&str>,
        ignore_extra: bool,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Tally> {
        let handed = Handed::of(part, format, ignore_extra)?;
        let Described { pass, schema } = &*self.inner;
        let tally = watch::run(py, progress, |watch| handed.open(schema, ignore_extra)?.answer(schema, pass, watch))?;
        Ok(Tally { of: Arc::clone(&self.inner), inner: tally })
    }

    fn __repr__(&self) -> String {
        let pass = &self.inner.pass;
        format!("<sunprint.Pass {}: {} coordinates, {} strata>", pass.number, pass.width, pass.strata)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String, String))> {
        // A function of the shell: what is pickled names it, and any worker has it.
        Ok((py.import("sunprint._protocol")?.getattr("_pass_of")?, self.texts()))
    }
}

/// A function of the shell, and what it makes a tally of again.
type Pickled<'py> = (Bound<'py, PyAny>, (Bound<'py, PyBytes>, Pass));

/// The answer of some rows to a pass. **Secret**: exact numbers of private rows, which must stay on machines that may see
/// the rows themselves.
#[pyclass(frozen, module = "sunprint")]
pub(crate) struct Tally {
    pub(crate) of: Arc<Described>,
    pub(crate) inner: tally::Tally,
}

impl Tally {
    fn copy(&self) -> Result<tally::Tally> {
        tally::Tally::from_secret_bytes(&self.inner.to_secret_bytes(), &self.of.pass)
    }
}

#[pymethods]
impl Tally {
    #[staticmethod]
    fn from_secret_bytes(py: Python<'_>, bytes: &[u8], of: &Bound<'_, Pass>) -> PyResult<Tally> {
        let of = Arc::clone(&of.get().inner);
        let inner = contained(py, || tally::Tally::from_secret_bytes(bytes, &of.pass))?;
        Ok(Tally { of, inner })
    }

    fn to_secret_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.to_secret_bytes())
    }

    #[getter]
    fn rows(&self) -> u64 {
        self.inner.rows()
    }

    #[getter]
    fn number(&self) -> u32 {
        self.of.pass.number
    }

    /// The sum of some tallies of one pass, in any order.
    #[staticmethod]
    fn merged(py: Python<'_>, tallies: Vec<Bound<'_, Tally>>) -> PyResult<Tally> {
        let Some((first, rest)) = tallies.split_first() else {
            let error = Error::new(Kind::Protocol, "there is no tally to merge").hint("a table has at least one part");
            return Err(raise(py, &error));
        };
        let first = first.get();
        let whole = contained(py, || {
            let mut whole = first.copy()?;
            rest.iter().try_for_each(|tally| whole.merge(tally.get().copy()?))?;
            Ok(whole)
        })?;
        Ok(Tally { of: Arc::clone(&first.of), inner: whole })
    }

    fn __add__(&self, py: Python<'_>, other: &Bound<'_, Tally>) -> PyResult<Tally> {
        let whole = contained(py, || {
            let mut whole = self.copy()?;
            whole.merge(other.get().copy()?)?;
            Ok(whole)
        })?;
        Ok(Tally { of: Arc::clone(&self.of), inner: whole })
    }

    /// `sum` begins with 0, the tally of nothing.
    fn __radd__(&self, py: Python<'_>, other: u8) -> PyResult<Tally> {
        if other != 0 {
            return Err(PyTypeError::new_err("a tally is added to tallies alone"));
        }
        Ok(Tally { of: Arc::clone(&self.of), inner: contained(py, || self.copy())? })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let of = Pass { inner: Arc::clone(&self.of) };
        Ok((py.import("sunprint._protocol")?.getattr("_tally_of")?, (self.to_secret_bytes(py), of)))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Tally>().is_ok_and(|other| other.get().inner == self.inner)
    }

    fn __repr__(&self) -> String {
        format!("<sunprint.Tally of pass {}: {} rows; secret>", self.of.pass.number, self.inner.rows())
    }
}

/// A fit in progress.
#[pyclass(frozen, module = "sunprint._native")]
pub(crate) struct Fit {
    schema: sunprint::schema::Schema,
    layout: Option<Layout>,
    state: Mutex<State>,
}

enum State {
    /// Nothing is reserved yet.
    Fresh(Box<(fit::Fit, Charge)>),
    /// The charge stands in the ledger, if there is one.
    Running(Box<fit::Fit>, Paid),
    /// Finished, or broken.
    Over,
}

/// How the charge of a running fit stands.
enum Paid {
    /// No ledger hears of it.
    Nowhere,
    /// Reserved, and marked as spent with the first tally. The file is opened again for that: the process may fork before,
    /// and a connection of SQLite must not be used on the other side.
    Reserved(PathBuf, Entry),
    /// Spent, by the process with this number.
    Spent(u32),
}

impl Paid {
    /// Reserves a charge, and says that the rows are about to be read, so that nothing gives it back.
    fn reserved(charge: &Charge) -> Result<Paid> {
        let (Some(mut reservation), Some(path)) = (charge.reserve()?, &charge.ledger) else { return Ok(Paid::Nowhere) };
        reservation.opened()?;
        Ok(Paid::Reserved(path.clone(), reservation.entry().clone()))
    }

    /// Marks a reserved charge as spent. One entry pays for one release: of several processes that forked from one another
    /// the ledger lets one spend it, and later passes are for that one too.
    fn spend(&mut self) -> Result<()> {
        let here = std::process::id();
        match self {
            Paid::Nowhere => Ok(()),
            Paid::Reserved(path, entry) => {
                Ledger::open_existing(path)?.spend(entry)?;
                *self = Paid::Spent(here);
                Ok(())
            }
            Paid::Spent(process) if *process == here => Ok(()),
            Paid::Spent(_) => Err(Error::new(Kind::Protocol, "the charge of this fit was spent in another process")
                .hint("a fit that is copied by a fork goes on in one process alone; begin another one in each")),
        }
    }
}

#[pymethods]
impl Fit {
    #[new]
    #[pyo3(signature = (schema, options, rows, like=None))]
    fn new(
        py: Python<'_>,
        schema: &Bound<'_, Schema>,
        options: &str,
        rows: u64,
        like: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Fit> {
        let schema = schema.get().inner.clone();
        let options = returned(py, Options::read(options))?;
        let handed = like.map(|like| Handed::of(like, None, options.ignore_extra)).transpose()?;
        let begin = || -> Result<Fit> {
            let Prepared { plan, budget, charge } = options.prepare(&schema)?;
            let opened = handed.map(|handed| handed.open(&schema, options.ignore_extra)).transpose()?;
            let layout = opened.and_then(|opened| opened.layout());
            let begun = fit::Fit::begin(&schema, plan, budget, rows)?;
            Ok(Fit { schema, layout, state: Mutex::new(State::Fresh(Box::new((begun, charge)))) })
        };
        contained(py, begin)
    }

    /// The next pass, or nothing when the fit is complete. The first one reserves the charge: from here on it counts.
    fn next_pass(&self, py: Python<'_>) -> PyResult<Option<Pass>> {
        let next = || -> Result<Option<Pass>> {
            let mut state = self.state();
            if matches!(&*state, State::Fresh(_))
                && let State::Fresh(fresh) = std::mem::replace(&mut *state, State::Over)
            {
                let (fit, charge) = *fresh;
                // The parts are about to be read, wherever they are.
                match Paid::reserved(&charge) {
                    Ok(paid) => {
                        let fit = match &paid {
                            Paid::Reserved(_, entry) => fit.recorded(entry.clone()),
                            _ => fit,
                        };
                        *state = State::Running(Box::new(fit), paid);
                    }
                    Err(error) => {
                        // Nothing was measured: whoever mends the ledger may ask again.
                        *state = State::Fresh(Box::new((fit, charge)));
                        return Err(error);
                    }
                }
            }
            let State::Running(fit, _) = &*state else { return Err(over()) };
            let described = |pass| Pass { inner: Arc::new(Described { pass, schema: self.schema.clone() }) };
            Ok(fit.next_pass().map(described))
        };
        contained(py, next)
    }

    /// Takes the tally of the whole table and adds the noise.
    #[pyo3(signature = (tally, progress=None))]
    fn absorb(&self, py: Python<'_>, tally: &Bound<'_, Tally>, progress: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let tally = contained(py, || tally.get().copy())?;
        watch::run(py, progress, |_| {
            let mut state = self.state();
            let State::Running(fit, paid) = &mut *state else { return Err(over()) };
            // What does not belong here is refused before anything is spent, in the ledger too.
            fit.admits(&tally)?;
            // Noise is drawn where a tally is absorbed, and nowhere else: this is the last moment before the first.
            if let Err(error) = paid.spend() {
                *state = State::Over;
                return Err(error);
            }
            fit.absorb(tally)
        })
    }

    /// The finished model.
    fn finish(&self, py: Python<'_>) -> PyResult<Model> {
        contained(py, || {
            let mut state = self.state();
            match std::mem::replace(&mut *state, State::Over) {
                State::Running(fit, _) if fit.next_pass().is_none() => {
                    let model = fit.finish()?;
                    Ok(Model { inner: self.layout.clone().map_or(model.clone(), |layout| model.with_layout(layout)) })
                }
                State::Over => Err(over()),
                unfinished => {
                    *state = unfinished;
                    Err(Error::new(Kind::Protocol, "the fit is not complete: passes are left")
                        .hint("absorb a tally for every pass that `next_pass` gives"))
                }
            }
        })
    }

    #[getter]
    fn receipt_text(&self) -> PyResult<String> {
        match &*self.state() {
            State::Fresh(fresh) => Ok(fresh.0.receipt().to_string()),
            State::Running(fit, _) => Ok(fit.receipt().to_string()),
            State::Over => Err(PyTypeError::new_err("the fit is over; its model has the receipt")),
        }
    }
}

impl Fit {
    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn over() -> Error {
    Error::new(Kind::Protocol, "this fit is over").hint("begin another one; its charge is a new one")
}
