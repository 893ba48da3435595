//! Tables out of memory, as Arrow batches: the codes of files, the rows of files, and work that can be ended.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BinaryArray, Float64Array, Int32Array, LargeBinaryArray, RecordBatch, StringArray};
use arrow_schema::Fields;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sunprint::error::{Error, Kind};
use sunprint::fit::Fit;
use sunprint::model::Model;
use sunprint::plan::{Plan, budget};
use sunprint::run::{draw_batches, run, write_rows};
use sunprint::schema::Schema;
use sunprint::source::*;
use sunprint::tally::{FitName, KEY_BYTES, Marker, Pass};

const ROWS: usize = 40_000;

fn schema() -> Schema {
    let text = "[[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 99\n\
                [[column]]\nname = \"weight\"\nkind = \"continuous\"\nmin = 0\nmax = 250\nmissing = \"allow\"\n\
                [[column]]\nname = \"smokes\"\nkind = \"categorical\"\nvalues = [\"no\", \"yes\"]\nrole = \"label\"\n";
    Schema::parse(text, "people.toml").unwrap()
}

fn batch(rows: std::ops::Range<usize>) -> RecordBatch {
    let ages: Int32Array = rows.clone().map(|i| (i * 7 % 100) as i32).collect();
    let weights: Float64Array = rows.clone().map(|i| (i % 13 > 0).then(|| (i * 31 % 2500) as f64 / 10.0)).collect();
    let smokes: StringArray = rows.map(|i| Some(if i % 3 == 0 { "yes" } else { "no" })).collect();
    let columns: [(&str, ArrayRef); 3] =
        [("weight", Arc::new(weights)), ("smokes", Arc::new(smokes)), ("age", Arc::new(ages))];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn fields() -> Fields {
    batch(0..1).schema().fields().clone()
}

/// All rows, in batches that end anywhere.
fn batches() -> Batches {
    let cuts = [0, 1, 1, 20_000, 39_999, ROWS];
    let parts = cuts.windows(2).map(|cut| Ok(batch(cut[0]..cut[1]))).collect::<Vec<_>>();
    Batches::new(&fields(), &schema(), "the table", false, parts.into_iter()).unwrap()
}

/// The same rows as text.
fn file(folder: &std::path::Path) -> Input {
    let mut text = String::from("age,weight,smokes\n");
    for i in 0..ROWS {
        let weight = if i % 13 > 0 { format!("{}", (i * 31 % 2500) as f64 / 10.0) } else { String::new() };
        text += &format!("{},{weight},{}\n", i * 7 % 100, if i % 3 == 0 { "yes" } else { "no" });
    }
    let path = folder.join("people.csv");
    std::fs::write(&path, text).unwrap();
    Input::new(path, None)
}

fn passes(answer: impl Fn(&Pass) -> sunprint::tally::Tally) -> Vec<Vec<u8>> {
    let schema = schema();
    let mut fit =
        Fit::begin(&schema, Plan::default(), budget("1".parse().unwrap(), None).unwrap(), ROWS as u64).unwrap();
    let first = fit.next_pass().unwrap();
    // What is counted, without the name of the fit.
    let bytes = answer(&first.clone().of_fit(FitName::default(), first.schema)).to_secret_bytes();
    fit.absorb(answer(&first)).unwrap();
    // The second pass depends on the noise of the first, so that only the first is compared between fits.
    vec![bytes]
}

#[test]
fn batches_have_the_codes_of_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let (input, schema) = (file(folder.path()), schema());
    let table = Table::open(&input, &schema, &Silent).unwrap();
    let expected = passes(|pass| table.answer(pass, &Silent).unwrap());
    assert_eq!(passes(|pass| input.answer(&schema, pass, &Silent).unwrap()), expected);
    assert_eq!(passes(|pass| batches().answer(&schema, pass, &Silent).unwrap()), expected);
    let held = Table::of_batches(batches(), &schema, &Silent).unwrap();
    assert_eq!(passes(|pass| held.answer(pass, &Silent).unwrap()), expected);
    for (room, kept) in [(Room::unlimited(), Kept::Memory), (Room::of(1000), Kept::Spilled)] {
        let store = Store::of_batches(batches(), &schema, &room, &Silent).unwrap();
        assert_eq!((store.kept(), store.rows()), (kept, ROWS as u64));
        assert_eq!(passes(|pass| store.answer(pass, &Silent).unwrap()), expected);
    }
    // The control: one row fewer is another tally.
    let fewer = Batches::new(&fields(), &schema, "the table", false, [Ok(batch(1..ROWS))].into_iter()).unwrap();
    let first = Fit::begin(&schema, Plan::default(), budget("1".parse().unwrap(), None).unwrap(), 1).unwrap();
    let pass = first.next_pass().unwrap();
    let pass = pass.clone().of_fit(FitName::default(), pass.schema);
    assert_ne!(fewer.answer(&schema, &pass, &Silent).unwrap().to_secret_bytes(), expected[0]);
}

fn model() -> Model {
    let (schema, budget) = (schema(), budget("1".parse().unwrap(), None).unwrap());
    let table = Table::of_batches(batches(), &schema, &Silent).unwrap();
    let fit = Fit::begin(&schema, Plan::default(), budget, ROWS as u64).unwrap();
    run(fit, &table, &Silent).unwrap().with_layout(table.layout().clone())
}

#[test]
fn drawn_batches_are_the_rows_of_a_file() {
    let (folder, model) = (tempfile::tempdir().unwrap(), model());
    let maker = BatchMaker::new(model.schema(), &model.layout()).unwrap();
    let draw = model.draw(5_000, 3);
    let take = |blocks: std::ops::Range<u64>| {
        let mut taken = Vec::new();
        draw_batches(&draw, blocks, &maker, &Silent, |batch| {
            taken.push(batch);
            Ok(())
        })
        .unwrap();
        taken
    };
    let rows = |batches: &[RecordBatch]| batches.iter().map(RecordBatch::num_rows).sum::<usize>();
    let whole = take(0..u64::MAX);
    assert_eq!((rows(&whole), rows(&take(1..3)), rows(&take(4..9)), rows(&take(9..9))), (5_000, 2048, 904, 0));
    assert_eq!(
        maker.schema().fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>(),
        ["weight", "smokes", "age"]
    );

    // What was drawn and what was written give the same codes.
    let path = folder.path().join("drawn.parquet");
    let output = Output::new(&path, None);
    let mut table = TableWriter::create(&output, Format::Parquet, model.schema(), &model.layout()).unwrap();
    write_rows(&draw, &mut table, &Silent).unwrap();
    table.finish().unwrap();
    let pass = Fit::begin(model.schema(), Plan::default(), budget("1".parse().unwrap(), None).unwrap(), 5_000)
        .unwrap()
        .next_pass()
        .unwrap();
    let written = Input::new(&path, None).answer(model.schema(), &pass, &Silent).unwrap();
    let fields = maker.schema().fields().clone();
    let drawn = Batches::new(&fields, model.schema(), "drawn", false, whole.into_iter().map(Ok)).unwrap();
    assert!(drawn.answer(model.schema(), &pass, &Silent).unwrap() == written);
}

#[test]
fn other_columns_and_failing_readers_are_refused() {
    let schema = schema();
    let refused = |result: sunprint::error::Result<Batches>| result.err().unwrap().to_string();
    let narrow = batch(0..5).project(&[0, 2]).unwrap();
    let shape = Batches::new(narrow.schema().fields(), &schema, "the table", false, std::iter::empty());
    assert_eq!(refused(shape), "the table: column `smokes` of the schema is missing");

    let read = |second: sunprint::error::Result<RecordBatch>| {
        let parts = [Ok(batch(0..5)), second];
        let batches = Batches::new(&fields(), &schema, "the table", false, parts.into_iter()).unwrap();
        Table::of_batches(batches, &schema, &Silent).err().unwrap().to_string()
    };
    assert_eq!(read(Ok(narrow)), "the table: a batch has other columns than the first");
    assert_eq!(read(Err(Error::new(Kind::Data, "no more"))), "no more");
    let panics = std::iter::from_fn(|| -> Option<sunprint::error::Result<RecordBatch>> { panic!("a private value") });
    let batches = Batches::new(&fields(), &schema, "the table", false, panics).unwrap();
    let said = Table::of_batches(batches, &schema, &Silent).err().unwrap().to_string();
    assert_eq!(said, "the table: a batch of the table cannot be read");
    let none = Batches::new(&fields(), &schema, "the table", false, std::iter::empty()).unwrap();
    assert!(Store::of_batches(none, &schema, &Room::default(), &Silent).is_err());
}

/// Wants the work to end once so many rows have gone by.
struct Impatient {
    seen: AtomicU64,
    most: u64,
}

impl Progress for Impatient {
    fn start(&self, _: &str, _: Option<u64>, _: Unit) {}
    fn advance(&self, by: u64) {
        self.seen.fetch_add(by, Ordering::Relaxed);
    }
    fn done(&self) {}
    fn stopped(&self) -> bool {
        self.seen.load(Ordering::Relaxed) >= self.most
    }
}

/// Rows without an end are read to nobody's end, and every other job stops too.
#[test]
fn work_can_be_ended() {
    let (folder, schema, model) = (tempfile::tempdir().unwrap(), schema(), model());
    let impatient = |most| Impatient { seen: AtomicU64::new(0), most };
    let kind = |error: Option<Error>| error.unwrap().kind();
    let endless =
        || Batches::new(&fields(), &schema, "the table", false, std::iter::repeat_with(|| Ok(batch(0..9000))));
    assert_eq!(kind(Table::of_batches(endless().unwrap(), &schema, &impatient(30_000)).err()), Kind::Stopped);
    let store = Store::of_batches(endless().unwrap(), &schema, &Room::of(10_000), &impatient(30_000));
    assert_eq!(kind(store.err()), Kind::Stopped);
    assert_eq!(
        kind(Store::open(&file(folder.path()), &schema, &Room::unlimited(), &impatient(0)).err()),
        Kind::Stopped
    );

    let fit = Fit::begin(&schema, Plan::default(), budget("1".parse().unwrap(), None).unwrap(), ROWS as u64).unwrap();
    let pass = fit.next_pass().unwrap();
    for room in [Room::unlimited(), Room::of(1000)] {
        let store = Store::of_batches(batches(), &schema, &room, &Silent).unwrap();
        assert_eq!(kind(store.answer(&pass, &impatient(0)).err()), Kind::Stopped);
    }
    let again = Room { beyond: Some(Kept::ReadAgain), ..Room::of(1000) };
    let store = Store::open(&file(folder.path()), &schema, &again, &Silent).unwrap();
    assert_eq!(kind(store.answer(&pass, &impatient(0)).err()), Kind::Stopped, "and not that the file changed");

    let maker = BatchMaker::new(model.schema(), &model.layout()).unwrap();
    let drawn = draw_batches(&model.draw(u64::MAX >> 20, 1), 0..u64::MAX, &maker, &impatient(5_000), |_| Ok(()));
    assert_eq!(kind(drawn.err()), Kind::Stopped);
}

/// Rows with strata and without, with the cells of some.
fn split_and_whole() -> [(Schema, Vec<RecordBatch>); 2] {
    let cuts = [0, 1, 1, 20_000, 39_999, ROWS];
    let parts = || cuts.windows(2).map(|cut| batch(cut[0]..cut[1]));
    let plain = schema().to_toml().replace("role = \"label\"\n", "");
    let plain = Schema::parse(&plain, "plain.toml").unwrap();
    [(schema(), parts().collect()), (plain, parts().collect())]
}

/// What is kept of rows answers every pass as the rows do, with the same fingerprint, whatever the parts.
#[test]
fn cells_answer_like_their_rows() {
    let [split, plain] = split_and_whole();
    assert!(split.0.strata() > 1 && plain.0.strata() == 1);
    for (schema, parts) in [split, plain] {
        let batches = |parts: Vec<RecordBatch>| {
            Batches::new(&fields(), &schema, "the table", false, parts.into_iter().map(Ok)).unwrap()
        };
        let budget = budget("1".parse().unwrap(), None).unwrap();
        let mut fit = Fit::begin(&schema, Plan::default(), budget, ROWS as u64).unwrap();
        let marker = Marker::new(&[3; KEY_BYTES], schema.width());
        let seal = Seal::new(&[5; SEAL_BYTES], Purpose::Rows);
        // One row in a cell, some, and all of a chunk.
        let made = [1, 1000, usize::MAX].map(|bytes| {
            let cells = batches(parts.clone()).sealed_cells(&schema, &seal, bytes, &Silent).unwrap();
            cells.into_iter().map(|array| Arc::new(array) as ArrayRef).collect::<Vec<_>>()
        });
        let count = |cells: &[ArrayRef]| cells.iter().map(|array| array.len()).sum::<usize>();
        assert!(count(&made[0]) == ROWS && count(&made[1]) > ROWS / 1000 && count(&made[2]) < 20);
        let mut passes: Vec<Pass> = Vec::new();
        while let Some(pass) = fit.next_pass() {
            let (tally, _) = batches(parts.clone()).answer_marked(&schema, &pass, &marker, &Silent).unwrap();
            fit.absorb(tally).unwrap();
            passes.push(pass);
        }
        for pass in passes {
            let (tally, mark) = batches(parts.clone()).answer_marked(&schema, &pass, &marker, &Silent).unwrap();
            let whole = &made[1];
            let large = whole.iter().map(|array| Arc::new(LargeBinaryArray::from_iter(array.as_binary::<i32>())) as _);
            let cut = whole.iter().flat_map(|array| [array.slice(1, array.len() - 1), array.slice(0, 1)]);
            for form in [made[0].clone(), whole.clone(), made[2].clone(), large.collect(), cut.collect()] {
                let (found, seen) = answer_cells(form.into_iter().map(Ok), &pass, &seal, &marker, &Silent).unwrap();
                assert!(found.to_secret_bytes() == tally.to_secret_bytes(), "pass {}", pass.number);
                assert!(seen == mark, "pass {}", pass.number);
            }
        }
    }
}

#[test]
fn damaged_cells_are_refused() {
    for (schema, parts) in split_and_whole() {
        let budget = budget("1".parse().unwrap(), None).unwrap();
        let pass = Fit::begin(&schema, Plan::default(), budget, 3).unwrap().next_pass().unwrap();
        let marker = Marker::new(&[3; KEY_BYTES], schema.width());
        let seal = Seal::new(&[5; SEAL_BYTES], Purpose::Rows);
        let cells_of = |seal: &Seal| {
            let some = [Ok(parts[2].slice(0, 3))].into_iter();
            let some = Batches::new(&fields(), &schema, "the table", false, some).unwrap();
            some.sealed_cells(&schema, seal, 1, &Silent).unwrap().remove(0)
        };
        let cells = cells_of(&seal);
        let (one, two) = (cells.value(0), cells.value(1));
        let answer = |array: ArrayRef| answer_cells([Ok(array)].into_iter(), &pass, &seal, &marker, &Silent);
        assert!(answer(Arc::new(cells.clone())).is_ok());
        assert!(answer(Arc::new(cells.slice(0, 0))).is_ok_and(|(tally, _)| tally.rows() == 0));
        let row = 2 * schema.width() + if schema.strata() > 1 { 4 } else { 0 };
        // Sealed under the right key, and of no form that rows have.
        let forged = |text: &[u8]| Arc::new(BinaryArray::from_iter_values([seal.seal(text).unwrap()])) as ArrayRef;
        let mut damaged: Vec<ArrayRef> = vec![
            Arc::new(BinaryArray::from_iter([Some(one), None])),
            Arc::new(BinaryArray::from_iter_values([&one[1..], two])),
            Arc::new(BinaryArray::from_iter_values([&[one, &[0, 0]].concat(), two])),
            Arc::new(BinaryArray::from_iter_values([&[one, two].concat()])),
            Arc::new(BinaryArray::from_iter_values([b""])),
            Arc::new(Int32Array::from(vec![1])),
            Arc::new(cells_of(&Seal::new(&[6; SEAL_BYTES], Purpose::Rows))),
            Arc::new(cells_of(&Seal::new(&[5; SEAL_BYTES], Purpose::Tallies))),
            forged(&vec![0; row - 1]),
            forged(&vec![0; 2 * row + 1]),
        ];
        for place in 0..one.len() {
            let mut changed = one.to_vec();
            changed[place] ^= 0x10;
            damaged.push(Arc::new(BinaryArray::from_iter_values([&changed[..], two])));
            damaged.push(Arc::new(BinaryArray::from_iter_values([&one[..place], two])));
        }
        assert!(answer(forged(&vec![0; 2 * row])).is_ok_and(|(tally, _)| tally.rows() == 2), "the control");
        if schema.strata() > 1 {
            damaged.push(forged(&vec![9; row]));
        }
        for array in damaged {
            let error = answer(array).err().unwrap();
            assert_eq!(error.kind(), Kind::Protocol);
            assert_eq!(error.to_string(), "what was kept of the rows does not have their form");
        }
    }
}
