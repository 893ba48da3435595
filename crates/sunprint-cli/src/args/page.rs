//! The page that shows everything.

use std::path::PathBuf;

use clap::Args;

/// One page, and the numbers on it.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Output")]
pub struct PageArgs {
    /// Write one HTML page that may be published with the release: what it says, and how sure that is
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// Write every number of that page as JSON
    #[arg(long, value_name = "FILE")]
    pub report_json: Option<PathBuf>,
}

impl PageArgs {
    /// Whether a page is wanted in any form.
    pub fn wanted(&self) -> bool {
        self.report.is_some() || self.report_json.is_some()
    }

    /// The options that name files to write, and those files.
    pub fn outputs(&self) -> Vec<(&'static str, &std::path::Path)> {
        let report = self.report.as_deref().map(|path| ("--report", path));
        report.into_iter().chain(self.report_json.as_deref().map(|path| ("--report-json", path))).collect()
    }
}
