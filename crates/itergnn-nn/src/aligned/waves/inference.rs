//! Predictions on the host.

use burn::tensor::{Tensor, TensorData};
use itergnn_kernels::block::Stops;

use super::features::Observed;
use super::model::WaveModel;
use super::tree::Tree;
use crate::aligned::parameter::host;
use crate::controllers::{ControllerOutput, RunOptions, Scope};
use crate::fused::EngineUse;
use crate::{GraphTensors, ModelOutput};

impl WaveModel {
    /// The head as it is now.
    pub(super) fn tree(&self) -> Tree {
        let config = &self.config;
        let rows = |numbers: Vec<f64>, width: usize| numbers.chunks_exact(width).map(<[f64]>::to_vec).collect();
        Tree {
            depth: config.depth,
            outputs: config.output_width,
            tests: rows(host(&self.tests), config.feature_width() + config.channels),
            maps: rows(host(&self.maps), config.feature_width() * config.output_width),
        }
    }
}

/// Lets the waves run and reads them.
pub(super) fn infer(model: &WaveModel, graph: &GraphTensors, options: &RunOptions) -> ModelOutput {
    let (config, start, tree) = (&model.config, host(&model.start), model.tree());
    let (hard, gain) = model.stage();
    let observed = Observed::new(config, &start, graph, options.cap, options.trace);
    let rows = observed.rows(config, &start, graph);
    let predict = |(features, origins): (&Vec<f64>, &Vec<f64>)| {
        if hard { tree.predict(features, origins) } else { tree.predict_softly(features, origins, gain) }
    };
    let values: Vec<f64> = rows.features.iter().zip(&rows.origins).flat_map(predict).collect();
    let device = graph.device();
    let values = Tensor::from_data(TensorData::new(values, [rows.features.len(), config.output_width]), &device);
    let block = report(observed, graph);
    ModelOutput { values, hidden: Some(block.hidden.clone()), blocks: vec![block], auxiliary_loss: None }
}

/// Steps of the waves, and how far each came as the state of a node.
pub(super) fn report(observed: Observed, graph: &GraphTensors) -> ControllerOutput {
    let channels = observed.waves.len();
    let came = (0..graph.nodes() * channels)
        .map(|at| f64::from(observed.waves[at % channels].steps[at / channels]))
        .collect::<Vec<f64>>();
    let hidden = Tensor::from_data(TensorData::new(came, [graph.nodes(), channels]), &graph.device());
    let stopped: Vec<f64> = observed.capped.iter().map(|&capped| f64::from(u8::from(!capped))).collect();
    ControllerOutput {
        hidden,
        scope: Scope::Graph,
        stops: Stops {
            steps: observed.steps,
            remaining: stopped.iter().map(|stopped| 1.0 - stopped).collect(),
            confidences: stopped,
            capped: observed.capped,
            ..Stops::before_the_first(graph.graphs())
        },
        auxiliary_loss: None,
        trace: observed.trace,
        engine: EngineUse::plain(),
    }
}
