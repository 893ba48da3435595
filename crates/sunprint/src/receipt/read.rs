//! Receipts that come back from outside are believed in nothing.

use super::{FORMAT, Receipt};
use crate::error::{Error, Kind, Result};
use serde::Deserialize;

/// No text of a receipt is longer, in bytes.
const LONGEST_TEXT: usize = 1 << 16;
/// No list of a receipt is longer.
const LONGEST_LIST: usize = 4_096;

/// A model, of which the receipt alone is wanted.
#[derive(Deserialize)]
struct Holder {
    receipt: Receipt,
}

/// What both begin with.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    format: Option<u64>,
    #[serde(default)]
    sunprint_model: Option<u64>,
}

impl Receipt {
    /// A file with a receipt, or with a model that holds one, may have so many bytes.
    pub const MOST_BYTES: usize = 1 << 28;

    /// Reads a receipt in JSON, or the one that a model holds. `place` names the file.
    ///
    /// # Errors
    /// [`Kind::Model`] for anything that is not a receipt of this version or an earlier one.
    pub fn from_json(bytes: &[u8], place: &str) -> Result<Receipt> {
        let refuse = |rule: String, hint: &str| Error::new(Kind::Model, rule).at(place).hint(hint);
        if bytes.len() > Receipt::MOST_BYTES {
            let rule = format!("the file is larger than {} MiB", Receipt::MOST_BYTES >> 20);
            return Err(refuse(rule, "a receipt has a few kilobytes; give that instead of the model"));
        }
        let neither = |_: serde_json::Error| {
            refuse(
                "this is neither a receipt in JSON nor a model".to_string(),
                "`--receipt FILE.json` of a fit writes one, and every model holds one",
            )
        };
        let head: Head = serde_json::from_slice(bytes).map_err(neither)?;
        if let Some(format) = head.format.filter(|&format| format > FORMAT) {
            let rule = format!("the receipt has format {format}, this Sunprint reads up to {FORMAT}");
            return Err(refuse(rule, "install a newer Sunprint"));
        }
        let receipt = if head.sunprint_model.is_some() {
            serde_json::from_slice::<Holder>(bytes).map_err(neither)?.receipt
        } else {
            serde_json::from_slice(bytes).map_err(neither)?
        };
        let fault = |what| refuse(format!("this is not a whole receipt: {what}"), "ask for the receipt again");
        receipt.check().map_err(fault).map(|()| receipt)
    }

    /// Texts and lists have an end, shares are parts of a whole, and a hash is a hash.
    pub(crate) fn check(&self) -> std::result::Result<(), &'static str> {
        if !(1..=FORMAT).contains(&self.format) {
            return Err("its format is not known");
        }
        if [self.stages.len(), self.spent.len(), self.remarks.len()].iter().any(|&length| length > LONGEST_LIST) {
            return Err("one of its lists is too long");
        }
        let texts = [&self.version, &self.dataset, &self.unit].into_iter().chain(&self.cells).chain(&self.remarks);
        let texts = texts.chain(self.stages.iter().flat_map(|stage| [&stage.name, &stage.mechanism]));
        let spent = |spent: &'_ crate::privacy::Spent| {
            [&spent.stage, &spent.mechanism, &spent.sensitivity, &spent.noise].map(String::len)
        };
        let lengths = texts.map(String::len).chain(self.spent.iter().flat_map(spent));
        if lengths.max().is_some_and(|length| length > LONGEST_TEXT) {
            return Err("one of its texts is too long");
        }
        if self.stages.iter().any(|stage| stage.of == 0 || stage.share > stage.of) {
            return Err("a share is more than the whole");
        }
        let hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if self.ledger.as_ref().is_some_and(|entry| entry.number == 0 || !hash(&entry.hash)) {
            return Err("its ledger entry is none");
        }
        Ok(())
    }
}
