//! Who may ask.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::error::ApiError;
use crate::routes::Shared;

/// The cookie that carries the token for the page's own requests.
const COOKIE: &str = "itergnn-token";

/// Nothing but the server itself may be loaded, and the page may only be framed by itself.
const POLICY: &str = "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; \
                      connect-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'; object-src 'none'";

/// Lets a request through or answers for the server, and says to the browser what a page from here may do.
pub(crate) async fn check(State(shared): State<Shared>, request: Request, next: Next) -> Response {
    let verdict = admit(shared.token.as_deref(), request.method(), request.uri(), request.headers());
    let mut response = match verdict {
        Ok(Admission::Welcome) => next.run(request).await,
        Ok(Admission::Remember(token)) => remember(&token),
        Err(error) => error.into_response(),
    };
    let headers = response.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[derive(Debug, PartialEq)]
enum Admission {
    Welcome,
    /// The token came in the address of the page: keep it in a cookie and take it out of the address.
    Remember(String),
}

fn admit(token: Option<&str>, method: &Method, uri: &Uri, headers: &HeaderMap) -> Result<Admission, ApiError> {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(header::HOST).or_else(|| uri.authority().map(axum::http::uri::Authority::as_str));
    if method != Method::GET && method != Method::HEAD {
        // A page of another site may not send anything, whatever its visitor's browser would allow.
        let same = |origin: &str| origin.split_once("://").map(|(_, rest)| Some(rest) == host) == Some(true);
        if text(header::ORIGIN).is_some_and(|origin| !same(origin)) {
            return Err(ApiError::refused(StatusCode::FORBIDDEN, "requests of other sites are not answered"));
        }
    }
    let Some(token) = token else {
        // A name that someone else's server points at this machine must not open it to their page.
        return match host.is_some_and(is_loopback) {
            true => Ok(Admission::Welcome),
            false => Err(ApiError::refused(StatusCode::FORBIDDEN, "ask for localhost or 127.0.0.1")),
        };
    };
    let bearer = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
    let cookies = text(header::COOKIE).unwrap_or_default().split("; ");
    let cookie = cookies.filter_map(|pair| pair.split_once('=')).find(|(name, _)| *name == COOKIE).map(|pair| pair.1);
    if [bearer, cookie].into_iter().flatten().any(|given| same_token(given, token)) {
        return Ok(Admission::Welcome);
    }
    let pairs = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    match pairs.into_iter().find(|(name, given)| *name == "token" && same_token(given, token)) {
        Some((_, given)) if uri.path() == "/" => Ok(Admission::Remember(given.to_owned())),
        Some(_) => Ok(Admission::Welcome),
        None => {
            let message = "this server wants a token: as the header \"Authorization: Bearer ..\" or as /?token=..";
            Err(ApiError::refused(StatusCode::UNAUTHORIZED, message))
        }
    }
}

fn remember(token: &str) -> Response {
    let cookie = format!("{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/");
    let headers = [(header::SET_COOKIE, cookie), (header::LOCATION, "/".to_owned())];
    (StatusCode::SEE_OTHER, headers).into_response()
}

/// Whether a `Host` names this machine itself, with any port.
fn is_loopback(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    name.eq_ignore_ascii_case("localhost") || name.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

/// Compares in a time that tells nothing about where two tokens differ.
fn same_token(given: &str, token: &str) -> bool {
    let (given, token) = (given.as_bytes(), token.as_bytes());
    let differences = token
        .iter()
        .enumerate()
        .fold(0, |differences, (index, byte)| differences | (byte ^ given.get(index).copied().unwrap_or(!byte)));
    std::hint::black_box(differences) == 0 && given.len() == token.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    fn ask(
        token: Option<&str>,
        method: Method,
        uri: &str,
        headers: &[(header::HeaderName, &str)],
    ) -> Result<Admission, u16> {
        let headers = headers.iter().map(|(name, value)| (name.clone(), HeaderValue::from_str(value).unwrap()));
        admit(token, &method, &uri.parse().unwrap(), &headers.collect()).map_err(|error| error.status.as_u16())
    }

    #[test]
    fn without_a_token_only_loopback_names_are_answered() {
        for host in ["localhost", "localhost:7878", "127.0.0.1:1", "[::1]:80", "LocalHost"] {
            assert_eq!(ask(None, Method::GET, "/", &[(header::HOST, host)]), Ok(Admission::Welcome), "{host}");
        }
        for host in ["example.org", "10.0.0.1:7878", "localhost.example.org", "[::2]", ""] {
            assert_eq!(ask(None, Method::GET, "/", &[(header::HOST, host)]), Err(403), "{host}");
        }
        assert_eq!(ask(None, Method::GET, "/", &[]), Err(403));
    }

    #[test]
    fn other_sites_cannot_post() {
        let host = (header::HOST, "localhost:7878");
        let from = |origin| ask(None, Method::POST, "/api/solve", &[host.clone(), (header::ORIGIN, origin)]);
        assert_eq!(from("http://localhost:7878"), Ok(Admission::Welcome));
        assert_eq!(
            (from("http://example.org"), from("null"), from("http://localhost:1")),
            (Err(403), Err(403), Err(403))
        );
    }

    #[test]
    fn a_token_opens_by_header_cookie_or_address() {
        let host = (header::HOST, "10.0.0.1:7878");
        let with = |uri: &str, extra: &[(header::HeaderName, &str)]| {
            ask(Some(TOKEN), Method::GET, uri, &[std::slice::from_ref(&host), extra].concat())
        };
        assert_eq!(with("/", &[]), Err(401));
        assert_eq!(with("/", &[(header::AUTHORIZATION, "Bearer 0123456789abcdef")]), Ok(Admission::Welcome));
        assert_eq!(with("/", &[(header::AUTHORIZATION, "Bearer 0123456789abcdeF")]), Err(401));
        assert_eq!(with("/", &[(header::AUTHORIZATION, "Bearer 0123456789abcdef0")]), Err(401));
        assert_eq!(with("/", &[(header::COOKIE, "a=b; itergnn-token=0123456789abcdef")]), Ok(Admission::Welcome));
        assert_eq!(with("/?token=0123456789abcdef", &[]), Ok(Admission::Remember(TOKEN.to_owned())));
        assert_eq!(with("/api/models?token=0123456789abcdef", &[]), Ok(Admission::Welcome));
        assert_eq!(with("/?token=", &[]), Err(401));
    }
}
