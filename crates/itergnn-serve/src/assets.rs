//! Files inside the binary: the page, the trained models with their cards, the reproduction report.

use axum::http::{StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;

/// A file inside the binary.
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) bytes: &'static [u8],
}

// PAGE, MODELS, CARDS and REPORT, made by build.rs from the folders of the repository.
include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// The reproduction report, if the binary was built with one.
pub(crate) fn report() -> Option<&'static str> {
    REPORT.first().and_then(|asset| std::str::from_utf8(asset.bytes).ok())
}

/// A file of the page.
pub(crate) async fn answer(uri: Uri) -> Response {
    let wanted = match uri.path() {
        "/" => "index.html",
        path => path.trim_start_matches('/'),
    };
    match PAGE.iter().find(|asset| asset.name == wanted) {
        Some(asset) => (StatusCode::OK, [(header::CONTENT_TYPE, kind(asset.name))], asset.bytes).into_response(),
        None => ApiError::not_found("page", wanted).into_response(),
    }
}

fn kind(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_and_its_scripts_are_inside() {
        let text = |name: &str| {
            let asset = PAGE.iter().find(|asset| asset.name == name).expect(name);
            std::str::from_utf8(asset.bytes).unwrap()
        };
        let index = text("index.html");
        for name in ["main.js", "style.css"] {
            assert!(index.contains(&format!("/{name}")), "index.html loads {name}");
            assert!(!text(name).is_empty());
        }
        assert!(!MODELS.is_empty());
    }

    /// Works offline: no file of the page names another machine.
    #[test]
    fn the_page_names_no_other_server() {
        for asset in PAGE {
            let text = String::from_utf8_lossy(asset.bytes);
            let foreign = text.match_indices("://").find(|(at, _)| !text[*at..].starts_with("://www.w3.org/"));
            assert!(foreign.is_none(), "{} names a server at byte {}", asset.name, foreign.map_or(0, |found| found.0));
        }
    }
}
