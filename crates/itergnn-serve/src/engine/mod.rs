//! The only module that calls the library: models, graphs, walks, samples, files, games.
//!
//! Requests come in as plain data and answers go out as plain data; whatever the library refuses becomes one line for
//! whoever asked.

pub(crate) mod description;
pub(crate) mod files;
pub(crate) mod games;
pub(crate) mod paths;
pub(crate) mod samples;
pub(crate) mod scene;
mod views;

use std::path::Path;
use std::sync::Arc;

use itergnn::Model;
use itergnn::graph::formats::parse_sample;
use itergnn::nn::{Device, GnnConfig, RunOptions, store};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ApiError;

/// A model that is ready to be asked.
pub(crate) struct Loaded {
    pub(crate) model: Model,
}

/// Multiplications that one prediction may take: it cannot be interrupted, and this is seconds of one core with the
/// fused engine.
const WORK_OF_A_PREDICTION: f64 = 1e11;

/// The same for a trace, which goes operation by operation.
const WORK_OF_A_TRACE: f64 = 5e10;

/// Iterations beyond the number of nodes after which a model that was not asked for more is not going to stop.
const SPARE_ITERATIONS: usize = 200;

impl Loaded {
    /// The model of a file.
    pub(crate) fn from_file(path: &Path) -> Result<Self, ApiError> {
        Ok(Self { model: Model::load(path).map_err(ApiError::internal)? })
    }

    /// The model of a file's bytes.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Result<Self, ApiError> {
        let (network, card) = store::load_bytes(bytes, &Device::flex()).map_err(ApiError::internal)?;
        Ok(Self { model: Model::new(network, card) })
    }

    /// Most iterations on a graph: as many as were asked for, or a few more than there are nodes, which is as far as
    /// anything has to travel; and never more work than a request may take.
    fn iterations_within(&self, work: f64, nodes: usize, edges: usize, asked: Option<usize>) -> usize {
        let width = match self.model.config() {
            // These keep no matrices: a step is an addition per edge and channel, and only where something changed.
            GnnConfig::MaxPlus(_) | GnnConfig::Waves(_) | GnnConfig::OneTree(_) => 1,
            config => config.settings().hidden_width(),
        };
        let step = (nodes + edges).max(1) as f64 * (3 * width * width) as f64;
        let most = (work / step).max(1.0) as usize;
        asked.unwrap_or(nodes + SPARE_ITERATIONS).clamp(1, most)
    }
}

/// Who is asked about a graph. The graph stands beside these members, as `itergnn sample` writes it, and is the larger
/// part by far: its reader goes over the request, once, and hands on what it does not know.
#[derive(Debug, Deserialize)]
struct PredictRequest {
    model: String,
    #[serde(default)]
    max_iterations: Option<usize>,
}

/// What a model predicts.
#[derive(Debug, Serialize)]
pub(crate) struct PredictAnswer {
    /// One number per output; for node-level models one row per node.
    prediction: Value,
    iterations: usize,
    /// Whether a limit, not the model, ended the loop.
    capped: bool,
}

/// What a model says about a graph.
pub(crate) fn predict(
    find: &dyn Fn(&str) -> Result<Arc<Loaded>, ApiError>,
    body: &[u8],
) -> Result<PredictAnswer, ApiError> {
    let wrong = |error: serde_json::Error| ApiError::bad_request(format!("the request: {error}"));
    if body.trim_ascii().contains(&b'\n') {
        // The reader takes a first line that is an object for the whole; a request with more than one is refused.
        serde_json::from_slice::<IgnoredAny>(body).map_err(wrong)?;
    }
    let mut record = parse_sample(body, "the request").map_err(ApiError::bad_request)?;
    let request: PredictRequest =
        serde_json::from_value(Value::Object(std::mem::take(&mut record.fields))).map_err(wrong)?;
    let loaded = find(&request.model)?;
    let graph = record.graph().map_err(ApiError::bad_request)?;
    let cap = loaded.iterations_within(WORK_OF_A_PREDICTION, graph.nodes(), graph.edges(), request.max_iterations);
    let answer = loaded.model.predict_with(&graph, &RunOptions::inference().with_cap(cap));
    let answer = answer.map_err(ApiError::bad_request)?;
    let prediction = match &answer.values[..] {
        [only] => serde_json::json!(only),
        rows => serde_json::json!(rows),
    };
    Ok(PredictAnswer { prediction, iterations: answer.iterations, capped: answer.capped })
}
