//! Exact integer statistics of the sensitive rows. No floating point in this room.

pub mod codes;
