//! Batches of one table with other types than the first: values are read as what they are.

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::*;
use arrow_buffer::i256;
use arrow_schema::{DataType, Field, UnionFields};
use std::sync::Arc;
use sunprint::fit::Fit;
use sunprint::plan::{Plan, budget};
use sunprint::schema::Schema;
use sunprint::source::{Batches, PhysicalType, Silent, Table};

fn schema() -> Schema {
    let text = "[[column]]\nname = \"age\"\nkind = \"integer\"\nmin = 0\nmax = 99\n\
                [[column]]\nname = \"weight\"\nkind = \"continuous\"\nmin = 0\nmax = 250\nmissing = \"allow\"\n\
                [[column]]\nname = \"smokes\"\nkind = \"categorical\"\nvalues = [\"no\", \"yes\"]\nrole = \"label\"\n";
    Schema::parse(text, "people.toml").unwrap()
}

/// The types of a batch may come from its values. A value goes through the door as what it is.
#[test]
fn batches_may_have_other_types_than_the_first() {
    let schema = schema();
    let first: [ArrayRef; 3] = [
        Arc::new(Float64Array::from(vec![1.0, 2.0])),
        Arc::new(StringArray::from(vec!["yes", "no"])),
        Arc::new(Int32Array::from(vec![10, 20])),
    ];
    let budget = budget("1".parse().unwrap(), None).unwrap();
    let pass = Fit::begin(&schema, Plan::default(), budget, 5).unwrap().next_pass().unwrap();
    let named =
        |columns: [ArrayRef; 3]| RecordBatch::try_from_iter(["weight", "smokes", "age"].into_iter().zip(columns));
    let told = |later: [ArrayRef; 3]| {
        let first_batch = named(first.clone()).unwrap();
        let parts = [Ok(first_batch.clone()), Ok(named(later).unwrap())];
        let batches =
            Batches::new(first_batch.schema().fields(), &schema, "the table", false, parts.into_iter()).unwrap();
        let layout = batches.layout().clone();
        let table = Table::of_batches(batches, &schema, &Silent).unwrap();
        assert_eq!(table.layout(), &layout, "the layout is that of the first batch");
        assert_eq!(
            layout.columns.iter().map(|column| column.physical).collect::<Vec<_>>(),
            [PhysicalType::Float64, PhysicalType::Utf8, PhysicalType::Int32]
        );
        table.answer(&pass, &Silent).unwrap().to_secret_bytes()
    };
    let words = || vec![Some("yes"), None, Some("?")];
    let expected = told([
        Arc::new(Float64Array::from(vec![Some(3.0), None, None])),
        Arc::new(StringArray::from(words())),
        Arc::new(Int32Array::from(vec![Some(5), Some(50), None])),
    ]);
    let weights: Vec<ArrayRef> = vec![
        Arc::new(Int64Array::from(vec![Some(3), None, None])),
        Arc::new(StringArray::from(vec!["3.0", "", "three"])),
        Arc::new(Float32Array::from(vec![3.0, f32::NAN, f32::NAN])),
        Arc::new(Decimal32Array::from(vec![Some(30), None, None]).with_precision_and_scale(5, 1).unwrap()),
        Arc::new(Decimal64Array::from(vec![Some(30), None, None]).with_precision_and_scale(9, 1).unwrap()),
        Arc::new(Decimal128Array::from(vec![Some(300), None, None]).with_precision_and_scale(9, 2).unwrap()),
        Arc::new(decimal_256([Some(3), None, None])),
        mixed(vec![Some(Ok(3)), None, Some(Err("?"))]),
    ];
    let smokes: Vec<ArrayRef> = vec![
        Arc::new(LargeStringArray::from(words())),
        Arc::new(StringViewArray::from(words())),
        Arc::new(words().into_iter().collect::<DictionaryArray<Int8Type>>()),
        Arc::new(BinaryArray::from(words().into_iter().map(|word| word.map(str::as_bytes)).collect::<Vec<_>>())),
        Arc::new(LargeBinaryArray::from(vec![Some(b"yes".as_slice()), None, Some(b"\xff")])),
        Arc::new(BinaryViewArray::from(vec![Some(b"yes".as_slice()), None, Some(b"\xc3")])),
        Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
        mixed(vec![Some(Err("yes")), None, Some(Ok(7))]),
    ];
    let ages: Vec<ArrayRef> = vec![
        Arc::new(Float64Array::from(vec![5.0, 50.0, f64::NAN])),
        Arc::new(UInt8Array::from(vec![Some(5), Some(50), None])),
        Arc::new(StringArray::from(vec!["5", "50.0", "fifty"])),
        mixed(vec![Some(Ok(5)), Some(Err("50")), Some(Err("x"))]),
    ];
    for i in 0..8 {
        let later = [&weights[i], &smokes[i], &ages[i % ages.len()]].map(Arc::clone);
        let types = later.each_ref().map(|array| array.data_type().to_string());
        assert!(told(later) == expected, "{types:?}");
    }
    // The control, and types whose values cannot be read: these are what cannot be read.
    let none: [ArrayRef; 3] =
        [Arc::new(NullArray::new(3)), Arc::new(NullArray::new(3)), Arc::new(DurationSecondArray::from(vec![1, 2, 3]))];
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)]), None, Some([None])]);
    let other: [ArrayRef; 3] = [
        Arc::new(Time32SecondArray::from(vec![1, 2, 3])),
        Arc::new(lists),
        Arc::new(FixedSizeBinaryArray::try_from_iter([b"1", b"2", b"3"].into_iter()).unwrap()),
    ];
    let unread = told([
        Arc::new(Float64Array::from(vec![None::<f64>; 3])),
        Arc::new(StringArray::from(vec!["?"; 3])),
        Arc::new(Int32Array::from(vec![None::<i32>; 3])),
    ]);
    assert!(unread != expected);
    assert!(told(none) == unread && told(other) == unread);
}

fn decimal_256(values: [Option<i64>; 3]) -> Decimal256Array {
    // 10^40: more than 128 bits hold.
    let unit = (0..40).fold(i256::ONE, |unit, _| unit * i256::from(10));
    let values = values.map(|value| value.map(|value| i256::from(value) * unit));
    values.into_iter().collect::<Decimal256Array>().with_precision_and_scale(60, 40).unwrap()
}

/// Whole numbers and texts in one column.
fn mixed(values: Vec<Option<std::result::Result<i64, &str>>>) -> ArrayRef {
    let wholes: Int64Array = values.iter().filter_map(|value| value.and_then(Result::ok)).map(Some).collect();
    let texts: Vec<Option<&str>> =
        values.iter().filter(|value| !matches!(value, Some(Ok(_)))).map(|value| value.and_then(Result::err)).collect();
    let (mut kinds, mut places, mut counts) = (Vec::new(), Vec::new(), [0, 0]);
    for value in &values {
        let kind = i8::from(!matches!(value, Some(Ok(_))));
        kinds.push(kind);
        places.push(counts[kind as usize]);
        counts[kind as usize] += 1;
    }
    let children: Vec<ArrayRef> = vec![Arc::new(wholes), Arc::new(StringArray::from(texts))];
    let fields =
        [("whole", DataType::Int64), ("text", DataType::Utf8)].map(|(name, kind)| Field::new(name, kind, true));
    let fields = UnionFields::try_new([0, 1], fields).unwrap();
    Arc::new(UnionArray::try_new(fields, kinds.into(), Some(places.into()), children).unwrap())
}
