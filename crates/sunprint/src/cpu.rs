//! What this processor can do. The only file with `unsafe`: everything here is about instructions, nothing about data.
//!
//! Three things need it, and each is sound for the reason that stands beside it: calling a function that was compiled
//! for instructions that the processor was just found to have, loading a whole vector from an array of its size, and
//! storing one. All levels compute the same integers, bit for bit; a test compares them.

#![allow(unsafe_code)]

use std::sync::OnceLock;

/// Columns of a panel: what one vector of the widest kind holds.
pub(crate) const PANEL: usize = 16;
/// Columns of a tile that are broadcast, and columns that lie in vectors.
pub(crate) const TILE: (usize, usize) = (PANEL / 2, 2 * PANEL);
/// Pairs of rows whose products are added in 32 bits before they are widened.
pub(crate) const PAIRS: usize = 16;

/// One panel's entries of two rows: the first row's in the low 16 bits, the second row's in the high ones. Aligned, so
/// that no vector lies across two lines of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Pair(pub(crate) [i32; PANEL]);

/// The sums of a tile: one row of sums for each broadcast column.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Sums(pub(crate) [[i64; TILE.1]; TILE.0]);

/// Sets of instructions, from the plainest on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Level {
    /// Plain code.
    Portable,
    /// SSE2, which every processor of this kind has.
    #[cfg(target_arch = "x86_64")]
    Sse2,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 with the products of 16-bit pairs (VNNI).
    #[cfg(target_arch = "x86_64")]
    Vnni,
}

impl Level {
    /// All that this processor has.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn all() -> Vec<Level> {
        let avx2 = is_x86_feature_detected!("avx2");
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vnni");
        let mut levels = vec![Level::Portable, Level::Sse2];
        levels.extend(avx2.then_some(Level::Avx2));
        levels.extend((avx2 && wide).then_some(Level::Vnni));
        levels
    }

    /// All that this processor has.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn all() -> Vec<Level> {
        vec![Level::Portable]
    }

    /// The best that this processor has.
    pub(crate) fn best() -> Level {
        static BEST: OnceLock<Level> = OnceLock::new();
        *BEST.get_or_init(|| Level::all().into_iter().max().unwrap_or(Level::Portable))
    }

    /// Whether this processor has it: what the calls below rest on.
    fn is_here(self) -> bool {
        self <= Level::best()
    }
}

/// Work that the compiler may turn into the processor's vectors.
///
/// It computes what it would compute anywhere: integer code has one meaning, and floating-point code is never
/// contracted. `run`, and whatever it calls, must be `#[inline(always)]` to profit.
pub(crate) trait Vectorised: Sized {
    /// What comes out.
    type Output;
    /// Does the work.
    fn run(self) -> Self::Output;
    /// Does the work with the instructions of a level.
    #[cfg(target_arch = "x86_64")]
    fn run_at(self, level: Level) -> Self::Output {
        match level {
            // Sound: `is_here` has found that the processor has AVX2.
            Level::Avx2 if level.is_here() => unsafe { x86::run_avx2(self) },
            // Sound: `is_here` has found that the processor has AVX2, AVX-512 F, BW, DQ, VL and VNNI.
            Level::Vnni if level.is_here() => unsafe { x86::run_vnni(self) },
            _ => self.run(),
        }
    }
    /// Does the work with the instructions of a level.
    #[cfg(not(target_arch = "x86_64"))]
    fn run_at(self, _: Level) -> Self::Output {
        self.run()
    }
}

/// Adds to `sums[a][b]` the products of column `half · 8 + a` of panel `rows` with column b of the two panels `columns`.
///
/// Sums of [`PAIRS`] pairs are kept in 32 bits: the caller knows that they fit.
pub(crate) fn tile(level: Level, rows: &[Pair], half: usize, columns: [&[Pair]; 2], sums: &mut Sums) {
    // The kernels below index all three alike.
    assert!(half < 2 && columns.iter().all(|panel| panel.len() == rows.len()));
    match level {
        // Sound: every processor of this kind has SSE2.
        #[cfg(target_arch = "x86_64")]
        Level::Sse2 => unsafe { x86::tile_sse2(rows, half, columns, sums) },
        // Sound: `is_here` has found that the processor has AVX2.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 if level.is_here() => unsafe { x86::tile_avx2(rows, half, columns, sums) },
        // Sound: `is_here` has found that the processor has AVX-512 F, BW and VNNI.
        #[cfg(target_arch = "x86_64")]
        Level::Vnni if level.is_here() => unsafe { x86::tile_vnni(rows, half, columns, sums) },
        _ => tile_portable(rows, half, columns, sums),
    }
}

/// The stream of ChaCha20 under a key and with a number, from block `first` on, sixteen blocks of 64 bytes at a time. Says
/// whether it was made: only the widest vectors are worth it, and without them others are as fast.
pub(crate) fn key_stream(level: Level, key: &[u8; 32], number: u64, first: u64, out: &mut [[[u8; 64]; 16]]) -> bool {
    match level {
        // Sound: `is_here` has found that the processor has AVX-512 F.
        #[cfg(target_arch = "x86_64")]
        Level::Vnni if level.is_here() => unsafe { x86::key_stream_vnni(key, number, first, out) },
        _ => return false,
    }
    true
}

fn tile_portable(rows: &[Pair], half: usize, columns: [&[Pair]; 2], sums: &mut Sums) {
    let low = |pair: i32| i32::from(pair as i16);
    let high = |pair: i32| pair >> 16;
    for (side, panel) in columns.into_iter().enumerate() {
        for (rows, panel) in rows.chunks(PAIRS).zip(panel.chunks(PAIRS)) {
            for (a, sums) in sums.0.iter_mut().enumerate() {
                let mut partial = [0_i32; PANEL];
                for (row, column) in rows.iter().zip(panel) {
                    let (x, y) = (low(row.0[half * TILE.0 + a]), high(row.0[half * TILE.0 + a]));
                    for (sum, &pair) in partial.iter_mut().zip(&column.0) {
                        let product = x.wrapping_mul(low(pair)).wrapping_add(y.wrapping_mul(high(pair)));
                        *sum = sum.wrapping_add(product);
                    }
                }
                for (sum, part) in sums[side * PANEL..(side + 1) * PANEL].iter_mut().zip(partial) {
                    *sum = sum.wrapping_add(i64::from(part));
                }
            }
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{PAIRS, Pair, Sums, TILE, Vectorised};
    use std::arch::x86_64::*;

    #[target_feature(enable = "avx2")]
    pub(super) fn run_avx2<V: Vectorised>(work: V) -> V::Output {
        work.run()
    }

    #[target_feature(enable = "avx2,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]
    pub(super) fn run_vnni<V: Vectorised>(work: V) -> V::Output {
        work.run()
    }

    #[target_feature(enable = "avx512f")]
    fn load(pair: &Pair) -> __m512i {
        // Sound: the array has the 64 bytes that are read, and the load asks for no alignment.
        unsafe { _mm512_loadu_si512(pair.0.as_ptr().cast()) }
    }

    /// Adds eight sums of 32 bits to eight of 64.
    #[target_feature(enable = "avx512f")]
    fn widen(sums: &mut [i64; 8], part: __m256i) {
        // Sound: the array has the 64 bytes that are read and written, and neither asks for alignment.
        unsafe {
            let before = _mm512_loadu_si512(sums.as_ptr().cast());
            let after = _mm512_add_epi64(before, _mm512_cvtepi32_epi64(part));
            _mm512_storeu_si512(sums.as_mut_ptr().cast(), after);
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn tile_vnni(rows: &[Pair], half: usize, columns: [&[Pair]; 2], sums: &mut Sums) {
        let blocks = rows.chunks(PAIRS).zip(columns[0].chunks(PAIRS)).zip(columns[1].chunks(PAIRS));
        for ((rows, left), right) in blocks {
            block_vnni(rows, half, left, right, sums);
        }
    }

    /// Sixteen vectors of sums: two panels of columns, eight broadcast columns. Never inlined, or the compiler keeps the
    /// wide sums of all blocks in registers and has none left for these.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    #[inline(never)]
    fn block_vnni(rows: &[Pair], half: usize, left: &[Pair], right: &[Pair], sums: &mut Sums) {
        let mut partial = [[_mm512_setzero_si512(); 2]; TILE.0];
        for ((row, left), right) in rows.iter().zip(left).zip(right) {
            let (left, right) = (load(left), load(right));
            let (halves, _) = row.0.as_chunks::<{ TILE.0 }>();
            for (sums, &both) in partial.iter_mut().zip(&halves[half]) {
                let both = _mm512_set1_epi32(both);
                sums[0] = _mm512_dpwssd_epi32(sums[0], both, left);
                sums[1] = _mm512_dpwssd_epi32(sums[1], both, right);
            }
        }
        for (sums, partial) in sums.0.iter_mut().zip(partial) {
            let (eights, _) = sums.as_chunks_mut::<8>();
            for (side, part) in partial.into_iter().enumerate() {
                widen(&mut eights[2 * side], _mm512_castsi512_si256(part));
                widen(&mut eights[2 * side + 1], _mm512_extracti64x4_epi64::<1>(part));
            }
        }
    }

    #[target_feature(enable = "avx512f")]
    fn store(block: &mut [u8; 64], words: __m512i) {
        // Sound: the array has the 64 bytes that are written, and the store asks for no alignment.
        unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), words) }
    }

    /// A vector has one word of sixteen blocks; at the end they are turned, so that it has the sixteen words of one block.
    #[target_feature(enable = "avx512f")]
    pub(super) fn key_stream_vnni(key: &[u8; 32], number: u64, first: u64, out: &mut [[[u8; 64]; 16]]) {
        let mut start = [_mm512_setzero_si512(); 16];
        let constants = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];
        let words = key.as_chunks().0.iter().map(|&word| i32::from_le_bytes(word));
        for (vector, word) in start.iter_mut().zip(constants.into_iter().chain(words)) {
            *vector = _mm512_set1_epi32(word);
        }
        start[14] = _mm512_set1_epi32(number as i32);
        start[15] = _mm512_set1_epi32((number >> 32) as i32);
        for (turn, out) in out.iter_mut().enumerate() {
            let count = |lane: usize| first.wrapping_add((16 * turn + lane) as u64);
            start[12] = load(&Pair(std::array::from_fn(|lane| count(lane) as i32)));
            start[13] = load(&Pair(std::array::from_fn(|lane| (count(lane) >> 32) as i32)));
            let mut x = start;
            for _ in 0..10 {
                for i in 0..4 {
                    quarter_round(&mut x, [i, 4 + i, 8 + i, 12 + i]);
                }
                for i in 0..4 {
                    quarter_round(&mut x, [i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4]);
                }
            }
            x.iter_mut().zip(start).for_each(|(x, start)| *x = _mm512_add_epi32(*x, start));
            // Four words of four blocks in each, then sixteen words of one.
            let fours: [[__m512i; 4]; 4] = std::array::from_fn(|i| {
                let low =
                    [_mm512_unpacklo_epi32(x[4 * i], x[4 * i + 1]), _mm512_unpacklo_epi32(x[4 * i + 2], x[4 * i + 3])];
                let high =
                    [_mm512_unpackhi_epi32(x[4 * i], x[4 * i + 1]), _mm512_unpackhi_epi32(x[4 * i + 2], x[4 * i + 3])];
                [
                    _mm512_unpacklo_epi64(low[0], low[1]),
                    _mm512_unpackhi_epi64(low[0], low[1]),
                    _mm512_unpacklo_epi64(high[0], high[1]),
                    _mm512_unpackhi_epi64(high[0], high[1]),
                ]
            });
            for i in 0..4 {
                let [a, b, c, d] = [fours[0][i], fours[1][i], fours[2][i], fours[3][i]];
                let (ab, cd) = (_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0x44>(c, d));
                store(&mut out[i], _mm512_shuffle_i32x4::<0x88>(ab, cd));
                store(&mut out[4 + i], _mm512_shuffle_i32x4::<0xdd>(ab, cd));
                let (ab, cd) = (_mm512_shuffle_i32x4::<0xee>(a, b), _mm512_shuffle_i32x4::<0xee>(c, d));
                store(&mut out[8 + i], _mm512_shuffle_i32x4::<0x88>(ab, cd));
                store(&mut out[12 + i], _mm512_shuffle_i32x4::<0xdd>(ab, cd));
            }
        }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    fn quarter_round(x: &mut [__m512i; 16], [a, b, c, d]: [usize; 4]) {
        x[a] = _mm512_add_epi32(x[a], x[b]);
        x[d] = _mm512_rol_epi32::<16>(_mm512_xor_si512(x[d], x[a]));
        x[c] = _mm512_add_epi32(x[c], x[d]);
        x[b] = _mm512_rol_epi32::<12>(_mm512_xor_si512(x[b], x[c]));
        x[a] = _mm512_add_epi32(x[a], x[b]);
        x[d] = _mm512_rol_epi32::<8>(_mm512_xor_si512(x[d], x[a]));
        x[c] = _mm512_add_epi32(x[c], x[d]);
        x[b] = _mm512_rol_epi32::<7>(_mm512_xor_si512(x[b], x[c]));
    }

    #[target_feature(enable = "avx2")]
    fn load_eight(eight: &[i32; 8]) -> __m256i {
        // Sound: the array has the 32 bytes that are read, and the load asks for no alignment.
        unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) }
    }

    /// Adds four sums of 32 bits to four of 64.
    #[target_feature(enable = "avx2")]
    fn widen_four(sums: &mut [i64; 4], part: __m128i) {
        // Sound: the array has the 32 bytes that are read and written, and neither asks for alignment.
        unsafe {
            let before = _mm256_loadu_si256(sums.as_ptr().cast());
            let after = _mm256_add_epi64(before, _mm256_cvtepi32_epi64(part));
            _mm256_storeu_si256(sums.as_mut_ptr().cast(), after);
        }
    }

    /// Eight vectors of sums at a time: two halves of a panel, four broadcast columns.
    #[target_feature(enable = "avx2")]
    pub(super) fn tile_avx2(rows: &[Pair], half: usize, columns: [&[Pair]; 2], sums: &mut Sums) {
        for (side, panel) in columns.into_iter().enumerate() {
            for (rows, panel) in rows.chunks(PAIRS).zip(panel.chunks(PAIRS)) {
                for (quarter, sums) in sums.0.chunks_exact_mut(4).enumerate() {
                    let first = half * TILE.0 + quarter * 4;
                    let mut partial = [[_mm256_setzero_si256(); 2]; 4];
                    for (row, column) in rows.iter().zip(panel) {
                        let (eights, _) = column.0.as_chunks::<8>();
                        let (left, right) = (load_eight(&eights[0]), load_eight(&eights[1]));
                        for (sums, &both) in partial.iter_mut().zip(&row.0[first..first + 4]) {
                            let both = _mm256_set1_epi32(both);
                            sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(both, left));
                            sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(both, right));
                        }
                    }
                    for (sums, partial) in sums.iter_mut().zip(partial) {
                        let (fours, _) = sums[side * 16..(side + 1) * 16].as_chunks_mut::<4>();
                        for (place, part) in partial.into_iter().enumerate() {
                            widen_four(&mut fours[2 * place], _mm256_castsi256_si128(part));
                            widen_four(&mut fours[2 * place + 1], _mm256_extracti128_si256::<1>(part));
                        }
                    }
                }
            }
        }
    }

    #[target_feature(enable = "sse2")]
    fn load_four(four: &[i32; 4]) -> __m128i {
        // Sound: the array has the 16 bytes that are read, and the load asks for no alignment.
        unsafe { _mm_loadu_si128(four.as_ptr().cast()) }
    }

    #[target_feature(enable = "sse2")]
    fn store_four(part: __m128i) -> [i32; 4] {
        let mut four = [0; 4];
        // Sound: the array has the 16 bytes that are written, and the store asks for no alignment.
        unsafe { _mm_storeu_si128(four.as_mut_ptr().cast(), part) };
        four
    }

    /// Eight vectors of sums at a time: half a panel, four broadcast columns.
    #[target_feature(enable = "sse2")]
    pub(super) fn tile_sse2(rows: &[Pair], half: usize, columns: [&[Pair]; 2], sums: &mut Sums) {
        for (eight, panel) in (0..4).map(|eight| (eight, columns[eight / 2])) {
            for (rows, panel) in rows.chunks(PAIRS).zip(panel.chunks(PAIRS)) {
                for (quarter, sums) in sums.0.chunks_exact_mut(4).enumerate() {
                    let first = half * TILE.0 + quarter * 4;
                    let mut partial = [[_mm_setzero_si128(); 2]; 4];
                    for (row, column) in rows.iter().zip(panel) {
                        let (fours, _) = column.0.as_chunks::<4>();
                        let at = eight % 2 * 2;
                        let (left, right) = (load_four(&fours[at]), load_four(&fours[at + 1]));
                        for (sums, &both) in partial.iter_mut().zip(&row.0[first..first + 4]) {
                            let both = _mm_set1_epi32(both);
                            sums[0] = _mm_add_epi32(sums[0], _mm_madd_epi16(both, left));
                            sums[1] = _mm_add_epi32(sums[1], _mm_madd_epi16(both, right));
                        }
                    }
                    for (sums, partial) in sums.iter_mut().zip(partial) {
                        let (fours, _) = sums[eight * 8..(eight + 1) * 8].as_chunks_mut::<4>();
                        for (sums, part) in fours.iter_mut().zip(partial) {
                            for (sum, part) in sums.iter_mut().zip(store_four(part)) {
                                *sum = sum.wrapping_add(i64::from(part));
                            }
                        }
                    }
                }
            }
        }
    }
}
