//! Every route, its handler, and what they share.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use tokio::sync::{Semaphore, watch};

use crate::bodies::{expect_json, json};
use crate::catalogue::Catalogue;
use crate::engine::{self, files, games, paths, samples};
use crate::error::ApiError;
use crate::options::Limits;
use crate::pool::{Deadline, Pool};
use crate::runs::Runs;
use crate::{assets, bodies, guard, reports, stream};

/// What all requests share.
pub(crate) struct AppState {
    pub(crate) token: Option<String>,
    pub(crate) pool: Pool,
    pub(crate) catalogue: Catalogue,
    pub(crate) runs: Runs,
    pub(crate) watchers: Arc<Semaphore>,
    pub(crate) stop: watch::Receiver<bool>,
    pub(crate) limits: Limits,
}

pub(crate) type Shared = Arc<AppState>;

/// A route of the JSON interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Route {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// The path; a part in braces is a name.
    pub path: &'static str,
    /// Its name in the OpenAPI description, which says the rest.
    pub operation: &'static str,
}

const fn route(method: &'static str, path: &'static str, operation: &'static str) -> Route {
    Route { method, path, operation }
}

/// Every route of the JSON interface; the server is made of this table, and a test compares it with the OpenAPI
/// description.
pub const ROUTES: &[Route] = &[
    route("GET", "/api/openapi.json", "openapi"),
    route("GET", "/api/models", "models"),
    route("GET", "/api/models/{name}/card", "card"),
    route("POST", "/api/predict", "predict"),
    route("POST", "/api/solve", "solve"),
    route("POST", "/api/trace", "trace"),
    route("POST", "/api/sample", "sample"),
    route("POST", "/api/read", "read"),
    route("POST", "/api/pacman/game", "pacmanGame"),
    route("POST", "/api/pacman/play", "pacmanPlay"),
    route("GET", "/api/runs", "runs"),
    route("GET", "/api/runs/{name}", "run"),
    route("GET", "/api/runs/{name}/metrics", "metrics"),
    route("GET", "/api/reports", "reports"),
    route("GET", "/api/reports/{name}", "report"),
];

/// The OpenAPI description.
pub(crate) const OPENAPI: &str = include_str!("openapi.json");

/// The handler of an operation of [`ROUTES`].
fn handler(operation: &str) -> MethodRouter<Shared> {
    match operation {
        "openapi" => get(|| async { ([(header::CONTENT_TYPE, "application/json")], OPENAPI) }),
        "models" => get(models),
        "card" => get(card),
        "predict" => post(predict),
        "solve" => post(solve),
        "trace" => post(trace),
        "sample" => post(sample),
        "read" => post(read),
        "pacmanGame" => post(pacman_game),
        "pacmanPlay" => post(pacman_play),
        "runs" => get(runs),
        "run" => get(run),
        "metrics" => get(metrics),
        "reports" => get(list_reports),
        "report" => get(report),
        _ => unreachable!("every operation of ROUTES has a handler: {operation}"),
    }
}

/// The whole service: the interface, the page, and the checks before both.
pub(crate) fn router(shared: Shared) -> Router {
    let interface =
        ROUTES.iter().fold(Router::new(), |router, route| router.route(route.path, handler(route.operation)));
    interface
        .fallback(assets::answer)
        .layer(from_fn_with_state(Arc::clone(&shared), bodies::read_first))
        .layer(from_fn_with_state(Arc::clone(&shared), guard::check))
        .with_state(shared)
}

type Answer = Result<Response, ApiError>;

/// Computes an answer on the pool and writes it there, too: the JSON of a trace has megabytes.
async fn compute<T: Serialize>(
    shared: &Shared,
    work: impl FnOnce(&AppState, &Deadline) -> Result<T, ApiError> + Send + 'static,
) -> Answer {
    let state = Arc::clone(shared);
    let text = move |deadline: &Deadline| serde_json::to_vec(&work(&state, deadline)?).map_err(ApiError::internal);
    let bytes = shared.pool.run(shared.limits.answer_time, text).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], bytes).into_response())
}

async fn models(State(shared): State<Shared>) -> Answer {
    compute(&shared, |state, _| Ok(state.catalogue.list())).await
}

async fn card(State(shared): State<Shared>, Path(name): Path<String>) -> Answer {
    compute(&shared, move |state, _| state.catalogue.card(&name)).await
}

/// The same for a request in JSON, which is read there, too: a graph has megabytes.
async fn compute_json<R: DeserializeOwned, T: Serialize>(
    shared: &Shared,
    headers: HeaderMap,
    body: Bytes,
    work: impl FnOnce(&AppState, &R, &Deadline) -> Result<T, ApiError> + Send + 'static,
) -> Answer {
    compute(shared, move |state, deadline| work(state, &json(&headers, &body)?, deadline)).await
}

async fn predict(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Answer {
    compute(&shared, move |state, _| {
        expect_json(&headers)?;
        engine::predict(&|name: &str| state.catalogue.find(name), &body)
    })
    .await
}

async fn solve(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Answer {
    compute_json(&shared, headers, body, |state, request: &paths::PathRequest, deadline| {
        paths::solve(&*state.catalogue.find(&request.model)?, request, deadline)
    })
    .await
}

async fn trace(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Answer {
    compute_json(&shared, headers, body, |state, request: &paths::PathRequest, deadline| {
        paths::trace(&*state.catalogue.find(&request.model)?, request, deadline)
    })
    .await
}

async fn sample(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Answer {
    compute_json(&shared, headers, body, |_, request, _| samples::draw(request)).await
}

#[derive(Deserialize)]
struct FileName {
    name: String,
}

async fn read(State(shared): State<Shared>, Query(file): Query<FileName>, body: Bytes) -> Answer {
    compute(&shared, move |_, _| files::read(&file.name, &body)).await
}

async fn pacman_game(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Answer {
    compute_json(&shared, headers, body, |_, request, _| games::draw(request)).await
}

async fn pacman_play(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Answer {
    compute_json(&shared, headers, body, |state, request, deadline| {
        games::play(request, &|name: &str| state.catalogue.find(name), deadline)
    })
    .await
}

async fn runs(State(shared): State<Shared>) -> Answer {
    compute(&shared, |state, _| Ok(state.runs.list())).await
}

async fn run(State(shared): State<Shared>, Path(name): Path<String>) -> Answer {
    compute(&shared, move |state, _| state.runs.details(&name)).await
}

#[derive(Deserialize)]
struct Follow {
    /// Whether to wait for more lines at the end of the file.
    #[serde(default = "yes")]
    follow: bool,
}

fn yes() -> bool {
    true
}

async fn metrics(
    State(shared): State<Shared>,
    Path(name): Path<String>,
    Query(query): Query<Follow>,
    headers: HeaderMap,
) -> Answer {
    let state = Arc::clone(&shared);
    let find = move |_: &Deadline| state.runs.metrics_file(&name);
    let file = shared.pool.run(shared.limits.answer_time, find).await?;
    let seat = Arc::clone(&shared.watchers).try_acquire_owned();
    let seat = seat.map_err(|_| ApiError::busy("too many pages watch runs; close one and try again"))?;
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok()).unwrap_or(0);
    Ok(stream::follow(file, last, query.follow, shared.stop.clone(), seat))
}

async fn list_reports(State(shared): State<Shared>) -> Answer {
    compute(&shared, |state, _| Ok(reports::list(&state.runs))).await
}

async fn report(State(shared): State<Shared>, Path(name): Path<String>) -> Answer {
    let state = Arc::clone(&shared);
    let text = shared.pool.run(shared.limits.answer_time, move |_| reports::read(&state.runs, &name)).await?;
    // A report is a document from a folder: it may look like anything and do nothing.
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"),
    ];
    Ok((StatusCode::OK, headers, text).into_response())
}
