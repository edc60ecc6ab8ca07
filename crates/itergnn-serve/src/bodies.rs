//! Reading the body of a request, with an end to everything.

use std::time::Duration;

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;

use crate::error::ApiError;
use crate::routes::Shared;

/// Reads the whole body before anything else happens, so that no handler waits for a client.
pub(crate) async fn read_first(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let limits = &shared.limits;
    let (parts, body) = request.into_parts();
    match read(body, &parts.headers, limits.body_bytes, limits.body_time).await {
        Ok(bytes) => next.run(Request::from_parts(parts, Body::from(bytes))).await,
        Err(error) => error.into_response(),
    }
}

async fn read(body: Body, headers: &axum::http::HeaderMap, limit: usize, time: Duration) -> Result<Bytes, ApiError> {
    let too_large = || {
        let message = format!("a request has at most {} MiB", limit >> 20);
        ApiError::refused(StatusCode::PAYLOAD_TOO_LARGE, &message)
    };
    let declared = headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<usize>().ok());
    if declared.is_some_and(|declared| declared > limit) {
        return Err(too_large());
    }
    match tokio::time::timeout(time, to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if is_limit(&error) => Err(too_large()),
        Ok(Err(error)) => Err(ApiError::bad_request(format!("the request did not arrive whole: {error}"))),
        Err(_) => Err(ApiError::refused(StatusCode::REQUEST_TIMEOUT, "the request took too long to arrive")),
    }
}

/// Whether a body was longer than allowed, rather than broken.
fn is_limit(error: &axum::Error) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(current) = source {
        if current.to_string().contains("length limit") {
            return true;
        }
        source = current.source();
    }
    false
}

/// That a request says that it is JSON.
///
/// # Errors
/// 415 if it does not: a form of another site cannot say so.
pub(crate) fn expect_json(headers: &axum::http::HeaderMap) -> Result<(), ApiError> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.split(';').next().map(str::trim) != Some("application/json") {
        return Err(ApiError::refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send JSON, as application/json"));
    }
    Ok(())
}

/// The JSON of a request.
///
/// # Errors
/// As [`expect_json`]; 400 with the place of what is wrong.
pub(crate) fn json<T: DeserializeOwned>(headers: &axum::http::HeaderMap, bytes: &Bytes) -> Result<T, ApiError> {
    expect_json(headers)?;
    serde_json::from_slice(bytes).map_err(|error| ApiError::bad_request(format!("the request: {error}")))
}
