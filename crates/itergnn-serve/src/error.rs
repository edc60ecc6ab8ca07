//! What goes wrong: at the start of a server, and in the answer to a request.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Why a server does not start, or stopped.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another port with --port")]
    Bind {
        /// The address.
        address: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// An address that others can reach, without a token.
    #[error("{0} can be reached from other machines: give a token of at least 16 characters with --token")]
    TokenNeeded(std::net::IpAddr),
    /// A token that cannot be sent in a header or is easily guessed.
    #[error("a token has at least 16 characters, all of them letters, digits, '-' or '_'")]
    BadToken,
    /// A folder that is not there.
    #[error("{what} {path}: there is no such folder")]
    NoFolder {
        /// What it should hold.
        what: &'static str,
        /// As it was given.
        path: String,
    },
    /// The system refuses threads or sockets.
    #[error("the server cannot run: {0}")]
    System(#[from] std::io::Error),
}

/// Why a request gets no answer: a status and one line for whoever asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ApiError {
    pub(crate) status: StatusCode,
    pub(crate) message: String,
}

impl ApiError {
    fn new(status: StatusCode, message: impl ToString) -> Self {
        // One line, whatever a library put into its message.
        let message = message.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        Self { status, message }
    }

    /// The request makes no sense.
    pub(crate) fn bad_request(message: impl ToString) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// There is nothing of that name.
    pub(crate) fn not_found(what: &str, name: &str) -> Self {
        let name: String = name.chars().take(80).collect();
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what} named \"{name}\""))
    }

    /// The request is not allowed to ask.
    pub(crate) fn refused(status: StatusCode, message: &str) -> Self {
        Self::new(status, message)
    }

    /// Everybody is busy.
    pub(crate) fn busy(message: &str) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, message)
    }

    /// The answer took too long.
    pub(crate) fn too_slow() -> Self {
        Self::busy("this took longer than a request may; try a smaller graph or fewer iterations")
    }

    /// A fault of ours.
    pub(crate) fn internal(message: impl ToString) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let body = serde_json::json!({ "error": self.message }).to_string();
        let mut response = (self.status, [(header::CONTENT_TYPE, "application/json")], body).into_response();
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response
    }
}
