//! Reproduction reports: the one inside the binary and those of a folder of runs.

use serde::Serialize;

use crate::assets;
use crate::error::ApiError;
use crate::runs::Runs;

/// The report that was current when the binary was built.
const BUILT_IN: &str = "this version of itergnn";

/// A report, as the list shows it.
#[derive(Debug, Serialize)]
pub(crate) struct ReportSummary {
    name: String,
}

/// Every report there is, the built-in one first.
pub(crate) fn list(runs: &Runs) -> Vec<ReportSummary> {
    let built_in = assets::report().map(|_| BUILT_IN.to_owned());
    let found = runs.reports().into_iter().map(|(name, _)| name);
    built_in.into_iter().chain(found).map(|name| ReportSummary { name }).collect()
}

/// The text of a report, HTML.
///
/// # Errors
/// 404 if there is none of that name.
pub(crate) fn read(runs: &Runs, name: &str) -> Result<String, ApiError> {
    if name == BUILT_IN {
        return assets::report().map(str::to_owned).ok_or_else(|| ApiError::not_found("report", name));
    }
    let found = runs.reports().into_iter().find(|(known, _)| known == name);
    let (_, file) = found.ok_or_else(|| ApiError::not_found("report", name))?;
    std::fs::read_to_string(file).map_err(ApiError::internal)
}
