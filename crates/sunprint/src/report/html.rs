//! A page as one HTML file.

use super::page::Page;
use crate::error::Result;

/// The page.
pub fn html(page: &Page) -> Result<String> {
    let json = super::to_json(page)?.replace('<', "\\u003c");
    Ok(format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<script type=\"application/json\" id=\"page\">{json}</script>\n"
    ))
}
