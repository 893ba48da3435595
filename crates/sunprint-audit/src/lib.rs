//! What Sunprint is measured with: generated tables, distances, and the experiments behind every printed figure.

#![forbid(unsafe_code)]

pub mod experiment;
pub mod generate;
pub mod matching;
pub mod measure;
pub mod mechanisms;
pub mod privacy;
pub mod rows;
pub mod solve;
pub mod speed;
pub mod synthesise;
