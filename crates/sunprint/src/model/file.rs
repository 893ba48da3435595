//! The model file: one open JSON document with a version.

use super::{Evidence, Frame, Generation, Model, Release};
use crate::error::{Error, Kind, Result};
use crate::receipt::Receipt;
use crate::schema::Schema;
use crate::source::Layout;
use crate::tally::MOST_ROWS;
use serde::{Deserialize, Serialize};

/// The version of the file's form. A reader refuses a larger one.
pub const FORMAT: u64 = 8;

/// No model is longer. Reading one takes up to ten times its length in memory.
pub const MOST_BYTES: u64 = 1 << 30;

#[derive(Serialize, Deserialize)]
struct Document {
    sunprint_model: u64,
    receipt: Receipt,
    schema: Schema,
    layout: Option<Layout>,
    release: Release,
    #[serde(default, skip_serializing_if = "Evidence::is_empty")]
    evidence: Evidence,
}

#[derive(Deserialize)]
struct Head {
    sunprint_model: u64,
}

impl Model {
    /// The file's text.
    pub fn to_json(&self) -> String {
        let document = Document {
            sunprint_model: FORMAT,
            receipt: self.receipt.clone(),
            schema: self.schema.clone(),
            layout: self.layout.clone(),
            release: self.release.clone(),
            evidence: self.evidence.clone(),
        };
        // Maps have text keys and floats are finite by construction, so this cannot fail.
        let mut text = serde_json::to_string(&document).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Reads a model, refusing damage and newer versions with a sentence. `place` names the file.
    pub fn from_json(bytes: &[u8], place: &str) -> Result<Model> {
        let refuse = |rule: String| {
            Error::new(Kind::Model, rule).at(place).hint("write it anew with `sunprint fit`, or copy it again")
        };
        let unread = |fault: serde_json::Error| {
            refuse("this is not a whole Sunprint model".to_string()).at(format!(
                "{place}:{}:{}",
                fault.line(),
                fault.column()
            ))
        };
        if bytes.is_empty() {
            return Err(refuse("the model is empty".to_string()));
        }
        if bytes.len() as u64 > MOST_BYTES {
            return Err(refuse("the file is too large for a model".to_string()));
        }
        let head: Head = serde_json::from_slice(bytes).map_err(unread)?;
        if head.sunprint_model > FORMAT {
            return Err(Error::new(
                Kind::Model,
                format!("the model has format {}, this Sunprint reads up to {FORMAT}", head.sunprint_model),
            )
            .at(place)
            .hint("install a newer Sunprint"));
        }
        let document: Document = serde_json::from_slice(bytes).map_err(unread)?;
        let Document { receipt, schema, layout, release, evidence, .. } = document;
        // As many rows are drawn as were measured, unless somebody asks for another number.
        if receipt.rows.is_some_and(|rows| rows > MOST_ROWS) {
            return Err(refuse("this is not a whole Sunprint model: no table has so many rows".to_string()));
        }
        receipt
            .check()
            .and_then(|()| check(&release, &schema, layout.as_ref()))
            .and_then(|()| if evidence.fits(&schema) { Ok(()) } else { Err("its evidence does not fit its schema") })
            .map_err(|what| refuse(format!("this is not a whole Sunprint model: {what}")))?;
        Ok(Model { schema, layout, receipt, release, evidence })
    }
}

/// No model has more generations of candidates before the last.
const MOST_ANCESTORS: usize = 16;
/// No model has more candidates.
const MOST_CANDIDATES: usize = 1 << 24;

/// No released length comes near it: the cube has diameter √d, and noise adds at most some millions to that. Products
/// of two such numbers, and sums of thousands of those, are finite, so whatever is drawn is a number.
const LONGEST: f64 = 1e30;

/// Lengths agree, indices are in range, numbers are finite: what drawing relies on.
fn check(release: &Release, schema: &Schema, layout: Option<&Layout>) -> std::result::Result<(), &'static str> {
    schema.validate().map_err(|_| "its schema contradicts itself")?;
    let d = schema.width();
    // Not a number is not within.
    let within = |x: f64| x.abs() <= LONGEST;
    let row = |v: &Vec<f64>| v.len() == d && v.iter().all(|&x| within(x));
    let sides = match &release.frame {
        Frame::Basis { origin, vectors, sides } => {
            let fits = row(origin) && vectors.iter().all(row) && vectors.len() == sides.len();
            let finite = sides.iter().all(|side| within(side.low) && within(side.width) && side.width > 0.0);
            if !fits || !finite {
                return Err("its frame does not fit its schema");
            }
            sides.len()
        }
        Frame::Columns { width } => {
            if *width != d {
                return Err("its frame does not fit its schema");
            }
            d
        }
    };
    let blocks = schema.blocks();
    let halves = |at: usize| blocks.iter().any(|block| block.start == at && schema.indicates(block));
    if !release.settle.one_of.iter().flat_map(|one_of| &one_of.at).all(|&at| halves(at)) {
        return Err("its values do not fit its schema");
    }
    let strata = schema.strata();
    release.measure.check(strata, sides)?;
    let texture = &release.texture;
    let diagonal = texture.diagonal.is_empty() || row(&texture.diagonal);
    let shifts = texture.shifts.is_empty() || texture.shifts.len() == strata && texture.shifts.iter().all(row);
    let pulls = texture.pulls.iter().all(|pull| row(&pull.across) && row(&pull.along));
    let root = |(i, l): (usize, &Vec<f64>)| l.len() == i + 1 && l.iter().all(|&x| within(x));
    let gains = texture.gains.is_empty()
        || texture.gains.len() == sides
            && texture.root.len() == sides
            && texture.root.iter().enumerate().all(root)
            && texture.gains.iter().all(row)
            && texture.shifts.len() == strata;
    if !diagonal || !shifts || !pulls || !gains || !texture.directions.iter().all(row) {
        return Err("its texture does not fit its schema");
    }
    if !release.settle.fits(d, strata) || !release.sieves.iter().all(|sieve| sieve.fits(d, strata)) {
        return Err("its values do not fit its schema");
    }
    let ancestors = &release.ancestors;
    let generation =
        |g: &Generation| (1..=MOST_CANDIDATES).contains(&g.weights.len()) && (0.0..=1.0).contains(&g.fresh);
    let fits = ancestors.len() <= MOST_ANCESTORS && ancestors.iter().all(generation);
    if release.weights.len() > MOST_CANDIDATES || !fits || !ancestors.is_empty() && release.weights.is_empty() {
        return Err("its candidates are too many or do not fit one another");
    }
    if layout.is_some_and(|layout| layout.match_schema(schema, "").is_err()) {
        return Err("its layout does not fit its schema");
    }
    Ok(())
}
