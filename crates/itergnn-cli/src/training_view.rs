//! What a user sees of a run: bars on a terminal, lines elsewhere.

use std::{
    io::IsTerminal,
    time::{Duration, Instant},
};

use indicatif::{HumanDuration, MultiProgress, ProgressBar, ProgressStyle};
use itergnn::train::{EpochRecord, Observer, Plan, StepRecord, Validation, rl::PlayRecord};

use crate::output::note;

/// Between two lines of a run that is not on a terminal, within an epoch.
const LINE_EVERY: Duration = Duration::from_secs(15);

/// The views of runs side by side, which share the terminal.
pub(crate) struct Views {
    bars: Option<MultiProgress>,
}

impl Views {
    /// Bars if stderr is a terminal.
    pub(crate) fn new() -> Self {
        Self { bars: std::io::stderr().is_terminal().then(MultiProgress::new) }
    }

    /// The view of the only run.
    pub(crate) fn alone(&self) -> View {
        self.view(String::new())
    }

    /// The view of one of several runs.
    pub(crate) fn of_seed(&self, seed: u64) -> View {
        self.view(format!("seed {seed}: "))
    }

    fn view(&self, label: String) -> View {
        let bars = self.bars.clone();
        View { label, bars, bar: None, epochs: 0, steps: 0, validation: None, last: None, told: Instant::now() }
    }
}

/// Shows one run.
pub(crate) struct View {
    label: String,
    bars: Option<MultiProgress>,
    bar: Option<ProgressBar>,
    epochs: u64,
    steps: u64,
    validation: Option<String>,
    last: Option<StepRecord>,
    told: Instant,
}

impl View {
    fn say(&self, line: &str) {
        match &self.bars {
            // Above the bars, whatever happens to the terminal.
            Some(bars) => drop(bars.println(line)),
            None => note(line),
        }
    }
}

impl Observer for View {
    fn started(&mut self, plan: &Plan) {
        (self.epochs, self.steps) = (plan.epochs, plan.steps);
        let done = if plan.steps_done > 0 { format!(", going on at step {}", plan.steps_done) } else { String::new() };
        self.say(&format!(
            "{}{} parameters, {} steps in {} epochs{done}",
            self.label, plan.parameters, plan.steps, plan.epochs
        ));
        if let Some(bars) = &self.bars {
            let bar = bars.add(ProgressBar::new(plan.steps));
            if let Ok(style) = ProgressStyle::with_template("{prefix}{bar:24} {human_pos}/{human_len}  {msg}") {
                bar.set_style(style);
            }
            bar.set_prefix(self.label.clone());
            bar.set_position(plan.steps_done);
            self.bar = Some(bar);
        }
    }

    fn step(&mut self, record: &StepRecord) {
        self.last = Some(*record);
        let validation = self.validation.as_deref();
        match &self.bar {
            Some(bar) => {
                bar.set_position(record.step);
                bar.set_message(step_text(record, validation));
            }
            None if self.told.elapsed() >= LINE_EVERY => {
                self.told = Instant::now();
                let (step, steps) = (record.step, self.steps);
                note(&format!("{}step {step} of {steps}: {}", self.label, step_text(record, validation)));
            }
            None => {}
        }
    }

    fn epoch(&mut self, record: &EpochRecord) {
        let measure = measure_text(&record.validation_lifted);
        let mut line = format!(
            "{}epoch {} of {}: training loss {:.3e}, validation {measure}, {:.1} iterations",
            self.label, record.epoch, self.epochs, record.train_loss, record.validation_lifted.iterations
        );
        if record.finished {
            line += " (finished: fitted to training samples after the last step, not by gradient steps)";
        }
        if record.validation_lifted.capped > 0.0 {
            line += &format!(", {:.0}% never stop", 100.0 * record.validation_lifted.capped);
        }
        if let Some(last) = &self.last {
            line += &format!(", {}", speed_text(last));
        }
        line += &format!(", {:.0} s", record.seconds);
        self.say(&line);
        self.validation = Some(measure);
        self.told = Instant::now();
    }

    fn play(&mut self, record: &PlayRecord) {
        if let Some(bar) = &self.bar {
            bar.set_position(record.step);
        }
        let Some(success) = record.validation_success else { return };
        self.say(&format!(
            "{}move {} of {}: loss {:.3e}, success {:.3} while learning, {success:.4} in validation ({} in a circle){}, {:.0} s",
            self.label,
            record.step,
            self.steps,
            record.loss.unwrap_or(f64::NAN),
            record.training_success.unwrap_or(f64::NAN),
            record.validation_stuck.unwrap_or(0),
            if record.is_best { ", best" } else { "" },
            record.seconds
        ));
    }

    fn note(&mut self, message: &str) {
        self.say(&format!("itergnn: {}{message}", self.label));
    }
}

impl Drop for View {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Loss, validation, iterations, speed and time left.
fn step_text(record: &StepRecord, validation: Option<&str>) -> String {
    let validation = validation.map_or(String::new(), |measure| format!("validation {measure}, "));
    let (loss, iterations) = (record.loss, record.iterations);
    format!("loss {loss:.2e}, {validation}{iterations:.1} iterations, {}", speed_text(record))
}

fn speed_text(record: &StepRecord) -> String {
    let left = Duration::try_from_secs_f64(record.seconds_left).unwrap_or_default();
    format!("{:.0} samples/s, {} left", record.samples_per_second, HumanDuration(left))
}

fn measure_text(validation: &Validation) -> String {
    let measure = validation.accuracy.map(|share| format!("accuracy {share:.3}"));
    let measure = measure.or(validation.relative_loss.map(|loss| format!("relative loss {loss:.2e}")));
    measure.or(validation.mse.map(|mse| format!("mse {mse:.2e}"))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_loss_validation_iterations_speed_and_time_left() {
        let record = StepRecord {
            step: 10,
            epoch: 1,
            loss: 0.5,
            auxiliary_loss: 0.0,
            gradient_norm: 1.0,
            learning_rate: 1e-3,
            iterations: 12.25,
            capped: 0.0,
            samples_per_second: 640.0,
            seconds: 1.0,
            seconds_left: 90.0,
        };
        let text = step_text(&record, Some("relative loss 1.00e-2"));
        for part in ["loss 5.00e-1", "validation relative loss 1.00e-2", "12.2 iterations", "640 samples/s", "left"] {
            assert!(text.contains(part), "{text}");
        }
        // A run that has no speed yet has no time left either, and that is no error.
        assert!(speed_text(&StepRecord { seconds_left: f64::INFINITY, ..record }).contains("left"));
    }
}
