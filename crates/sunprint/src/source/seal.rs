//! Bytes that only the machines of one fit can read, for engines that keep or carry them elsewhere.
//!
//! A sealed text is a salt of 24 bytes, a number of 8, and the text in blocks of up to 4,032 bytes, each with a tag of 16
//! behind it; a text without bytes has one block without bytes. Numbers are little-endian.
//!
//! * **Keys.** The fit has one secret key of 32 bytes. HMAC-SHA256 makes of it a root for each purpose (rows, tallies), and
//!   of the root the keys of the tags and, with a salt, the key of a stream. Nothing is encrypted under the key itself, so
//!   that neither purpose tells of the other.
//! * **The stream** is ChaCha20: all twenty rounds, for codes are the rows themselves and may lie on a disk for years. A byte
//!   costs 0.2 ns with AVX-512 (`cpu.rs`), and 0.44 ns with AVX2 (`rand_chacha`); both make the same bytes.
//! * **No stream is used twice.** A stream has a key and a number. A salt comes from the operating system for each
//!   [`Sealing`], and a [`Sealing`] counts what it seals; so two texts share a stream only if two salts of 192 bits are
//!   equal, and among 2⁴⁰ of them that has a probability of 2⁻¹¹³. A task that Spark repeats draws another salt.
//! * **Tags.** Each block has NH (as in `tally/fingerprint.rs`, where its proof stands) over the length of the text, the
//!   number of the block and its *sealed* bytes, plus sixteen bytes of the stream that nothing else uses, mod 2¹²⁸. The
//!   proof there fixes the difference of two sums to be any one value, and not only 0; so whoever saw a block with its tag
//!   finds another block with a tag that fits with a probability of 2⁻⁶⁴ for each attempt, also of another length, for the
//!   length is hashed. Blocks do not change places either, since each has its own sixteen bytes.
//!
//! What is whole and was sealed by the fit may still come twice or not at all: whoever counts has to notice.

use crate::cpu::{Level, key_stream};
use crate::error::{Error, Kind, Result};
use crate::wipe::wipe;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// The bytes of the key of a fit.
pub const SEAL_BYTES: usize = 32;

const SALT: usize = 24;
const HEADER: usize = SALT + 8;
const TAG: usize = 16;
/// The stream comes in such parts. The first bytes of each hide the tag.
const PART: usize = 4096;
const APART: usize = 64;
const BLOCK: usize = PART - APART;
/// Two words for the length and the number, and one for each eight bytes of a block.
const WORDS: usize = 2 + BLOCK / 8;

/// What is sealed under a key: one purpose cannot open what was sealed for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Codes of rows.
    Rows,
    /// Tallies and fingerprints.
    Tallies,
}

/// Seals and opens for one purpose of one fit. No `Debug`.
pub struct Seal {
    root: [u8; 32],
    hashing: Vec<u64>,
}

impl Seal {
    /// The key must come from the operating system, for one fit.
    pub fn new(key: &[u8; SEAL_BYTES], purpose: Purpose) -> Seal {
        let word: &[u8] = match purpose {
            Purpose::Rows => b"rows",
            Purpose::Tallies => b"tallies",
        };
        let root = hmac(key, &[b"sunprint seal 1 ", word]);
        let mut random = ChaCha20Rng::from_seed(hmac(&root, &[b"tags"]));
        Seal { root, hashing: (0..WORDS).map(|_| random.next_u64()).collect() }
    }

    /// Begins to seal texts, with a salt of their own.
    pub fn begin(&self) -> Result<Sealing<'_>> {
        let mut salt = [0; SALT];
        getrandom::fill(&mut salt)
            .map_err(|error| Error::new(Kind::Io, format!("the operating system gave no random bytes: {error}")))?;
        Ok(Sealing { stream: self.stream(salt), next: 0 })
    }

    /// Opens texts: those of one salt one after the other are the least work.
    pub fn opening(&self) -> Opening<'_> {
        Opening { seal: self, stream: None }
    }

    /// Seals one text.
    pub fn seal(&self, text: &[u8]) -> Result<Vec<u8>> {
        let mut sealed = Vec::with_capacity(sealed_bytes(text.len()));
        self.begin()?.seal(text, &mut sealed);
        Ok(sealed)
    }

    /// Opens one text; nothing if it was not sealed under this key for this purpose, or was changed.
    pub fn open(&self, sealed: &[u8]) -> Option<Vec<u8>> {
        let mut text = Vec::with_capacity(sealed.len());
        self.opening().open(sealed, &mut text).map(|()| text)
    }

    fn stream(&self, salt: [u8; SALT]) -> Stream<'_> {
        Stream { seal: self, salt, key: hmac(&self.root, &[b"stream", &salt]), part: [0; PART] }
    }
}

impl Drop for Seal {
    fn drop(&mut self) {
        wipe(&mut self.root);
        wipe(&mut self.hashing);
    }
}

/// How long a text becomes.
pub(super) fn sealed_bytes(text: usize) -> usize {
    HEADER + text + TAG * text.div_ceil(BLOCK).max(1)
}

/// Texts that are sealed one after the other.
pub struct Sealing<'a> {
    stream: Stream<'a>,
    next: u64,
}

impl Sealing<'_> {
    /// Appends a text to `sealed`. Room for all of it should be there: a vector that grows leaves behind what it held, and
    /// the last block is in the clear for a moment.
    pub fn seal(&mut self, text: &[u8], sealed: &mut Vec<u8>) {
        let number = self.next;
        self.next += 1;
        sealed.extend(self.stream.salt);
        sealed.extend(number.to_le_bytes());
        sealed.reserve(sealed_bytes(text.len()) - HEADER);
        let mut rest = text;
        for block in 0.. {
            let (some, more) = rest.split_at(rest.len().min(BLOCK));
            self.stream.advance(number, block, some.len());
            let first = sealed.len();
            sealed.extend_from_slice(some);
            self.stream.turn(&mut sealed[first..]);
            let tag = self.stream.tag(text.len(), block, &sealed[first..]);
            sealed.extend(tag);
            rest = more;
            if rest.is_empty() {
                break;
            }
        }
    }
}

/// Sealed texts that are opened.
pub struct Opening<'a> {
    seal: &'a Seal,
    stream: Option<Stream<'a>>,
}

impl Opening<'_> {
    /// Appends what was sealed to `text`; nothing if it was not sealed under this key for this purpose, or was changed. Then
    /// `text` may have grown by some blocks. It never grows by more than the length of `sealed`.
    pub fn open(&mut self, sealed: &[u8], text: &mut Vec<u8>) -> Option<()> {
        let (salt, rest) = sealed.split_first_chunk::<SALT>()?;
        let (number, mut rest) = rest.split_first_chunk::<8>()?;
        let blocks = rest.len().div_ceil(BLOCK + TAG);
        let length = rest.len().checked_sub(blocks.max(1) * TAG)?;
        if self.stream.as_ref().is_none_or(|stream| stream.salt != *salt) {
            self.stream = Some(self.seal.stream(*salt));
        }
        let stream = self.stream.as_mut()?;
        let number = u64::from_le_bytes(*number);
        text.reserve(length);
        for block in 0..blocks as u64 {
            let (some, more) = rest.split_at(rest.len().min(BLOCK + TAG));
            let (some, tag) = some.split_last_chunk::<TAG>()?;
            stream.advance(number, block, some.len());
            if stream.tag(length, block, some) != *tag {
                return None;
            }
            let first = text.len();
            text.extend_from_slice(some);
            stream.turn(&mut text[first..]);
            rest = more;
        }
        Some(())
    }
}

/// The streams of one salt, and the part of one that is in use.
struct Stream<'a> {
    seal: &'a Seal,
    salt: [u8; SALT],
    key: [u8; 32],
    part: [u8; PART],
}

impl Stream<'_> {
    /// Goes to the part of a block, as far as so many bytes need it.
    fn advance(&mut self, number: u64, block: u64, bytes: usize) {
        fill(Level::best(), &self.key, number, block * (PART / 64) as u64, &mut self.part, APART + bytes);
    }

    /// Encrypts a block, or decrypts it.
    fn turn(&self, block: &mut [u8]) {
        block.iter_mut().zip(&self.part[APART..]).for_each(|(byte, key)| *byte ^= key);
    }

    /// The tag of sealed bytes.
    fn tag(&self, length: usize, number: u64, block: &[u8]) -> [u8; TAG] {
        let (first, keys) = self.seal.hashing.split_at(2);
        let product =
            |a: u64, b: u64, keys: &[u64]| u128::from(a.wrapping_add(keys[0])) * u128::from(b.wrapping_add(keys[1]));
        let pair = |bytes: &[u8; 16], keys: &[u64]| {
            let both = u128::from_le_bytes(*bytes);
            product(both as u64, (both >> 64) as u64, keys)
        };
        let (whole, last) = block.as_chunks::<16>();
        let mut sum = product(length as u64, number, first);
        for (bytes, keys) in whole.iter().zip(keys.chunks_exact(2)) {
            sum = sum.wrapping_add(pair(bytes, keys));
        }
        if !last.is_empty() {
            let mut bytes = [0; 16];
            bytes[..last.len()].copy_from_slice(last);
            sum = sum.wrapping_add(pair(&bytes, &keys[2 * whole.len()..]));
        }
        let mut hidden = [0; TAG];
        hidden.copy_from_slice(&self.part[..TAG]);
        sum.wrapping_add(u128::from_le_bytes(hidden)).to_le_bytes()
    }
}

impl Drop for Stream<'_> {
    fn drop(&mut self) {
        wipe(&mut self.key);
        wipe(&mut self.part);
    }
}

/// At least so many bytes of a stream, from one of its blocks of 64 bytes on.
fn fill(level: Level, key: &[u8; 32], number: u64, first: u64, part: &mut [u8; PART], bytes: usize) {
    let (groups, _) = part.as_chunks_mut::<64>().0.as_chunks_mut::<16>();
    if !key_stream(level, key, number, first, &mut groups[..bytes.div_ceil(1024)]) {
        let mut cipher = ChaCha20Rng::from_seed(*key);
        cipher.set_stream(number);
        cipher.set_word_pos(16 * u128::from(first));
        // In whole buffers of the cipher.
        cipher.fill_bytes(&mut part[..bytes.next_multiple_of(256)]);
    }
}

/// HMAC-SHA256 (RFC 2104) of some parts, one after the other.
fn hmac(key: &[u8; 32], parts: &[&[u8]]) -> [u8; 32] {
    let keyed = |pad: u8| {
        let mut block = [pad; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        Sha256::new().chain_update(block)
    };
    let inner = parts.iter().fold(keyed(0x36), |hash, part| hash.chain_update(part)).finalize();
    keyed(0x5c).chain_update(inner).finalize().into()
}

#[cfg(test)]
#[path = "seal_tests.rs"]
mod tests;
