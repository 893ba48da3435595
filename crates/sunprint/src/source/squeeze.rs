//! Text compressed piece by piece, so that every core can take a piece, and joined to one stream.

use super::place::Squeeze;
use flate2::{Compress, Compression, Crc, FlushCompress};
use std::io::{self, Write};

/// A piece of text, ready to be written.
pub(super) struct Pressed {
    bytes: Vec<u8>,
    /// Of the text, for gzip.
    sum: Crc,
}

/// Compresses a piece. The bytes depend on the text alone.
pub(super) fn press(text: Vec<u8>, squeeze: Squeeze) -> io::Result<Pressed> {
    let mut sum = Crc::new();
    let bytes = match squeeze {
        Squeeze::None => text,
        Squeeze::Gzip => {
            sum.update(&text);
            deflate(&text)?
        }
        // Frames one behind the other are one file for every reader of zstd.
        Squeeze::Zstd => zstd::bulk::compress(&text, 3)?,
    };
    Ok(Pressed { bytes, sum })
}

/// Deflate blocks that end on a byte and refer to nothing before them, none of which is the last of its stream: such
/// pieces can be joined.
fn deflate(text: &[u8]) -> io::Result<Vec<u8>> {
    let mut deflate = Compress::new(Compression::default(), false);
    let mut bytes = Vec::with_capacity(text.len() / 2 + 64);
    loop {
        let taken = deflate.total_in() as usize;
        deflate.compress_vec(&text[taken..], &mut bytes, FlushCompress::Sync)?;
        // Everything is out once there is room left over.
        if bytes.len() < bytes.capacity() && deflate.total_in() as usize == text.len() {
            return Ok(bytes);
        }
        bytes.reserve(bytes.capacity().max(64));
    }
}

/// Joins pieces. A gzip file has one member, and not one for each piece: there are readers that stop after the first,
/// and a file that was cut between two members would look complete.
pub(super) struct Press<W> {
    sink: W,
    squeeze: Squeeze,
    sum: Crc,
}

/// Magic number, deflate, no flags, no time, no remark, unknown system (RFC 1952).
const GZIP_HEAD: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 0xFF];

/// A last block without content, by the fixed code: 1, 01, 0000000 (RFC 1951).
const LAST_BLOCK: [u8; 2] = [3, 0];

impl<W: Write> Press<W> {
    pub(super) fn begin(mut sink: W, squeeze: Squeeze) -> io::Result<Press<W>> {
        if squeeze == Squeeze::Gzip {
            sink.write_all(&GZIP_HEAD)?;
        }
        Ok(Press { sink, squeeze, sum: Crc::new() })
    }

    pub(super) fn append(&mut self, piece: &Pressed) -> io::Result<()> {
        self.sum.combine(&piece.sum);
        self.sink.write_all(&piece.bytes)
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        if self.squeeze == Squeeze::Gzip {
            self.sink.write_all(&LAST_BLOCK)?;
            self.sink.write_all(&self.sum.sum().to_le_bytes())?;
            self.sink.write_all(&self.sum.amount().to_le_bytes())?;
        }
        Ok(self.sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn joined(pieces: &[Vec<u8>], squeeze: Squeeze) -> Vec<u8> {
        let mut press = Press::begin(Vec::new(), squeeze).unwrap();
        for piece in pieces {
            press.append(&super::press(piece.clone(), squeeze).unwrap()).unwrap();
        }
        press.finish().unwrap()
    }

    /// Nothing, one byte, what cannot be compressed, and what nearly vanishes.
    fn pieces() -> Vec<Vec<u8>> {
        let mut state = 1u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 56) as u8
        };
        vec![Vec::new(), vec![7], (0..300_000).map(|_| noise()).collect(), vec![b'a'; 1_000_000], b"end\n".to_vec()]
    }

    #[test]
    fn joined_pieces_are_one_gzip_member() {
        for pieces in [pieces(), Vec::new()] {
            let bytes = joined(&pieces, Squeeze::Gzip);
            let mut text = Vec::new();
            let mut decoder = flate2::bufread::GzDecoder::new(&bytes[..]);
            decoder.read_to_end(&mut text).unwrap();
            assert_eq!(text, pieces.concat(), "checked by its sum and length too");
            assert!(decoder.into_inner().is_empty(), "nothing stands behind the member");
        }
    }

    #[test]
    fn a_gzip_file_cut_between_pieces_is_damaged() {
        let pieces = pieces();
        let whole = joined(&pieces, Squeeze::Gzip);
        let behind_first = GZIP_HEAD.len() + super::press(pieces[0].clone(), Squeeze::Gzip).unwrap().bytes.len();
        for length in [behind_first, whole.len() - 10, whole.len() - 1] {
            let mut text = Vec::new();
            assert!(flate2::read::MultiGzDecoder::new(&whole[..length]).read_to_end(&mut text).is_err());
        }
    }

    #[test]
    fn joined_frames_and_plain_pieces_read_back() {
        let pieces = pieces();
        let bytes = joined(&pieces, Squeeze::Zstd);
        assert_eq!(zstd::decode_all(&bytes[..]).unwrap(), pieces.concat());
        assert_eq!(joined(&pieces, Squeeze::None), pieces.concat());
    }
}
