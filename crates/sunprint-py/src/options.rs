//! The parameters of a fit, checked as the command line checks its options.

use std::path::{Path, PathBuf};
use sunprint::error::{Error, Kind, Result};
use sunprint::ledger::{Ledger, Request, Reservation};
use sunprint::math::transport::Metric;
use sunprint::plan::{self, Mechanism, Method, Plan};
use sunprint::privacy::{Budget, Delta, Epsilon};
use sunprint::schema::Schema;

/// What a fit should do, as the shell hands it over.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Options {
    /// Exact decimals, as text.
    pub(crate) epsilon: String,
    pub(crate) delta: Option<String>,
    method: String,
    dimension: Option<usize>,
    texture: bool,
    mechanism: String,
    metric: Option<String>,
    cell: Option<f64>,
    public_basis: Option<Vec<Vec<f64>>>,
    /// A file, `none`, or nothing for the usual place.
    ledger: Option<PathBuf>,
    pub(crate) memory: Option<u64>,
    pub(crate) spill_dir: Option<PathBuf>,
    pub(crate) ignore_extra: bool,
}

/// A promise and the way to keep it.
pub(crate) struct Prepared {
    pub(crate) plan: Plan,
    pub(crate) budget: Budget,
    pub(crate) charge: Charge,
}

/// What goes into which ledger.
pub(crate) struct Charge {
    pub(crate) ledger: Option<PathBuf>,
    request: Request,
}

impl Charge {
    /// Reserves it: from here on it counts.
    pub(crate) fn reserve(&self) -> Result<Option<Reservation>> {
        let Some(path) = &self.ledger else { return Ok(None) };
        Reservation::make(Ledger::open(path)?, &self.request).map(Some)
    }
}

impl Options {
    pub(crate) fn read(text: &str) -> Result<Options> {
        serde_json::from_str(text).map_err(|_| Error::new(Kind::Usage, "a parameter has a value of another type"))
    }

    /// Checks everything that can be checked without a table.
    pub(crate) fn prepare(&self, schema: &Schema) -> Result<Prepared> {
        schema.check_named()?;
        let epsilon: Epsilon = self.epsilon.parse()?;
        let delta = self.delta.as_deref().map(str::parse::<Delta>).transpose()?;
        let budget = plan::budget(epsilon, delta)?;
        let plan = self.plan()?;
        sunprint::fit::check(&plan, schema)?;
        let request = Request::new(schema, plan.method.name(), &budget);
        Ok(Prepared { plan, budget, charge: Charge { ledger: ledger(self.ledger.as_deref())?, request } })
    }

    fn plan(&self) -> Result<Plan> {
        let method = [Method::Default, Method::Paper, Method::Cube, Method::Gaussian];
        let method = named("method", &self.method, method.map(|method| (method.name(), method)))?;
        let mechanism = Mechanism::ALL.map(|mechanism| (mechanism.name(), mechanism));
        let mechanism = named("mechanism", &self.mechanism, mechanism)?;
        if self.metric.is_some() && mechanism != Mechanism::Psmm {
            return Err(Error::new(Kind::Usage, "`--metric` works with `--mechanism psmm` only")
                .hint("give `--mechanism psmm` too, or leave `--metric` out"));
        }
        let metric = self.metric.as_deref().map_or(Ok(Metric::Euclidean), metric)?;
        let (dimension, texture, cell, public_basis) =
            (self.dimension, self.texture, self.cell, self.public_basis.clone());
        Ok(Plan { method, dimension, texture, mechanism, metric, cell, public_basis, ..Plan::default() })
    }
}

/// The metric of a name.
pub(crate) fn metric(name: &str) -> Result<Metric> {
    let all = Metric::ALL;
    named("metric", name, all.map(|metric| (metric.name(), metric)))
}

fn named<T: Copy, const N: usize>(what: &str, word: &str, all: [(&str, T); N]) -> Result<T> {
    all.iter().find(|(name, _)| *name == word).map(|(_, value)| *value).ok_or_else(|| {
        let words = all.map(|(name, _)| format!("`{name}`")).join(", ");
        Error::new(Kind::Usage, format!("`{what}` is one of {words}; `{word}` was given"))
    })
}

/// The ledger that is meant; nothing for `none`, also in SUNPRINT_LEDGER, and the receipt says so.
pub(crate) fn ledger(named: Option<&Path>) -> Result<Option<PathBuf>> {
    match named.map(Path::to_path_buf).or_else(Ledger::default_place) {
        Some(path) if path == Path::new("none") => Ok(None),
        Some(path) if path.as_os_str().is_empty() => {
            Err(Error::new(Kind::Usage, "`ledger` is empty").hint("name a file, or `none`"))
        }
        Some(path) => Ok(Some(path)),
        None => Err(Error::new(Kind::Usage, "there is no data directory to keep the ledger in")
            .hint("name a file with `ledger` or SUNPRINT_LEDGER, or keep no ledger with `ledger=\"none\"`")),
    }
}
