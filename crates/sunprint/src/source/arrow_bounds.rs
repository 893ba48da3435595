//! Arrow batches that claim to be larger than they can be.
//!
//! The reader believes what stands in front: it takes memory for as many bytes as a block or a compressed buffer claims
//! to have before it looks at the rest, and it counts as many rows as a batch claims where no column holds a byte. A
//! few bytes can claim exabytes, and a program that is refused memory ends on the spot. So the claims of every batch
//! and every dictionary are read first, and what cannot be checked is refused:
//!
//! - a message stands whole in its metadata, every block in the file and every buffer in its body, and together they
//!   are no longer than these;
//! - no compressed buffer becomes more than its format can make of so many bytes at best, nor, where its column has
//!   values of one width, than its rows can need, and all of a batch together no more than the memory that there is;
//! - a row takes at least one bit, but for [`BARE_ROWS`] in all.
//!
//! What was really written as a table is never refused, whatever its values, but for longer ones without any value.

use super::arrow_bytes::{Mark, change, marks};
use super::arrow_needs::needs;
use super::room;
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{CompressionType, Message, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::Fields;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// What stands before the metadata of a message.
const CONTINUATION: [u8; 4] = [0xff; 4];
/// The letters at the end of a file, behind the length of its footer.
const LETTERS: usize = 6;
/// A column without a type has only missing values, and no bytes. Where all columns are such, a file has at most so
/// many rows: they would take time and memory, and no more bytes.
const BARE_ROWS: u64 = 1 << 22;

/// What one buffer says of itself.
struct Claim {
    /// Where it stands in the body, and how long it is there.
    place: u64,
    length: u64,
    /// Its first bytes, as far as they are known: the length that it will have, if it is compressed.
    first: [u8; 8],
    /// The most that this can truly be; `None` for a buffer that is not compressed.
    most: Option<u64>,
}

impl Claim {
    /// The bytes that it will take, if that can be.
    fn unpacked(&self) -> Option<u64> {
        let Some(most) = self.most else { return Some(self.length) };
        match i64::from_le_bytes(self.first) {
            // Not compressed after all.
            -1 => Some(self.length),
            claimed => u64::try_from(claimed).ok().filter(|claimed| *claimed <= most),
        }
    }
}

/// What one message says of its body.
#[derive(Default)]
struct Claims {
    rows: u64,
    buffers: Vec<Claim>,
}

impl Claims {
    /// The claims of a message, whose first bytes are not read yet; nothing if they cannot be true. `fields` are those
    /// of a batch of rows.
    ///
    /// *LZ4*: a byte that lengthens a match adds 255 to it, and nothing makes more of a byte. *Zstandard*: a block has
    /// three bytes in front and at least one inside, and becomes at most 128 KiB: 32,768 for each byte.
    fn of(message: &Message<'_>, body: u64, fields: Option<&Fields>) -> Option<Claims> {
        let (batch, needs) = match message.header_type() {
            MessageHeader::RecordBatch => {
                let batch = message.header_as_record_batch()?;
                (batch, needs(&batch, fields?, message.version())?)
            }
            MessageHeader::DictionaryBatch => (message.header_as_dictionary_batch()?.data()?, Vec::new()),
            // Schemas; the reader refuses all others.
            _ => return Some(Claims::default()),
        };
        let codec = batch.compression().map(|compression| compression.codec());
        let (times, more) = if codec == Some(CompressionType::LZ4_FRAME) { (255, 1 << 16) } else { (1 << 15, 1 << 17) };
        let mut needs = needs.into_iter();
        let mut left = body;
        let mut claim = |buffer: &arrow_ipc::Buffer| {
            let (place, length) = (u64::try_from(buffer.offset()).ok()?, u64::try_from(buffer.length()).ok()?);
            left = left.checked_sub(length)?;
            let need = needs.next().flatten().unwrap_or(u64::MAX);
            let best = length.saturating_mul(times).saturating_add(more);
            let most = (codec.is_some() && length > 0).then_some(best.min(need));
            // The reader looks at eight bytes of whatever is not empty.
            let whole = place.checked_add(length)? <= body && (most.is_none() || length >= 8);
            whole.then_some(Claim { place, length, first: [0; 8], most })
        };
        let buffers = batch.buffers().into_iter().flatten().map(&mut claim).collect::<Option<_>>()?;
        Some(Claims { rows: u64::try_from(batch.length()).ok()?, buffers })
    }
}

/// What all batches of a file may take.
struct Allowance {
    memory: u64,
    bare: u64,
}

impl Allowance {
    fn new() -> Self {
        Allowance { memory: room::memory(), bare: BARE_ROWS }
    }

    /// Whether all claims of a message can be true, and met together.
    fn covers(&mut self, claims: &Claims) -> bool {
        let sizes = claims.buffers.iter().map(Claim::unpacked);
        let Some(bytes) = sizes.into_iter().try_fold(0u64, |sum, size| sum.checked_add(size?)) else { return false };
        let bare = claims.rows.saturating_sub(bytes.saturating_mul(8));
        let covered = bytes <= self.memory && bare <= self.bare;
        self.bare = self.bare.saturating_sub(bare);
        covered
    }
}

/// What stands in the footer of a file.
pub(super) struct Footer {
    /// The columns.
    pub(super) fields: Fields,
    /// The bytes that make texts bytes, by their places in the file.
    pub(super) marks: Vec<Mark>,
}

/// The footer of a file, if every batch of the file is in it and can be unpacked.
pub(super) fn file_fits(file: &mut (impl Read + Seek)) -> io::Result<Option<Footer>> {
    let end = file.seek(SeekFrom::End(0))?;
    let Some(before) = end.checked_sub(4 + LETTERS as u64) else { return Ok(None) };
    file.seek(SeekFrom::Start(before))?;
    let mut length = [0; 4];
    file.read_exact(&mut length)?;
    let length = u64::from(u32::from_le_bytes(length));
    let Some(start) = before.checked_sub(length) else { return Ok(None) };
    let footer = part(file, start, length)?;
    let Ok(footer) = root_as_footer(&footer) else { return Ok(None) };
    let Some(written) = footer.schema() else { return Ok(None) };
    let Ok(schema) = try_fb_to_schema(written) else { return Ok(None) };
    let marks = marks(&written, start);
    let mut allowance = Allowance::new();
    let mut left = end;
    for block in footer.dictionaries().into_iter().chain(footer.recordBatches()).flatten() {
        // The reader takes memory for a whole block, whether or not there is so much.
        let (start, length) = (u64::try_from(block.offset()), u64::try_from(block.metaDataLength()));
        let (Ok(start), Ok(length), Ok(body)) = (start, length, u64::try_from(block.bodyLength())) else {
            return Ok(None);
        };
        let whole = length.saturating_add(body);
        if start.saturating_add(whole) > end || whole > left {
            return Ok(None);
        }
        left -= whole;
        let metadata = part(file, start, length)?;
        let claims = message(&metadata).and_then(|message| Claims::of(&message, body, Some(schema.fields())));
        let Some(mut claims) = claims else { return Ok(None) };
        for claim in claims.buffers.iter_mut().filter(|claim| claim.most.is_some()) {
            claim.first = part(file, start + length + claim.place, 8)?.first_chunk().copied().unwrap_or_default();
        }
        if !allowance.covers(&claims) {
            return Ok(None);
        }
    }
    Ok(Some(Footer { fields: schema.fields, marks }))
}

/// Some bytes of a file, or fewer where it ends.
fn part(file: &mut (impl Read + Seek), start: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A message behind its length, with or without the continuation in front.
fn message(bytes: &[u8]) -> Option<Message<'_>> {
    let rest = bytes.strip_prefix(&CONTINUATION).unwrap_or(bytes);
    root_as_message(rest.get(4..)?).ok()
}

/// A stream of messages that ends with an error before a batch that cannot be unpacked is complete. Texts are passed on as
/// bytes.
pub(super) struct Bounded<R> {
    inner: R,
    /// The beginning of a message, as far as it has not been passed on.
    head: Cursor<Vec<u8>>,
    body: Body,
    /// The columns, with texts as texts.
    fields: Option<Fields>,
    allowance: Allowance,
}

/// How far the body of a message has been passed on, and the claims in it.
#[derive(Default)]
struct Body {
    at: u64,
    length: u64,
    claims: Claims,
}

impl<R: Read> Bounded<R> {
    pub(super) fn new(inner: R) -> Self {
        let (head, body) = (Cursor::default(), Body::default());
        Bounded { inner, head, body, fields: None, allowance: Allowance::new() }
    }

    /// The columns, once their message was read.
    pub(super) fn fields(&self) -> Option<&Fields> {
        self.fields.as_ref()
    }

    /// Reads the beginning of the next message. The end of a stream, and one that was cut off, are passed on.
    fn begin(&mut self) -> io::Result<()> {
        let mut head = Vec::new();
        self.inner.by_ref().take(4).read_to_end(&mut head)?;
        if head == CONTINUATION {
            self.inner.by_ref().take(4).read_to_end(&mut head)?;
        }
        let length = head.last_chunk::<4>().map_or(0, |last| i32::from_le_bytes(*last));
        let length = u64::try_from(length).unwrap_or(0);
        let read = self.inner.by_ref().take(length).read_to_end(&mut head)? as u64;
        self.body = Body::default();
        if length > 0 && read == length {
            self.body = self.check(&mut head).ok_or(io::ErrorKind::InvalidData)?;
        }
        self.head = Cursor::new(head);
        self.complete()
    }

    fn check(&mut self, head: &mut [u8]) -> Option<Body> {
        let message = message(head)?;
        let length = u64::try_from(message.bodyLength()).ok()?;
        let Some(schema) = message.header_as_schema() else {
            return Some(Body { at: 0, length, claims: Claims::of(&message, length, self.fields.as_ref())? });
        };
        self.fields = Some(try_fb_to_schema(schema).ok()?.fields);
        // The message stands at the end of its bytes, behind its length.
        let marks = marks(&schema, (head.len() - schema._tab.buf().len()) as u64);
        change(&marks, 0, head);
        Some(Body { at: 0, length, claims: Claims::default() })
    }

    /// At the end of a body all of its claims are known.
    fn complete(&mut self) -> io::Result<()> {
        let fits = self.body.at < self.body.length || self.allowance.covers(&self.body.claims);
        if fits { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
    }
}

impl Body {
    /// Notes the claims in the next bytes.
    fn pass(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len() as u64;
        for claim in self.claims.buffers.iter_mut().filter(|claim| claim.most.is_some()) {
            for (at, byte) in (claim.place..).zip(&mut claim.first) {
                if (self.at..end).contains(&at) {
                    *byte = bytes[(at - self.at) as usize];
                }
            }
        }
        self.at = end;
    }
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.head.position() == self.head.get_ref().len() as u64 && self.body.at == self.body.length {
            self.begin()?;
        }
        let passed = self.head.read(out)?;
        if passed > 0 || out.is_empty() {
            return Ok(passed);
        }
        let left = usize::try_from(self.body.length - self.body.at).unwrap_or(usize::MAX);
        let most = out.len().min(left);
        let passed = self.inner.read(&mut out[..most])?;
        if passed > 0 {
            self.body.pass(&out[..passed]);
            self.complete()?;
        }
        Ok(passed)
    }
}

#[cfg(test)]
#[path = "arrow_bounds_tests.rs"]
mod tests;
