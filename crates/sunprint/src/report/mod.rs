//! One page that shows how good a synthetic table is, and one that shows what was released.

pub mod html;
pub mod page;
