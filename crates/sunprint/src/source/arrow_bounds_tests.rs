//! Tests of the claims of Arrow batches.

use super::*;
use arrow_array::builder::{ListBuilder, StringViewBuilder, UnionBuilder};
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, Int64Array, NullArray, RecordBatch, StringArray, StructArray,
};
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use std::sync::Arc;

const ROWS: i64 = 5000;

fn batch() -> RecordBatch {
    let column: ArrayRef = Arc::new(Int64Array::from_iter_values((0..ROWS).map(|i| i % 3)));
    RecordBatch::try_from_iter([("a", Arc::clone(&column)), ("b", column)]).unwrap()
}

fn written(stream: bool) -> Vec<u8> {
    write(&batch(), stream, CompressionType::LZ4_FRAME)
}

fn write(batch: &RecordBatch, stream: bool, codec: impl Into<Option<CompressionType>>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(codec.into()).unwrap();
    let mut bytes = Vec::new();
    if stream {
        let mut writer = StreamWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        (0..3).for_each(|_| writer.write(batch).unwrap());
        writer.finish().unwrap();
    } else {
        let mut writer = FileWriter::try_new_with_options(&mut bytes, &batch.schema(), options).unwrap();
        (0..3).for_each(|_| writer.write(batch).unwrap());
        writer.finish().unwrap();
    }
    bytes
}

fn fits(bytes: impl AsRef<[u8]>) -> bool {
    file_fits(&mut Cursor::new(bytes)).unwrap().is_some()
}

/// The last claim of 8 · 5000 bytes becomes one of gigabytes.
fn boasting(stream: bool) -> Vec<u8> {
    claiming(written(stream), 1 << 32)
}

fn claiming(mut bytes: Vec<u8>, claimed: i64) -> Vec<u8> {
    let claim = (8 * ROWS).to_le_bytes();
    let at = bytes.windows(8).rposition(|eight| eight == claim).unwrap();
    bytes[at..at + 8].copy_from_slice(&claimed.to_le_bytes());
    bytes
}

/// Nothing compresses better than many rows that are all the same.
#[test]
fn what_was_compressed_is_never_refused() {
    let column: ArrayRef = Arc::new(Int64Array::from(vec![0; 4_000_000]));
    let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
    for codec in [CompressionType::LZ4_FRAME, CompressionType::ZSTD] {
        let bytes = write(&batch, false, codec);
        assert!(bytes.len() < 1 << 20 && fits(bytes), "{codec:?}");
        let stream = write(&batch, true, codec);
        let mut passed = Vec::new();
        Bounded::new(stream.as_slice()).read_to_end(&mut passed).unwrap();
        assert!(passed == stream);
    }
}

#[test]
fn files() {
    assert!(fits(written(false)));
    assert!(!fits(boasting(false)));
    // The footer alone, whose blocks would all end behind it.
    let bytes = written(false);
    let letters = bytes.len() - LETTERS;
    let footer = u32::from_le_bytes(*bytes[..letters].last_chunk().unwrap()) as usize;
    assert!(!fits(&bytes[letters - 4 - footer..]));
    for length in 0..200 {
        assert!(!fits(&bytes[..length]), "what cannot be checked");
    }
}

#[test]
fn streams() {
    // However few bytes are asked for at a time.
    for most in [1, 3, 1000, 1 << 20] {
        let read = |bytes: &[u8]| {
            let (mut bounded, mut all, mut part) = (Bounded::new(bytes), Vec::new(), vec![0; most]);
            loop {
                match bounded.read(&mut part) {
                    Ok(0) => return Some(all),
                    Ok(length) => all.extend(&part[..length]),
                    Err(_) => return None,
                }
            }
        };
        let (good, bad) = (written(true), boasting(true));
        assert!(read(&good).as_deref() == Some(&good), "nothing is changed on the way");
        assert!(read(&bad).is_none());
        assert!(read(&good[..good.len() / 2]).is_some() && read(b"").is_some() && read(b"no such thing").is_some());
    }
}

fn passes(batch: &RecordBatch, codec: Option<CompressionType>) -> [bool; 2] {
    let mut passed = Vec::new();
    let stream = Bounded::new(write(batch, true, codec).as_slice()).read_to_end(&mut passed).is_ok();
    [fits(write(batch, false, codec)), stream]
}

/// Columns that a schema does not name may have any type.
#[test]
fn every_type_has_its_buffers() {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter((0..700).map(|i| (i % 3 > 0).then_some(i))));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..700).map(|i| i.to_string())));
    let mut views = StringViewBuilder::new().with_fixed_block_size(64);
    let mut lists = ListBuilder::new(StringViewBuilder::new());
    let mut unions = UnionBuilder::new_dense();
    for i in 0..700 {
        views.append_value(format!("a text that is not kept in its view, number {i}"));
        lists.append_value((0..i % 4).map(|j| Some(j.to_string())));
        unions.append::<Int32Type>("whole", i).unwrap();
        if i % 2 == 0 {
            unions.append::<Float64Type>("real", 0.5).unwrap();
        }
    }
    let keys = DictionaryArray::<Int32Type>::from_iter((0..700).map(|i| Some(["red", "blue"][i % 2])));
    let both = StructArray::try_from(vec![("n", Arc::clone(&numbers)), ("t", Arc::clone(&texts))]).unwrap();
    let columns: [(&str, ArrayRef); 9] = [
        ("lists", Arc::new(lists.finish())),
        ("views", Arc::new(views.finish())),
        ("unions", Arc::new(unions.build().unwrap().slice(0, 700))),
        ("keys", Arc::new(keys)),
        ("both", Arc::new(both)),
        ("truths", Arc::new(BooleanArray::from_iter((0..700).map(|i| Some(i % 5 == 0))))),
        ("nothing", Arc::new(NullArray::new(700))),
        ("numbers", numbers),
        ("texts", texts),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for codec in [None, Some(CompressionType::LZ4_FRAME), Some(CompressionType::ZSTD)] {
        assert_eq!(passes(&batch, codec), [true, true], "{codec:?}");
        assert_eq!(passes(&batch.slice(13, 100), codec), [true, true], "{codec:?}");
    }
}

/// Zstandard could make a mebibyte of so many bytes, but 5000 numbers do not fill it.
#[test]
fn no_buffer_is_longer_than_its_rows() {
    let written = |stream| write(&batch(), stream, CompressionType::ZSTD);
    assert!(fits(claiming(written(false), 2 * 8 * ROWS)), "some are padded");
    assert!(!fits(claiming(written(false), 1 << 19)));
    assert!(Bounded::new(claiming(written(true), 1 << 19).as_slice()).read_to_end(&mut Vec::new()).is_err());
}

/// Three batches each.
#[test]
fn rows_without_bytes_are_counted() {
    let bare = |rows| RecordBatch::try_from_iter([("a", Arc::new(NullArray::new(rows)) as ArrayRef)]).unwrap();
    let most = BARE_ROWS as usize / 3;
    assert_eq!(passes(&bare(most), None), [true, true]);
    assert_eq!(passes(&bare(most + 1), None), [false, false]);
    assert_eq!(passes(&bare(1 << 62), None), [false, false]);
}

/// The reader looks for a message in its metadata and in all that follows.
#[test]
fn a_message_stands_in_its_metadata() {
    let bytes = written(false);
    let letters = bytes.len() - LETTERS;
    let footer = u32::from_le_bytes(*bytes[..letters].last_chunk().unwrap()) as usize;
    let footer = letters - 4 - footer..letters - 4;
    let block = *root_as_footer(&bytes[footer.clone()]).unwrap().recordBatches().unwrap().get(2);
    let place = footer.start + bytes[footer].windows(24).position(|window| window == block.0).unwrap();
    let mut shorter = bytes;
    // The length of the metadata stands behind the place of the block.
    shorter[place + 8..place + 12].copy_from_slice(&(block.metaDataLength() - 64).to_le_bytes());
    assert!(!fits(shorter));
}
