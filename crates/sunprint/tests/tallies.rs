//! Tallies: any split of the rows and any order of merging give the same bits; damage is refused, never a panic.

mod common;

use common::table;
use proptest::prelude::*;
use sunprint::error::Kind;
use sunprint::tally::codes::Codes;
use sunprint::tally::{
    Axis, Cells, ClampedSums, ClippedMoments, Coordinates, Fork, Forks, Group, Histogram, MOST_ROWS, Marginals, Pass,
    Place, Sites, Sums, Tally, VERSION, Work,
};

type Row = (Vec<u16>, u32);

/// One site of a stratum, with so many axes and numbers.
fn sites(stratum: u32, axes: usize, numbers: usize) -> Sites {
    let group = Group { stratum, middle: vec![5; axes], sites: vec![5; numbers] };
    Sites { axes: vec![Axis { low: 0, times: 1 }; axes], groups: vec![group] }
}

/// One of each kind of pass, for rows of `width` in `strata` strata.
fn passes(width: usize, strata: usize, centre: u16, radius: u32) -> Vec<Pass> {
    let unit = |i: usize| (0..width).map(|j| if i % width == j { 1 << 30 } else { 1000 * j as i32 }).collect();
    let basis = Coordinates::Basis {
        centre: vec![centre; width],
        vectors: vec![unit(0), unit(1)],
        places: vec![Place { low: -(1 << 45), step: 1 << 42 }, Place { low: -(1 << 44), step: 1 << 43 }],
    };
    let depths: Vec<u8> = (0..strata).map(|s| (s % 6) as u8).collect();
    let cuts: Vec<u16> = (0..5).map(|c| c % 2_u16.min(width as u16)).collect();
    let edges: Vec<u16> = if centre > 9 { vec![3, 9, centre] } else { vec![] };
    let line = Histogram::Line { at: 0, edges, absence: width > 1 };
    let hot = Histogram::Hot { at: width / 2, len: width - width / 2 };
    let works = [
        Work::Sums(Sums { counted: (0..width).map(|j| centre >> (j % 16) & 1 == 1).collect() }),
        Work::Products,
        Work::Moments(ClippedMoments { centre: vec![centre; width], radius, plane: None }),
        Work::Moments(ClippedMoments { centre: vec![centre; width], radius, plane: Some(vec![unit(width - 1)]) }),
        Work::Cells(Cells { coordinates: basis, cuts: vec![0, 1, 0, 1, 0], depths: depths.clone() }),
        Work::Cells(Cells { coordinates: Coordinates::Columns, cuts, depths }),
        Work::Clamped(ClampedSums { centre: vec![centre; width], reach: radius as u16 }),
        Work::Marginals(Marginals { histograms: vec![line, hot] }),
    ];
    works.into_iter().map(|work| Pass::new(7, width, strata, work)).collect()
}

fn rows(width: usize) -> impl Strategy<Value = Vec<Row>> {
    let extreme = prop_oneof![Just(0), Just(u16::MAX), any::<u16>()];
    prop::collection::vec((prop::collection::vec(extreme, width), 0_u32..9), 1..40)
}

fn whole_table() -> impl Strategy<Value = (usize, Vec<Row>)> {
    (1_usize..9).prop_flat_map(|width| (Just(width), rows(width)))
}

fn codes(width: usize, rows: &[Row]) -> Codes {
    table(width, rows)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Rows are dealt to parts at random, parts are merged in a random order, some into one another first.
    #[test]
    fn any_split_and_any_order_give_the_same_bits(
        (width, rows) in whole_table(),
        deal in prop::collection::vec(0_usize..6, 40),
        order in prop::collection::vec(any::<prop::sample::Index>(), 6),
        strata in 1_usize..12, centre: u16, radius: u32,
    ) {
        for pass in passes(width, strata, centre, radius) {
            let whole = pass.tally(&codes(width, &rows)).to_secret_bytes();
            let part = |k: usize| -> Vec<Row> {
                rows.iter().zip(&deal).filter(|(_, to)| **to == k).map(|(row, _)| row.clone()).collect()
            };
            let mut parts: Vec<Tally> = (0..6).map(|k| pass.tally(&codes(width, &part(k)))).collect();
            for at in &order {
                if parts.len() > 1 {
                    let one = parts.swap_remove(at.index(parts.len()));
                    let into = at.index(parts.len());
                    parts[into].merge(one).unwrap();
                }
            }
            let mut all = pass.empty();
            for part in parts {
                all.merge(part).unwrap();
            }
            prop_assert_eq!(all.rows(), rows.len() as u64);
            prop_assert!(all.to_secret_bytes() == whole);
            let mut backwards = rows.clone();
            backwards.reverse();
            prop_assert!(pass.tally(&codes(width, &backwards)).to_secret_bytes() == whole);
        }
    }

    #[test]
    fn bytes_come_back((width, rows) in whole_table(), strata in 1_usize..12, centre: u16, radius: u32) {
        for pass in passes(width, strata, centre, radius) {
            let tally = pass.tally(&codes(width, &rows));
            let bytes = tally.to_secret_bytes();
            let back = Tally::from_secret_bytes(&bytes, &pass).unwrap();
            prop_assert!(back == tally);
            prop_assert!(back.to_secret_bytes() == bytes);
            let other = Pass { number: pass.number + 1, ..pass.clone() };
            prop_assert_eq!(Tally::from_secret_bytes(&bytes, &other).err().map(|e| e.kind()), Some(Kind::Protocol));
        }
    }

    /// One changed byte, a cut, or something appended: refused.
    #[test]
    fn damaged_bytes_are_refused(
        (width, rows) in whole_table(), at: prop::sample::Index, change in 1_u8.., extra in prop::collection::vec(any::<u8>(), 1..20),
    ) {
        for pass in passes(width, 3, 30_000, 9000) {
            let bytes = pass.tally(&codes(width, &rows)).to_secret_bytes();
            let mut changed = bytes.clone();
            changed[at.index(bytes.len())] ^= change;
            let longer: Vec<u8> = bytes.iter().chain(&extra).copied().collect();
            let shorter = &bytes[..at.index(bytes.len())];
            for damaged in [&changed[..], &longer, shorter, &extra, &[]] {
                prop_assert_eq!(Tally::from_secret_bytes(damaged, &pass).err().map(|e| e.kind()), Some(Kind::Protocol));
            }
        }
    }

    /// Bytes whose checksum was made to fit: refused, or harmless when merged and absorbed. Never a panic.
    #[test]
    fn forged_bytes_never_panic(
        (width, rows) in whole_table(), places in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12),
    ) {
        for pass in passes(width, 3, 30_000, 9000) {
            let mut bytes = pass.tally(&codes(width, &rows)).to_secret_bytes();
            bytes.truncate(bytes.len() - 8);
            for (at, byte) in &places {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            let sum = bytes.iter().fold(0xCBF2_9CE4_8422_2325_u64, |sum, &byte| {
                (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
            });
            bytes.extend(sum.to_le_bytes());
            if let Ok(forged) = Tally::from_secret_bytes(&bytes, &pass) {
                let mut all = pass.tally(&codes(width, &rows));
                let _ = all.merge(forged);
                let again = Tally::from_secret_bytes(&bytes, &pass).unwrap();
                let _ = all.merge(again);
            }
        }
    }

    #[test]
    fn passes_come_back_from_json(width in 1_usize..9, strata in 1_usize..12, centre: u16, radius: u32) {
        for pass in passes(width, strata, centre, radius) {
            prop_assert_eq!(Pass::from_json(&pass.to_json()).unwrap(), pass);
        }
    }

    /// A changed character of a pass is refused, or gives a pass that still tallies without a panic.
    #[test]
    fn damaged_passes_never_panic(
        (width, rows) in whole_table(), at: prop::sample::Index,
        with in prop_oneof![Just(b'9'), Just(b'-'), Just(b'0'), Just(b'}'), Just(b'['), Just(b'e'), any::<u8>()],
    ) {
        for pass in passes(width, 3, 30_000, 9000) {
            let mut text = pass.to_json().into_bytes();
            let at = at.index(text.len());
            text[at] = with;
            let Ok(text) = String::from_utf8(text) else { continue };
            if let Ok(pass) = Pass::from_json(&text) && pass.width == width && pass.strata < 100 {
                prop_assert_eq!(pass.tally(&codes(width, &rows)).rows(), rows.len() as u64);
            }
        }
    }
}

#[test]
fn another_version_is_refused_with_a_hint() {
    for pass in passes(3, 2, 5, 9000) {
        for version in [0, VERSION - 1, VERSION + 2, u32::MAX] {
            let error = Pass::from_json(&Pass { version, ..pass.clone() }.to_json()).unwrap_err();
            assert_eq!(error.kind(), Kind::Protocol);
            assert!(error.to_string().contains(&format!("version {version}")) && error.advice().is_some());
        }
    }
    assert_eq!(Pass::from_json("{}").unwrap_err().kind(), Kind::Protocol);
}

#[test]
fn passes_that_contradict_themselves_are_refused() {
    let [sums, _, moments, plane, basis, columns, clamped, marginals] = &passes(3, 2, 50, 9000)[..] else {
        panic!("eight passes")
    };
    let refused = |pass: Pass| {
        assert_eq!(Pass::from_json(&pass.to_json()).unwrap_err().kind(), Kind::Protocol, "{}", pass.to_json());
    };
    refused(Pass { width: 4, ..moments.clone() });
    refused(Pass { width: 4, ..plane.clone() });
    refused(Pass { width: 4, ..sums.clone() });
    refused(Pass { width: 4, ..clamped.clone() });
    refused(Pass { width: 1, ..marginals.clone() });
    for wrong in [
        Histogram::Line { at: 3, edges: vec![], absence: false },
        Histogram::Line { at: 2, edges: vec![], absence: true },
        Histogram::Line { at: usize::MAX, edges: vec![], absence: true },
        Histogram::Line { at: 0, edges: vec![5, 5], absence: false },
        Histogram::Line { at: 0, edges: vec![6, 5], absence: false },
        Histogram::Hot { at: 0, len: 0 },
        Histogram::Hot { at: 1, len: 3 },
        Histogram::Hot { at: 1, len: usize::MAX },
        Histogram::Tree(Forks { forks: vec![Fork { at: 3, edge: 5, below: -1, above: -2 }] }),
        Histogram::Tree(Forks { forks: vec![Fork { at: 0, edge: 5, below: 0, above: -1 }] }),
        Histogram::Sites(Sites::default()),
        Histogram::Sites(sites(0, 2, 3)),
        Histogram::Sites(sites(9, 3, 3)),
        Histogram::Sites(sites(0, 3, 4)),
    ] {
        refused(Pass { work: Work::Marginals(Marginals { histograms: vec![wrong] }), ..marginals.clone() });
    }
    refused(Pass { strata: usize::MAX, ..marginals.clone() });
    refused(Pass { width: 0, ..sums.clone() });
    refused(Pass { strata: 0, ..sums.clone() });
    for wrong in [vec![], vec![vec![1; 2]], vec![vec![1; 3]; 4]] {
        let work = Work::Moments(ClippedMoments { centre: vec![0; 3], radius: 1, plane: Some(wrong) });
        refused(Pass { work, ..moments.clone() });
    }
    for pass in [basis, columns] {
        let Work::Cells(cells) = &pass.work else { panic!("cells") };
        let with = |change: &dyn Fn(&mut Cells)| {
            let mut cells = cells.clone();
            change(&mut cells);
            Pass { work: Work::Cells(cells), ..pass.clone() }
        };
        refused(with(&|cells| cells.depths[0] = 255));
        refused(with(&|cells| cells.depths[0] = 6));
        refused(with(&|cells| cells.depths.push(0)));
        refused(with(&|cells| cells.depths.clear()));
        refused(with(&|cells| cells.cuts[0] = u16::MAX));
        refused(with(&|cells| cells.cuts = vec![0; 300]));
        refused(with(&|cells| (cells.cuts, cells.depths) = (vec![0; 40], vec![40, 40])));
        refused(Pass { strata: 1, ..pass.clone() });
    }
    let Work::Cells(Cells { coordinates: Coordinates::Basis { centre, vectors, places }, cuts, depths }) = &basis.work
    else {
        panic!("a basis")
    };
    let with = |centre: &[u16], vectors: &[Vec<i32>], places: &[Place]| {
        let coordinates =
            Coordinates::Basis { centre: centre.to_vec(), vectors: vectors.to_vec(), places: places.to_vec() };
        Pass { work: Work::Cells(Cells { coordinates, cuts: cuts.clone(), depths: depths.clone() }), ..basis.clone() }
    };
    refused(with(&centre[1..], vectors, places));
    refused(with(centre, &vectors[1..], places));
    refused(with(centre, vectors, &places[1..]));
    refused(with(centre, &[vec![i32::MIN; 3], vec![0; 3]], places));
    refused(with(centre, vectors, &[Place { low: 0, step: 0 }, places[1]]));
}

/// A part that claims more rows than any table has cannot be merged: its sums could overflow.
#[test]
fn too_many_rows_are_refused() {
    let pass = &passes(1, 1, 0, 1)[0];
    let tally = pass.tally(&codes(1, &[(vec![3], 0)]));
    let mut bytes = tally.to_secret_bytes();
    bytes.truncate(bytes.len() - 8);
    // Behind the magic word, the version, the kind and the number of the pass.
    bytes[17..25].copy_from_slice(&MOST_ROWS.to_le_bytes());
    let sum = bytes
        .iter()
        .fold(0xCBF2_9CE4_8422_2325_u64, |sum, &byte| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3));
    bytes.extend(sum.to_le_bytes());
    let mut most = Tally::from_secret_bytes(&bytes, pass).unwrap();
    assert_eq!(most.rows(), MOST_ROWS);
    assert_eq!(most.merge(tally).unwrap_err().kind(), Kind::Protocol);
}

/// Deeper than a code has bits: a code still falls into the cell that holds it.
#[test]
fn cube_cells_may_be_deeper_than_a_code() {
    let cells = Cells { coordinates: Coordinates::Columns, cuts: vec![0; 18], depths: vec![18] };
    let pass = Pass::new(1, 1, 1, Work::Cells(cells));
    for (code, leaf) in [(0, 0), (1, 4), (32_768, 131_072), (u16::MAX, 262_140)] {
        let tally = pass.tally(&codes(1, &[(vec![code], 0)]));
        let sunprint::tally::Opened::Cells(counts) = tally.open_danger() else { panic!("cells") };
        assert_eq!(counts.leaves[leaf], 1, "{code}");
    }
}
