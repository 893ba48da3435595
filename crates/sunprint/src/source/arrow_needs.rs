//! How many bytes the rows of an Arrow batch can need, buffer by buffer.

use arrow_ipc::{FieldNode, MetadataVersion, RecordBatch};
use arrow_schema::{DataType, Field, Fields, UnionMode};

/// Some writers send a buffer as large as it has grown, padding and all.
const SPARE_TIMES: u64 = 4;
const SPARE_BYTES: u64 = 1 << 16;

/// The most bytes that each buffer of a batch can hold when it is unpacked, in the order of the buffers; `None` for the
/// bytes of texts, which rows do not bound. Nothing at all if the batch does not have the nodes and buffers that its
/// fields ask for.
pub(super) fn needs(batch: &RecordBatch<'_>, fields: &Fields, version: MetadataVersion) -> Option<Vec<Option<u64>>> {
    let most = batch.buffers().map_or(0, |buffers| buffers.len());
    let views = batch.variadicBufferCounts().into_iter().flatten();
    let mut walk = Walk { nodes: batch.nodes()?.iter(), views, version, most, needs: Vec::new() };
    fields.iter().try_for_each(|field| walk.enter(field))?;
    Some(walk.needs)
}

/// Fields in the order in which their nodes and buffers stand.
struct Walk<N, V> {
    nodes: N,
    views: V,
    version: MetadataVersion,
    most: usize,
    needs: Vec<Option<u64>>,
}

impl<'a, N: Iterator<Item = &'a FieldNode>, V: Iterator<Item = i64>> Walk<N, V> {
    fn buffer(&mut self, need: u64) -> Option<()> {
        self.push(Some(need.saturating_mul(SPARE_TIMES).saturating_add(SPARE_BYTES)))
    }

    fn push(&mut self, need: Option<u64>) -> Option<()> {
        self.needs.push(need);
        (self.needs.len() <= self.most).then_some(())
    }

    /// One bit for each row says whether there is a value.
    fn enter(&mut self, field: &Field) -> Option<()> {
        let rows = u64::try_from(self.nodes.next()?.length()).ok()?;
        let bits = rows.div_ceil(8);
        let ends = |bytes: u64| rows.saturating_add(1).saturating_mul(bytes);
        match field.data_type() {
            DataType::Null => Some(()),
            DataType::Boolean => self.buffer(bits).and_then(|()| self.buffer(bits)),
            DataType::Utf8 | DataType::Binary => self.text(bits, ends(4)),
            DataType::LargeUtf8 | DataType::LargeBinary => self.text(bits, ends(8)),
            DataType::Utf8View | DataType::BinaryView => {
                self.buffer(bits)?;
                self.buffer(rows.saturating_mul(16))?;
                let more = usize::try_from(self.views.next()?).ok()?;
                (0..more).try_for_each(|_| self.push(None))
            }
            DataType::List(inside) | DataType::Map(inside, _) => {
                self.buffer(bits)?;
                self.buffer(ends(4))?;
                self.enter(inside)
            }
            DataType::LargeList(inside) => {
                self.buffer(bits)?;
                self.buffer(ends(8))?;
                self.enter(inside)
            }
            DataType::ListView(inside) | DataType::LargeListView(inside) => {
                self.buffer(bits)?;
                self.buffer(ends(8))?;
                self.buffer(ends(8))?;
                self.enter(inside)
            }
            DataType::FixedSizeList(inside, _) => {
                self.buffer(bits)?;
                self.enter(inside)
            }
            DataType::Struct(inside) => {
                self.buffer(bits)?;
                inside.iter().try_for_each(|field| self.enter(field))
            }
            DataType::RunEndEncoded(ends, values) => {
                self.enter(ends)?;
                self.enter(values)
            }
            DataType::Union(inside, mode) => {
                if self.version < MetadataVersion::V5 {
                    self.buffer(bits)?;
                }
                self.buffer(rows)?;
                if *mode == UnionMode::Dense {
                    self.buffer(ends(4))?;
                }
                inside.iter().try_for_each(|(_, field)| self.enter(field))
            }
            DataType::Dictionary(keys, _) => self.plain(bits, rows, keys.primitive_width()?),
            DataType::FixedSizeBinary(width) => self.plain(bits, rows, usize::try_from(*width).ok()?),
            other => self.plain(bits, rows, other.primitive_width()?),
        }
    }

    fn text(&mut self, bits: u64, ends: u64) -> Option<()> {
        self.buffer(bits)?;
        self.buffer(ends)?;
        self.push(None)
    }

    fn plain(&mut self, bits: u64, rows: u64, width: usize) -> Option<()> {
        self.buffer(bits)?;
        self.buffer(rows.saturating_mul(width as u64))
    }
}
