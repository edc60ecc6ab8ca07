//! Where a run is in its data.

use itergnn_nn::aligned::Refit;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Validations;
use crate::config::{RunConfig, SupervisedConfig};
use crate::records::EpochRecord;
use crate::run::{Best, EpochTotals, Progress};
use crate::session::Clock;

/// Where a run is in its data; what a checkpoint keeps of it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Place {
    /// The epoch in progress, counted from 1.
    pub(crate) epoch: u64,
    /// Batches of it that are done.
    pub(crate) batch: u64,
    /// Sums over those batches.
    pub(crate) totals: EpochTotals,
    /// Epochs since the best one.
    pub(crate) stale_epochs: u64,
    /// What finishing the model did, for models whose training ends with that.
    #[serde(default)]
    pub(crate) refit: Option<Refit>,
}

impl Default for Place {
    /// Before the first step.
    fn default() -> Self {
        Self { epoch: 1, batch: 0, totals: EpochTotals::default(), stale_epochs: 0, refit: None }
    }
}

impl Place {
    /// Notes the end of an epoch, whether it is the best by `improves(new, old)`, and moves on to the next.
    pub(crate) fn close(
        &mut self,
        validations: &Validations,
        improves: impl Fn(f64, f64) -> bool,
        progress: &mut Progress,
        clock: &Clock,
    ) -> EpochRecord {
        let value = validations.selected_by;
        let is_best = progress.best.is_none_or(|best| improves(value, best.value));
        if is_best {
            progress.best = Some(Best { epoch: self.epoch, step: progress.step, value });
            self.stale_epochs = 0;
        } else {
            self.stale_epochs += 1;
        }
        let mean = self.totals.mean();
        let record = EpochRecord {
            epoch: self.epoch,
            step: progress.step,
            train_loss: mean.loss,
            auxiliary_loss: mean.auxiliary_loss,
            iterations: mean.iterations,
            capped: mean.capped,
            validation: validations.training,
            validation_lifted: validations.lifted,
            selected_by: Some(value).filter(|value| value.is_finite()),
            is_best,
            finished: self.refit.is_some(),
            seconds: clock.seconds(),
        };
        (self.epoch, self.batch, self.totals) = (self.epoch + 1, 0, EpochTotals::default());
        record
    }

    /// Whether there is nothing more to learn.
    pub(crate) fn is_over(&self, config: &RunConfig, settings: &SupervisedConfig) -> bool {
        // `epoch` is the one that would come next.
        self.epoch > settings.epochs || config.selection.patience.is_some_and(|limit| self.stale_epochs >= limit)
    }

    /// For a checkpoint.
    pub(crate) fn to_json(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(place)) => place,
            _ => Map::default(),
        }
    }

    /// From a checkpoint; the message of a failure is one line.
    pub(crate) fn from_json(place: Map<String, Value>, settings: &SupervisedConfig) -> Result<Self, String> {
        let place: Self = serde_json::from_value(Value::Object(place)).map_err(|error| error.to_string())?;
        let begun = if place.batch > 0 { place.epoch } else { place.epoch - 1 };
        if begun > settings.epochs {
            return Err(format!("{begun} epochs are begun or done, more than the {} asked for", settings.epochs));
        }
        Ok(place)
    }
}
