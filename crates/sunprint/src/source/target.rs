//! Where the bytes of an output go.

use super::atomic::AtomicFile;
use super::place::Output;
use super::words;
use crate::error::{Error, Result};
use std::io::{self, BufWriter, Stdout, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// A file or stdout. It remembers why a write failed, which the formats' own errors may hide.
pub(super) struct Target {
    sink: Sink,
    trouble: Trouble,
}

pub(super) type Buffered = BufWriter<Target>;

type Cause = Arc<Mutex<Option<io::ErrorKind>>>;

/// Why the output could not be written, and where it stands.
#[derive(Clone)]
pub(super) struct Trouble {
    place: String,
    cause: Cause,
}

impl Trouble {
    /// The error for the curator.
    pub(super) fn error(&self) -> Error {
        let kind = self.cause.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or(io::ErrorKind::Other);
        words::unwritable(&self.place, &kind.into())
    }

    fn note<T>(&self, outcome: io::Result<T>) -> io::Result<T> {
        if let Err(fault) = &outcome
            && fault.kind() != io::ErrorKind::Interrupted
        {
            *self.cause.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault.kind());
        }
        outcome
    }
}

enum Sink {
    File(AtomicFile),
    Stdout(Stdout),
}

impl Target {
    /// Begins the output.
    pub(super) fn begin(output: &Output) -> Result<(Buffered, Trouble)> {
        let sink = match output.path() {
            Some(path) => Sink::File(AtomicFile::create(path, output.existing())?),
            None => Sink::Stdout(io::stdout()),
        };
        let trouble = Trouble { place: output.place(), cause: Cause::default() };
        Ok((BufWriter::with_capacity(1 << 18, Target { sink, trouble: trouble.clone() }), trouble))
    }

    /// Puts the output in its place.
    pub(super) fn finish(buffered: Buffered, trouble: &Trouble) -> Result<()> {
        let mut target = buffered.into_inner().map_err(|_| trouble.error())?;
        target.flush().map_err(|_| trouble.error())?;
        match target.sink {
            Sink::File(file) => file.finish(),
            Sink::Stdout(_) => Ok(()),
        }
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let outcome = match &mut self.sink {
            Sink::File(file) => file.write(bytes),
            Sink::Stdout(stdout) => stdout.write(bytes),
        };
        self.trouble.note(outcome)
    }

    fn flush(&mut self) -> io::Result<()> {
        let outcome = match &mut self.sink {
            Sink::File(file) => file.flush(),
            Sink::Stdout(stdout) => stdout.flush(),
        };
        self.trouble.note(outcome)
    }
}
