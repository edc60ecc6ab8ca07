//! The one thread that owns the card, and how runs ask it for work.

use std::sync::mpsc::{Receiver, Sender, channel};

use itergnn_cuda::{
    Answers, CudaError, Ensemble, EnsembleOptions, Gpu, Mode, ModelSpec, Moments, Network, Predictor, Question,
    Samples, StepReport, Tuning,
};

use crate::TrainError;

/// What a run brings to the ensemble.
pub(super) struct Joining {
    pub(super) model: ModelSpec,
    /// The network at inference.
    pub(super) network: Network,
    pub(super) moments: Moments,
    /// Samples to learn from, then `validation` samples to be judged by.
    pub(super) training: Samples,
    pub(super) validation: Samples,
    pub(super) batch_size: usize,
}

/// One batch of a run: its samples and its learning rate.
pub(super) type Batch = (Vec<u32>, f64);

/// What a model knows: parameters and moments.
pub(super) type Known = (Vec<f32>, Moments);

type Reply<T> = Sender<Result<T, String>>;

enum Request {
    Join(Box<Joining>, Reply<()>),
    Leave,
    Steps(Vec<Batch>, Reply<Vec<StepReport>>),
    Predict(Vec<u32>, Mode, Reply<Answers>),
    Known(Reply<Known>),
}

/// Where requests go, each with the number of its run.
type Requests = Sender<(usize, Request)>;

/// A run's line to the card.
pub(super) struct Line {
    index: usize,
    sender: Requests,
}

impl Line {
    fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Request) -> Result<T, TrainError> {
        let (reply, answer) = channel();
        let gone = || TrainError::Worker("the card's thread has ended".to_owned());
        self.sender.send((self.index, request(reply))).map_err(|_| gone())?;
        answer.recv().map_err(|_| gone())?.map_err(TrainError::Worker)
    }

    /// Waits until all runs have joined or left and the ensemble is on the card.
    pub(super) fn join(&self, joining: Joining) -> Result<(), TrainError> {
        self.ask(|reply| Request::Join(Box::new(joining), reply))
    }

    /// Takes steps together with the other runs.
    pub(super) fn steps(&self, batches: Vec<Batch>) -> Result<Vec<StepReport>, TrainError> {
        self.ask(|reply| Request::Steps(batches, reply))
    }

    /// Predictions for validation samples, together with the other runs.
    pub(super) fn predict(&self, samples: Vec<u32>, mode: Mode) -> Result<Answers, TrainError> {
        self.ask(|reply| Request::Predict(samples, mode, reply))
    }

    /// What the model knows now.
    pub(super) fn known(&self) -> Result<Known, TrainError> {
        self.ask(Request::Known)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // Nobody to tell is fine: then the card's thread has ended.
        let _ = self.sender.send((self.index, Request::Leave));
    }
}

/// The runs of an ensemble.
pub(super) struct Crew {
    receiver: Receiver<(usize, Request)>,
    count: usize,
}

/// One crew for each shape of network, and the lines of all runs, in their order.
pub(super) fn crews(networks: &[Network]) -> (Vec<Crew>, Vec<Line>) {
    let mut crews: Vec<(&Network, Crew, Requests)> = Vec::new();
    let line = |network| {
        let known = crews.iter().position(|(other, ..)| other.has_shape_of(network));
        let place = known.unwrap_or_else(|| {
            let (sender, receiver) = channel();
            crews.push((network, Crew { receiver, count: 0 }, sender));
            crews.len() - 1
        });
        let (_, crew, sender) = &mut crews[place];
        crew.count += 1;
        Line { index: crew.count - 1, sender: sender.clone() }
    };
    let lines = networks.iter().map(line).collect();
    (crews.into_iter().map(|(_, crew, _)| crew).collect(), lines)
}

/// What is on the card.
struct OnCard {
    ensemble: Ensemble,
    predictor: Predictor,
    /// By run: the model's number, its first training sample and its first validation sample.
    places: Vec<Option<Place>>,
    networks: Vec<Network>,
}

#[derive(Clone, Copy)]
struct Place {
    model: usize,
    training: u32,
    validation: u32,
}

impl Crew {
    /// Works for the runs until the last has left.
    pub(super) fn work(self, gpu: &Gpu) {
        let mut joining: Vec<Option<(Box<Joining>, Reply<()>)>> = (0..self.count).map(|_| None).collect();
        let mut left = vec![false; self.count];
        while (0..self.count).any(|run| joining[run].is_none() && !left[run]) {
            match self.receiver.recv() {
                Ok((run, Request::Join(member, reply))) => joining[run] = Some((member, reply)),
                Ok((run, Request::Leave)) => left[run] = true,
                Ok(_) => {}
                Err(_) => return,
            }
        }
        let (members, replies): (Vec<_>, Vec<_>) = joining
            .into_iter()
            .map(|joining| joining.map_or((None, None), |(member, reply)| (Some(*member), Some(reply))))
            .unzip();
        if replies.iter().all(Option::is_none) {
            return;
        }
        let on_card = OnCard::new(gpu, members).map_err(|error| error.to_string());
        for reply in replies.into_iter().flatten() {
            let _ = reply.send(on_card.as_ref().map(|_| ()).map_err(Clone::clone));
        }
        if let Ok(on_card) = on_card {
            self.serve(on_card, left);
        }
    }

    /// Gathers requests until every run that is left has made one. Predictions are made as soon as that is so; steps
    /// wait until nobody asks for anything else, and go as far as the shortest request, so that all runs take theirs
    /// together.
    fn serve(&self, mut card: OnCard, mut left: Vec<bool>) {
        let (mut steps, mut predictions) = (Vec::new(), Vec::new());
        loop {
            while steps.len() + predictions.len() < left.iter().filter(|&&left| !left).count() {
                match self.receiver.recv() {
                    Ok((run, Request::Leave)) => left[run] = true,
                    Ok((run, Request::Known(reply))) => {
                        let _ = reply.send(card.known(run).map_err(|error| error.to_string()));
                    }
                    Ok((run, Request::Steps(batches, reply))) => {
                        steps.push(Steps { run, batches, reports: Vec::new(), reply });
                    }
                    Ok((run, Request::Predict(samples, mode, reply))) => {
                        predictions.push(Prediction { run, samples, mode, reply });
                    }
                    // All runs have joined before anybody is served.
                    Ok((_, Request::Join(..))) => {}
                    Err(_) => return,
                }
            }
            if !predictions.is_empty() {
                card.predict(std::mem::take(&mut predictions));
            } else if !steps.is_empty() {
                steps = card.take_steps(steps);
            } else {
                return;
            }
        }
    }
}

/// Steps that a run asked for, and what those saw that were taken.
struct Steps {
    run: usize,
    batches: Vec<Batch>,
    reports: Vec<StepReport>,
    reply: Reply<Vec<StepReport>>,
}

/// Predictions that a run asked for.
struct Prediction {
    run: usize,
    samples: Vec<u32>,
    mode: Mode,
    reply: Reply<Answers>,
}

impl OnCard {
    fn new(gpu: &Gpu, members: Vec<Option<Joining>>) -> Result<Self, CudaError> {
        let mut places = Vec::new();
        let (mut models, mut networks, mut moments) = (Vec::new(), Vec::new(), Vec::new());
        let (mut training, mut validation): (Option<Samples>, Option<Samples>) = (None, None);
        let mut batch_size = 1;
        // Samples of one run after those of another.
        let gather = |all: &mut Option<Samples>, own: Samples| match all {
            Some(all) => all.append(own),
            None => {
                *all = Some(own);
                0
            }
        };
        for member in members {
            let Some(member) = member else {
                places.push(None);
                continue;
            };
            let place = Place {
                model: models.len(),
                training: gather(&mut training, member.training),
                validation: gather(&mut validation, member.validation),
            };
            places.push(Some(place));
            models.push(member.model);
            networks.push(member.network);
            moments.push(member.moments);
            batch_size = batch_size.max(member.batch_size);
        }
        let nothing = || CudaError::Input("nothing to learn from".to_owned());
        let options = EnsembleOptions { batch_size, tuning: Tuning::default() };
        let mut ensemble = Ensemble::new(gpu, &models, training.ok_or_else(nothing)?, options)?;
        for (index, (model, moments)) in models.iter().zip(&moments).enumerate() {
            ensemble.restore(index, &model.parameters, moments)?;
        }
        let first = networks.first().ok_or_else(nothing)?;
        let predictor = Predictor::new(gpu, first, validation.ok_or_else(nothing)?, &Tuning::default())?;
        Ok(Self { ensemble, predictor, places, networks })
    }

    fn known(&self, run: usize) -> Result<Known, CudaError> {
        let place = self.place(run)?;
        Ok((self.ensemble.parameters(place.model)?, self.ensemble.moments(place.model)?))
    }

    fn place(&self, run: usize) -> Result<Place, CudaError> {
        self.places[run].ok_or_else(|| CudaError::Input("a run that did not join".to_owned()))
    }

    /// Takes as many steps as the shortest request wants; returns the requests that want more.
    fn take_steps(&mut self, mut requests: Vec<Steps>) -> Vec<Steps> {
        let left = |steps: &Steps| steps.batches.len() - steps.reports.len();
        let count = requests.iter().map(left).min().unwrap_or(0);
        let mut by_model: Vec<Option<(&[Batch], u32)>> = vec![None; self.ensemble.models()];
        for steps in &requests {
            if let Some(place) = self.places[steps.run] {
                by_model[place.model] = Some((&steps.batches[steps.reports.len()..], place.training));
            }
        }
        let batch = |step: usize, model: usize, list: &mut Vec<u32>| {
            let own = by_model[model].and_then(|(batches, first)| Some((batches.get(step)?, first)));
            own.map_or(0.0, |((samples, rate), first)| {
                list.extend(samples.iter().map(|sample| sample + first));
                *rate
            })
        };
        let reports = match self.ensemble.train(count, batch) {
            Ok(reports) => reports,
            Err(error) => {
                for steps in requests {
                    let _ = steps.reply.send(Err(error.to_string()));
                }
                return Vec::new();
            }
        };
        for steps in &mut requests {
            if let Some(place) = self.places[steps.run] {
                steps.reports.extend(reports.iter().map(|reports| reports[place.model]));
            }
        }
        let (done, rest): (Vec<_>, Vec<_>) = requests.into_iter().partition(|steps| left(steps) == 0);
        for steps in done {
            let _ = steps.reply.send(Ok(steps.reports));
        }
        rest
    }

    /// One launch for each way of running the controllers; runs of one recipe share it.
    fn predict(&self, mut requests: Vec<Prediction>) {
        while let Some(mode) = requests.first().map(|request| request.mode) {
            let (together, rest): (Vec<_>, Vec<_>) = requests.into_iter().partition(|other| other.mode == mode);
            let answers = self.answers(&together, mode).map_err(|error| error.to_string());
            for (index, request) in together.into_iter().enumerate() {
                let own = answers.as_ref().map(|answers| answers[index].clone()).map_err(Clone::clone);
                let _ = request.reply.send(own);
            }
            requests = rest;
        }
    }

    fn answers(&self, requests: &[Prediction], mode: Mode) -> Result<Vec<Answers>, CudaError> {
        let mut asked = Vec::new();
        for Prediction { run, samples, .. } in requests {
            let place = self.place(*run)?;
            let samples: Vec<u32> = samples.iter().map(|sample| sample + place.validation).collect();
            asked.push((place.model, self.ensemble.parameters(place.model)?, samples));
        }
        let mut questions = Vec::new();
        for (model, parameters, samples) in &asked {
            questions.push(Question { network: &self.networks[*model], parameters, samples });
        }
        let all = self.predictor.predict(&questions, mode)?;
        // Every run sees its own samples, in the order that it asked for them.
        let own = |(answers, (_, _, samples)): (&Answers, &(usize, Vec<f32>, Vec<u32>))| Answers {
            values: samples
                .iter()
                .map(|&sample| {
                    self.predictor.rows(sample as usize).flat_map(|row| answers.values[row].clone()).collect()
                })
                .collect(),
            loops: samples.iter().map(|&sample| answers.loops.of(sample as usize)).collect(),
        };
        Ok(all.iter().zip(&asked).map(own).collect())
    }
}
