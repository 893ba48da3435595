//! placeholder
use super::place::Input;
use crate::error::Result;
/// x
pub fn skeleton(_: &Input) -> Result<String> {
    Ok(String::new())
}
/// x
pub fn skeleton_from_public_data(_: &Input) -> Result<String> {
    Ok(String::new())
}
