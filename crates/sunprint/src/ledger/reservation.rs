//! A charge in the ledger of a fit that runs.

use super::{Entry, Ledger, Request};
use crate::error::Result;

/// A reserved charge together with its ledger, handed along with the fit that spends it.
///
/// It is not given back when it is dropped: whoever does not know whether the table was opened must not withdraw.
pub struct Reservation {
    ledger: Ledger,
    entry: Entry,
}

impl Reservation {
    /// Reserves. To be done before a row is read, and best after everything else was judged.
    ///
    /// # Errors
    /// As [`Ledger::reserve`].
    pub fn make(mut ledger: Ledger, request: &Request) -> Result<Reservation> {
        let entry = ledger.reserve(request)?;
        Ok(Reservation { ledger, entry })
    }

    /// What a receipt says of it.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// To be called before the first row is read; what fails here fails before that.
    pub fn opened(&mut self) -> Result<()> {
        self.ledger.opened(&self.entry)
    }

    /// To be called before the first noise is drawn; what fails here fails before that.
    pub fn spend(&mut self) -> Result<()> {
        self.ledger.spend(&self.entry)
    }

    /// Gives the charge back, if no row was read.
    pub fn withdraw(mut self) -> Result<()> {
        self.ledger.withdraw(&self.entry)
    }
}
