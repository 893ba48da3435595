//! Sealed texts: what was sealed comes back, nothing else does, and nothing is to be seen from outside.

use super::{BLOCK, HEADER, PART, Purpose, SALT, Seal, Sealing, TAG, fill, hmac, sealed_bytes};
use crate::cpu::Level;
use proptest::prelude::*;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};
use std::collections::HashSet;

fn key() -> [u8; 32] {
    std::array::from_fn(|i| i as u8)
}

fn rows() -> Seal {
    Seal::new(&key(), Purpose::Rows)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// With a salt and a number that are chosen, as nobody can outside of this file.
fn sealed_with(seal: &Seal, number: u64, text: &[u8]) -> Vec<u8> {
    let salt: [u8; SALT] = std::array::from_fn(|i| 100 + i as u8);
    let mut sealed = Vec::new();
    Sealing { stream: seal.stream(salt), next: number }.seal(text, &mut sealed);
    sealed
}

proptest! {
    #[test]
    fn what_was_sealed_is_opened(
        text in prop_oneof![
            prop::collection::vec(any::<u8>(), 0..100),
            prop::collection::vec(any::<u8>(), BLOCK - 20..BLOCK + 20),
            prop::collection::vec(any::<u8>(), 2 * BLOCK - 20..2 * BLOCK + 20),
        ],
        key in any::<[u8; 32]>(),
    ) {
        let seal = Seal::new(&key, Purpose::Rows);
        let sealed = seal.seal(&text).unwrap();
        prop_assert_eq!(sealed.len(), sealed_bytes(text.len()));
        prop_assert!(seal.open(&sealed).as_ref() == Some(&text));
        prop_assert!(Seal::new(&key, Purpose::Tallies).open(&sealed).is_none(), "another purpose");
        let mut other = key;
        other[31] ^= 1;
        prop_assert!(Seal::new(&other, Purpose::Rows).open(&sealed).is_none(), "another key");
    }

    /// Whatever somebody makes up is refused.
    #[test]
    fn foreign_bytes_are_refused(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
        prop_assert!(rows().open(&bytes).is_none());
    }
}

/// The same bytes as a reference in Python, which was written from the description alone (tests/spark/reference.py).
#[test]
fn sealed_texts_have_the_bytes_of_the_reference() {
    let header = "6465666768696a6b6c6d6e6f707172737475767778797a7b0500000000000000";
    let found = sealed_with(&rows(), 5, b"kestrel");
    assert_eq!(hex(&found), format!("{header}02fcd9d9c28efc17188d0790bc74ef3c0b9f13e8fdffc0"));
    assert_eq!(hex(&sealed_with(&rows(), 5, b"")), format!("{header}e56f6c23e216105f05d0d28cf0ea15bd"));
    let long: Vec<u8> = (0..9000_u32).map(|i| (i * 7 % 251) as u8).collect();
    let found = sealed_with(&Seal::new(&key(), Purpose::Tallies), (1 << 40) + 1, &long);
    assert_eq!(hex(&Sha256::digest(found)), "848070ffda0f8e338710d6ede63f6df70fb501338f8f275784aa3703d7f81814");
}

/// The block of RFC 8439, section 2.3.2, and the first case of RFC 4231.
#[test]
fn the_ciphers_are_those_of_the_standards() {
    let mut cipher = ChaCha20Rng::from_seed(key());
    cipher.set_stream(0x4a00_0000);
    // Their nonce has a third word, which here is the upper half of the counter.
    cipher.set_word_pos(16 * (1 | 0x0900_0000 << 32));
    let mut block = [0; 64];
    cipher.fill_bytes(&mut block);
    assert_eq!(
        hex(&block),
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e\
         d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    );
    let mut key = [0x0b; 32];
    key[20..].fill(0);
    assert_eq!(
        hex(&hmac(&key, &[b"Hi ", b"There"])),
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
    );
}

/// Every level of vectors makes the same stream, also where the counter carries over.
#[test]
fn all_levels_make_the_same_stream() {
    for first in [0, 16, (1 << 32) - 20, 1 << 40] {
        for number in [0, 7, u64::MAX - 1] {
            let mut cipher = ChaCha20Rng::from_seed(key());
            cipher.set_stream(number);
            cipher.set_word_pos(16 * u128::from(first));
            let mut expected = [0; PART];
            cipher.fill_bytes(&mut expected);
            for level in Level::all() {
                for bytes in [1, 64, 1024, 1025, PART] {
                    let mut part = [0; PART];
                    fill(level, &key(), number, first, &mut part, bytes);
                    assert!(part[..bytes] == expected[..bytes], "{level:?}, block {first}, {bytes} bytes");
                }
            }
        }
    }
}

#[test]
fn every_change_is_refused() {
    let seal = rows();
    let text: Vec<u8> = (0..2 * BLOCK as u32 + 100).map(|i| ((i * i) >> 3) as u8).collect();
    for text in [&text[..], &text[..BLOCK], &text[..33], &[]] {
        let sealed = seal.seal(text).unwrap();
        // Every bit of short texts, and of long ones around the edges of all parts.
        let near = |place: usize| {
            let block = (place.max(HEADER) - HEADER) % (BLOCK + TAG);
            place < HEADER || sealed.len() - place < 40 || !(20..BLOCK - 20).contains(&block)
        };
        let places: Vec<usize> = (0..sealed.len()).filter(|&place| near(place)).collect();
        for &place in &places {
            for bit in 0..8 {
                let mut changed = sealed.clone();
                changed[place] ^= 1 << bit;
                assert!(seal.open(&changed).is_none(), "byte {place} of {}", sealed.len());
            }
        }
        for &end in &places {
            assert!(seal.open(&sealed[..end]).is_none(), "cut at {end} of {}", sealed.len());
        }
        for more in [1, TAG, TAG + 1, BLOCK + TAG] {
            assert!(seal.open(&[&sealed[..], &vec![0; more]].concat()).is_none());
        }
        assert!(seal.open(&sealed).as_deref() == Some(text), "the control");
    }
}

#[test]
fn blocks_keep_their_places() {
    let seal = rows();
    let text = vec![7; 3 * BLOCK];
    let sealed = seal.seal(&text).unwrap();
    let block = |number: usize| &sealed[HEADER + number * (BLOCK + TAG)..HEADER + (number + 1) * (BLOCK + TAG)];
    let put = |order: &[usize]| {
        let blocks: Vec<u8> = order.iter().flat_map(|&number| block(number)).copied().collect();
        seal.open(&[&sealed[..HEADER], &blocks].concat())
    };
    assert!(put(&[0, 1, 2]) == Some(text));
    for order in [&[1, 0, 2][..], &[0, 1], &[0, 1, 1], &[0, 1, 2, 2], &[]] {
        assert!(put(order).is_none(), "{order:?}");
    }
    // Nor do texts of one salt change their numbers.
    let mut sealing = seal.begin().unwrap();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    sealing.seal(b"one text", &mut first);
    sealing.seal(b"another ", &mut second);
    assert_eq!(first[..SALT], second[..SALT]);
    let crossed = [&first[..HEADER], &second[HEADER..]].concat();
    assert!(seal.open(&second).is_some() && seal.open(&crossed).is_none());
}

/// Eight bytes that come twice would be seen in constant rows. Among a megabyte of random bytes, two places out of 2¹⁷
/// with the same eight bytes have a probability of 2⁻³¹: that is the chance of a false alarm.
#[test]
fn nothing_repeats() {
    let seal = rows();
    let repeats = |bytes: &[u8]| {
        let (eights, _) = bytes.as_chunks::<8>();
        eights.iter().collect::<HashSet<_>>().len() < eights.len()
    };
    let text = vec![0x5a; 4096];
    let mut sealing = seal.begin().unwrap();
    let mut whole = Vec::new();
    for _ in 0..256 {
        let mut sealed = Vec::new();
        sealing.seal(&text, &mut sealed);
        // Salt and number are in the clear, and the same for what is sealed together.
        whole.extend_from_slice(&sealed[HEADER..]);
    }
    assert!(!repeats(&whole));
    // Controls: what is not sealed repeats, and so does what is sealed under a stream that is used twice.
    assert!(repeats(&text));
    let twice = [sealed_with(&seal, 3, &text), sealed_with(&seal, 3, &text)].concat();
    assert!(repeats(&twice));
    // The same text is sealed to something else each time, under another salt too.
    assert!(seal.seal(&text).unwrap()[HEADER..] != seal.seal(&text).unwrap()[HEADER..]);
}
