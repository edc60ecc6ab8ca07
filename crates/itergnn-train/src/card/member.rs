//! One run of an ensemble: what [`Supervised`](crate::supervised::Supervised) is on the CPU.

use burn::tensor::Device;
use itergnn_cuda::{Gpu, Mode, ModelSpec, Moments as CardMoments, Network, Samples, StepReport as CardReport};
use itergnn_nn::{GnnModel, GraphModelConfig, InitRng, Level, named_tensors, replace_tensors};

use super::crew::{Joining, Line};
use super::network::{Slot, flatten, graph_model, network, recipe, single, slots, unflatten};
use super::samples::{empty, push, scaled, targets};
use crate::TrainError;
use crate::config::{ResolvedRun, RunConfig, SupervisedConfig};
use crate::data::{Dataset, OwnData, epoch_order};
use crate::evaluation::Predicted;
use crate::learning::{LearnerState, Moments, StepReport, started_from};
use crate::records::{EpochRecord, Record, StepRecord};
use crate::run::{MethodState, Progress};
use crate::session::{Advance, Clock, Facts, Method};
use crate::supervised::{Learned, Place, Validator, loss_of, measure_of};

/// Most steps between two looks at whether the run should stop.
const STEPS_AT_ONCE: u64 = 1_024;

/// Learning from labelled samples on a card, beside other runs.
pub(super) struct Member {
    config: RunConfig,
    settings: SupervisedConfig,
    line: Line,
    /// What the card calls itself.
    card: String,
    model: GnnModel,
    slots: Vec<Slot>,
    network: Network,
    own: Option<OwnData>,
    /// What the model knew when its run last took steps, or before it joined.
    parameters: Vec<f32>,
    moments: CardMoments,
    place: Place,
    validator: Option<Validator>,
    last_epoch: Option<EpochRecord>,
}

impl Member {
    pub(super) fn new(run: &ResolvedRun, own: Option<&OwnData>, line: Line, card: &str) -> Result<Self, TrainError> {
        let config = run.config.clone();
        let settings = config.supervised()?.clone();
        let graph = graph_model(&run.model)?;
        let network = network(graph)?;
        let mut model = run.model.init(&Device::flex(), &mut InitRng::new(config.seed))?;
        if let Some(path) = &config.model.start_from {
            model = started_from(model, path)?;
        }
        let tensors = named_tensors(&model);
        let slots = slots(graph, &tensors)?;
        let parameters = flatten(&slots, |name| single(&tensors[name].values));
        let moments = CardMoments { time: 0, first: vec![0.0; parameters.len()], second: vec![0.0; parameters.len()] };
        let place = Place::default();
        Ok(Self {
            config,
            settings,
            line,
            card: card.to_owned(),
            model,
            slots,
            network,
            own: own.cloned(),
            parameters,
            moments,
            place,
            validator: None,
            last_epoch: None,
        })
    }

    fn graph(&self) -> Result<&GraphModelConfig, TrainError> {
        Ok(graph_model(self.model.config())?)
    }

    /// The steps that are left of the epoch, or some of them.
    fn steps(&mut self, progress: &mut Progress, clock: &mut Clock) -> Result<Vec<Record>, TrainError> {
        let order = epoch_order(self.config.seed, self.place.epoch, self.settings.data.train);
        let left = self.settings.steps_per_epoch().saturating_sub(self.place.batch).min(STEPS_AT_ONCE);
        let (optimiser, steps) = (&self.config.optimiser, self.settings.steps());
        let rate = |step: u64| optimiser.learning_rate * optimiser.schedule.factor(step, steps);
        let batches: Vec<Vec<u32>> = order
            .chunks(self.settings.batch_size)
            .skip(self.place.batch as usize)
            .take(left as usize)
            .map(<[u32]>::to_vec)
            .collect();
        let sizes: Vec<usize> = batches.iter().map(Vec::len).collect();
        let batches = batches.into_iter().zip(progress.step..).map(|(batch, step)| (batch, rate(step))).collect();
        let reports = self.line.steps(batches)?;
        // A card that fails must not pass for one that learned nothing: what is saved is what was just read.
        (self.parameters, self.moments) = self.line.known()?;
        let mut records = Vec::new();
        for (report, graphs) in reports.iter().zip(sizes) {
            let report = widened(report, graphs);
            if let Some((what, value)) = report.fault() {
                let (step, epoch) = (progress.step + 1, self.place.epoch);
                return Err(TrainError::NotFinite { what, value, step, epoch });
            }
            let rate = rate(progress.step);
            progress.step += 1;
            self.place.batch += 1;
            self.place.totals.add(&report);
            clock.done += report.graphs as u64;
            let left = self.settings.steps().saturating_sub(progress.step) * self.settings.batch_size as u64;
            records.push(Record::Step(StepRecord::new(&report, rate, progress.step, self.place.epoch, left, clock)));
        }
        Ok(records)
    }

    fn validate(&mut self) -> Result<crate::supervised::Validations, TrainError> {
        let Some(validator) = &self.validator else {
            return Err(TrainError::Worker("there are no samples".to_owned()));
        };
        let (lifted, unit) = (self.config.selection.lifted_cap, self.graph()?.unit);
        validator.validate_by(|samples, training| {
            let mode =
                if training { Mode { cap: None, settles: true } } else { Mode { cap: Some(lifted), settles: false } };
            let answers = self.line.predict(samples.to_vec(), mode)?;
            let overflow =
                |(values, &steps): (&Vec<f32>, &usize)| values.iter().any(|value| !value.is_finite()).then_some(steps);
            let overflows = answers.values.iter().zip(&answers.loops.iterations).map(overflow).collect();
            let values = scaled(answers.values, unit);
            Ok(Predicted { values, loops: answers.loops, overflows })
        })
    }
}

fn widened(report: &CardReport, graphs: usize) -> StepReport {
    StepReport {
        loss: report.loss.into(),
        auxiliary_loss: report.auxiliary_loss.into(),
        gradient_norm: report.gradient_norm.into(),
        iterations: report.iterations.into(),
        capped: report.capped.into(),
        graphs,
    }
}

/// Samples for the card.
pub(super) fn upload(source: &dyn Dataset, level: Level, model: &GraphModelConfig) -> Result<Samples, TrainError> {
    let mut samples = empty(model);
    for index in 0..source.len() {
        let sample = source.sample(index)?;
        let (targets, rows) = targets(&sample, level).map_err(|why| TrainError::config("data", why))?;
        push(&mut samples, model, &sample.graph, &targets, &rows)?;
    }
    Ok(samples)
}

impl Method for Member {
    fn plan(&self) -> (u64, u64) {
        (self.settings.epochs, self.settings.steps())
    }

    fn prepare(&mut self) -> Result<(), TrainError> {
        let Learned { source, level, validator } = Learned::new(&self.config, self.own.as_ref(), &Device::flex())?;
        let training = upload(&*source, level, self.graph()?)?;
        let validation = upload(validator.samples(), level, self.graph()?)?;
        let model = ModelSpec {
            network: self.network.clone(),
            recipe: recipe(self.graph()?, loss_of(&self.config), &self.config.optimiser)?,
            parameters: self.parameters.clone(),
        };
        self.line.join(Joining {
            model,
            network: self.network.clone(),
            moments: self.moments.clone(),
            training,
            validation,
            batch_size: self.settings.batch_size,
        })?;
        self.validator = Some(validator);
        Ok(())
    }

    fn advance(&mut self, progress: &mut Progress, clock: &mut Clock) -> Result<Advance, TrainError> {
        let mut advance = Advance { records: self.steps(progress, clock)?, ..Advance::default() };
        if self.place.batch >= self.settings.steps_per_epoch() {
            let validations = self.validate()?;
            let measure = measure_of(&self.config);
            let record = self.place.close(&validations, |new, old| measure.improves(new, old), progress, clock);
            progress.finished = self.place.is_over(&self.config, &self.settings);
            advance.is_best = record.is_best;
            self.last_epoch = Some(record.clone());
            advance.records.push(Record::Epoch(record));
        }
        Ok(advance)
    }

    fn model(&self) -> GnnModel {
        replace_tensors(self.model.clone(), &unflatten(&self.slots, &self.parameters))
    }

    fn state(&self) -> MethodState {
        let moments = &self.moments;
        let (first, second) = (unflatten(&self.slots, &moments.first), unflatten(&self.slots, &moments.second));
        let mut of_weights = std::collections::BTreeMap::new();
        if moments.time > 0 {
            for (name, tensor) in first {
                let second = second.get(&name).map(|tensor| tensor.values.clone()).unwrap_or_default();
                of_weights.insert(name, Moments { time: moments.time, first: tensor.values, second });
            }
        }
        let learner = LearnerState { weights: unflatten(&self.slots, &self.parameters), moments: of_weights };
        MethodState { learner, place: self.place.to_json(), ..MethodState::default() }
    }

    fn restore(&mut self, state: MethodState, progress: &mut Progress) -> Result<(), String> {
        crate::learning::check_names(&named_tensors(&self.model), &state.learner)?;
        let LearnerState { weights, moments } = &state.learner;
        self.parameters = flatten(&self.slots, |name| single(&weights[name].values));
        if !moments.is_empty() {
            let time = moments.values().map(|moments| moments.time).max().unwrap_or(0);
            if moments.len() != weights.len() || moments.values().any(|moments| moments.time != time) {
                return Err("the weights were not updated equally often".to_owned());
            }
            let first = flatten(&self.slots, |name| single(&moments[name].first));
            let second = flatten(&self.slots, |name| single(&moments[name].second));
            self.moments = CardMoments { time, first, second };
        }
        self.place = Place::from_json(state.place, &self.settings)?;
        progress.finished = self.place.is_over(&self.config, &self.settings);
        Ok(())
    }

    fn card(&self) -> Option<&str> {
        Some(&self.card)
    }

    fn measure(&self) -> &'static str {
        measure_of(&self.config).name()
    }

    fn facts(&self) -> Facts {
        Facts {
            ended_early: self.place.epoch <= self.settings.epochs,
            last_epoch: self.last_epoch.clone(),
            ..Facts::default()
        }
    }
}

/// The card that runs use; asked for before anything is drawn or written.
pub(super) fn open() -> Result<Gpu, TrainError> {
    Ok(Gpu::open()?)
}
