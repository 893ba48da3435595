//! The wire form of a tally: a magic word, a version, a kind, the number of the pass, the rows, the name of the fit, the
//! digest of the pass, little-endian integers with their lengths, a checksum.

const MAGIC: &[u8; 4] = b"SPT\0";

/// FNV-1a. Each step is a bijection of the state for a given byte, so one changed byte always changes the sum. Against
/// accidents, not against forgers: whoever may see the rows may also make them up.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub(super) fn new(version: u32, kind: u8) -> Self {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(version.to_le_bytes());
        bytes.push(kind);
        Writer(bytes)
    }

    pub(super) fn u64(&mut self, value: u64) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    pub(super) fn i128(&mut self, value: i128) {
        self.0.extend(value.to_le_bytes());
    }

    pub(super) fn integers(&mut self, values: &[i64]) {
        self.u64(values.len() as u64);
        values.iter().for_each(|value| self.0.extend(value.to_le_bytes()));
    }

    pub(super) fn finish(mut self) -> Vec<u8> {
        self.u64(checksum(&self.0));
        self.0
    }
}

pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The reader behind the head, and the kind; nothing if the head is another one or the checksum does not fit.
    pub(super) fn new(bytes: &'a [u8], version: u32) -> Option<(Self, u8)> {
        let (bytes, sum) = bytes.split_last_chunk::<8>()?;
        if checksum(bytes) != u64::from_le_bytes(*sum) {
            return None;
        }
        let rest = bytes.strip_prefix(MAGIC)?.strip_prefix(&version.to_le_bytes())?;
        let (&kind, rest) = rest.split_first()?;
        Some((Reader(rest), kind))
    }

    pub(super) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    pub(super) fn i128(&mut self) -> Option<i128> {
        self.take().map(i128::from_le_bytes)
    }

    /// A length that is larger than what is left is damage, not a reason to reserve memory.
    pub(super) fn integers(&mut self) -> Option<Vec<i64>> {
        let length = usize::try_from(self.u64()?).ok()?;
        if length > self.0.len() / 8 {
            return None;
        }
        (0..length).map(|_| self.take().map(i64::from_le_bytes)).collect()
    }

    pub(super) fn at_end(&self) -> bool {
        self.0.is_empty()
    }
}
