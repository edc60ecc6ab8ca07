//! A value network that learns.

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use itergnn_nn::{GnnConfig, GnnModel, InitRng, NamedTensor, named_tensors, replace_tensors};
use itergnn_tasks::pacman::{Action, Symmetry};
use std::collections::BTreeMap;

use super::view::{ViewBatch, best_of, learning_options};
use super::{AgentConfig, GameView, Transition};
use crate::TrainError;
use crate::config::OptimiserConfig;
use crate::learning::{HostGradients, LearnerState, Optimiser, check_names};

/// A value network, its target network and its optimiser.
///
/// For a transition (s, a, r, g, s') with the discount g the network's output for a is drawn towards
/// ```text
/// output(r + g value(target(s')[b])),   b = argmax network(s')
/// ```
/// by the loss of the scale; see [`ValueScale`](super::ValueScale) for output, value and loss. This is double DQN (van
/// Hasselt, Guez and Silver 2016); with `double = false`, b is the best move of the target network.
pub struct ValueLearner {
    online: GnnModel,
    target: GnnModel,
    optimiser: Optimiser,
    agent: AgentConfig,
    device: Device,
}

/// What one update saw.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueStep {
    /// The loss before the update.
    pub loss: f64,
    /// What the controllers add to it.
    pub auxiliary_loss: f64,
    /// The norm of the gradient, before clipping.
    pub gradient_norm: f64,
    /// The mean of the outputs that were learned.
    pub output: f64,
}

impl ValueLearner {
    /// A network with initial weights drawn from `seed`, and a target network of the same weights.
    ///
    /// # Errors
    /// [`TrainError::Model`] if the configuration makes no sense.
    pub fn new(
        model: &GnnConfig,
        agent: &AgentConfig,
        optimiser: &OptimiserConfig,
        seed: u64,
        device: &Device,
    ) -> Result<Self, TrainError> {
        let device = device.clone().autodiff();
        let online = model.init(&device, &mut InitRng::new(seed))?;
        let target = online.valid();
        Ok(Self { online, target, optimiser: Optimiser::new(optimiser), agent: agent.clone(), device })
    }

    /// The network as it is now; later updates do not change it.
    pub fn model(&self) -> GnnModel {
        self.online.valid()
    }

    /// Makes the target network a copy of the network.
    pub fn update_target(&mut self) {
        self.target = self.model();
    }

    /// The best move of every game, as the network sees it while it learns.
    ///
    /// # Errors
    /// [`TrainError::Model`] if the model does not take these views.
    pub fn best_moves(&self, views: &[&GameView]) -> Result<Vec<Action>, TrainError> {
        let rows = ViewBatch::new(views, self.online.config())?
            .outputs(&self.online, &learning_options(self.online.config()))?;
        Ok(rows.iter().map(|row| Action::ALL[best_of(row)]).collect())
    }

    /// Learns from transitions, each seen under a symmetry, and says how far each output was from its target; if loss
    /// or gradient are no finite numbers the report says so and the network stays as it was.
    ///
    /// # Errors
    /// [`TrainError::Model`] if the model does not take these views.
    pub fn step(&mut self, batch: &[(&Transition, Symmetry)], rate: f64) -> Result<(ValueStep, Vec<f32>), TrainError> {
        let options = learning_options(self.online.config());
        let targets = self.targets(batch)?;
        let views: Vec<GameView> = batch.iter().map(|(one, symmetry)| one.view.transformed(*symmetry)).collect();
        let views = ViewBatch::new(&views.iter().collect::<Vec<_>>(), self.online.config())?;
        let (outputs, auxiliary) = views.forward(&self.online, &options, &self.device)?;

        let mut chosen = vec![0.0_f32; 4 * batch.len()];
        for (row, (one, symmetry)) in chosen.chunks_exact_mut(4).zip(batch) {
            row[symmetry.action(one.action).index()] = 1.0;
        }
        let chosen = Tensor::<2>::from_data(TensorData::new(chosen, [batch.len(), 4]), &self.device);
        let outputs = (outputs * chosen).sum_dim(1);
        let mean = outputs.clone().mean().into_scalar::<f64>();
        let targets = Tensor::<2>::from_data(TensorData::new(targets, [batch.len(), 1]), &self.device);
        let differences = targets - outputs;
        let surprises = differences.clone().abs().try_into_vec_as::<f32>().expect("the device gives its tensors back");
        let loss = self.agent.value_scale.loss(differences, self.agent.discount);
        let auxiliary_loss = auxiliary.as_ref().map_or(0.0, |loss| loss.clone().into_scalar::<f64>());
        let total = auxiliary.into_iter().fold(loss.clone(), |total, loss| total + loss);
        let gradients = HostGradients::of(&self.online, total.backward());
        let gradient_norm = gradients.norm();
        let report = ValueStep { loss: loss.into_scalar::<f64>(), auxiliary_loss, gradient_norm, output: mean };
        if report.fault().is_none() {
            self.online = self.optimiser.step(rate, self.online.clone(), gradients);
        }
        Ok((report, surprises))
    }

    /// What the outputs of the chosen moves should be.
    fn targets(&self, batch: &[(&Transition, Symmetry)]) -> Result<Vec<f32>, TrainError> {
        let options = learning_options(self.online.config());
        let views: Vec<GameView> = batch.iter().map(|(one, symmetry)| one.next.transformed(*symmetry)).collect();
        let views = ViewBatch::new(&views.iter().collect::<Vec<_>>(), self.online.config())?;
        let valued = views.outputs(&self.target, &options)?;
        let chosen = if self.agent.double { views.outputs(&self.online, &options)? } else { valued.clone() };
        let (scale, discount) = (self.agent.value_scale, self.agent.discount);
        let target = |one: &Transition, valued: &[f32; 4], chosen: &[f32; 4]| {
            let next = scale.value(f64::from(valued[best_of(chosen)]), discount);
            // A won game has discount 0, and 0 times an overflow must not become NaN.
            let later = if one.discount > 0.0 { f64::from(one.discount) * next } else { 0.0 };
            scale.output(f64::from(one.reward) + later, discount) as f32
        };
        let rows = batch.iter().zip(valued.iter().zip(&chosen));
        Ok(rows.map(|((one, _), (valued, chosen))| target(one, valued, chosen)).collect())
    }

    /// Weights and optimiser, and the weights of the target network.
    pub fn state(&self) -> (LearnerState, BTreeMap<String, NamedTensor>) {
        let learner = LearnerState { weights: named_tensors(&self.model()), moments: self.optimiser.moments() };
        (learner, named_tensors(&self.target))
    }

    /// Takes over another learner's state.
    ///
    /// # Errors
    /// A line that names the weight that is missing, superfluous or of another shape.
    pub fn restore(&mut self, state: &LearnerState, target: &BTreeMap<String, NamedTensor>) -> Result<(), String> {
        let expected = named_tensors(&self.online);
        check_names(&expected, state)?;
        check_names(&expected, &LearnerState { weights: target.clone(), moments: BTreeMap::new() })?;
        self.online = replace_tensors(self.online.clone(), &state.weights);
        self.target = replace_tensors(self.target.clone(), target);
        self.optimiser = self.optimiser.clone().with_moments(&state.moments);
        Ok(())
    }
}

impl ValueStep {
    /// The first of loss, auxiliary loss and gradient norm that is not a finite number.
    pub fn fault(&self) -> Option<(&'static str, f64)> {
        let watched = [
            ("the loss", self.loss),
            ("the auxiliary loss", self.auxiliary_loss),
            ("the gradient", self.gradient_norm),
        ];
        watched.into_iter().find(|(_, value)| !value.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ModelConfig;
    use crate::rl::{DqnConfig, ViewKind};
    use itergnn_tasks::pacman::{Pacman, PacmanConfig};
    use std::sync::Arc;

    #[test]
    fn a_value_is_learned_and_the_target_waits() {
        let config = DqnConfig::default();
        let model = ModelConfig { hidden_width: Some(8), ..ModelConfig::preset("iter-path") };
        let model = config.model_config(&model).unwrap();
        let adam = OptimiserConfig::default();
        let mut learner = ValueLearner::new(&model, &config.agent, &adam, 1, &Device::flex()).unwrap();
        let small = PacmanConfig { size: 3, ..PacmanConfig::default() };
        let game = Pacman::from_rows(small, &[" @.", "   ", "   "]).unwrap();
        let view = Arc::new(GameView::of(&game, ViewKind::Graph));
        let won = Transition { view: Arc::clone(&view), action: Action::Right, reward: 1.0, discount: 0.0, next: view };
        let batch: Vec<_> = Symmetry::ALL.iter().map(|&symmetry| (&won, symmetry)).collect();
        let before = learner.state().1;
        let losses: Vec<f64> = (0..200).map(|_| learner.step(&batch, 3e-3).unwrap().0.loss).collect();
        assert!(losses[199] < 0.1 * losses[0], "{} after {}", losses[199], losses[0]);
        assert_eq!(learner.state().1, before);
        learner.update_target();
        assert_eq!(learner.state().1, learner.state().0.weights);
    }
}
