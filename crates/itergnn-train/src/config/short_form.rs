//! Short and old forms of a configuration.
//!
//! A file may leave out what follows from the task, and may have the settings of its method at the top. Files of older
//! versions always do: they were of three kinds, one for each method, and some of their fields had other names. All
//! become the one form that [`RunConfig`](super::RunConfig) writes, before anything is checked.

use itergnn_tasks::Task;
use serde_json::{Map, Value, json};

use super::MethodConfig;

/// Fields that belong to a run whatever its method.
pub(super) const SHARED: [&str; 9] =
    ["seed", "log_every", "engine", "task", "model", "method", "optimiser", "selection", "checkpoint"];

/// The configuration with a method of its own, and with that method's defaults where it has other ones than the rest.
pub(super) fn complete(mut run: Map<String, Value>) -> Map<String, Value> {
    if let Some(game) = run.remove("game") {
        let mut task = object(game);
        task.insert("task".to_owned(), json!(Task::Pacman.name()));
        run.insert("task".to_owned(), Value::Object(task));
    }
    let task = run.get("task").and_then(|task| task.get("task")?.as_str()?.parse::<Task>().ok());
    let of_task = MethodConfig::of_task(task.unwrap_or(Task::ShortestPath));
    let mut method = run.remove("method").map(object).unwrap_or_default();
    method.entry("kind").or_insert_with(|| json!(of_task.name()));
    let own: Vec<String> = run.keys().filter(|key| !SHARED.contains(&key.as_str())).cloned().collect();
    for key in own {
        // A field that stands in both places stays where it does not belong, and is refused there.
        if !method.contains_key(&key)
            && let Some(value) = run.remove(&key)
        {
            method.insert(key, value);
        }
    }
    match method["kind"].as_str() {
        Some("cross-validation") => cross_validation(&mut run, &mut method),
        Some("double-dqn") => {
            run.entry("log_every").or_insert(json!(2_000));
            run.entry("optimiser").or_insert_with(|| json!(of_task.default_optimiser()));
        }
        _ => {}
    }
    run.insert("method".to_owned(), Value::Object(method));
    run
}

/// Cross-validations had rate and halving beside the rest, and settings of the protocol with the model.
fn cross_validation(run: &mut Map<String, Value>, method: &mut Map<String, Value>) {
    let mut model = run.remove("model").map(object).unwrap_or_default();
    for (key, now) in [("dropout", "dropout"), ("most_iterations", "most_iterations")] {
        if let Some(value) = model.remove(key) {
            method.insert(now.to_owned(), value);
        }
    }
    if let Some(pooling) = model.remove("pooling") {
        model.insert("readout".to_owned(), pooling);
    }
    run.insert("model".to_owned(), Value::Object(model));
    if let Some(steps) = method.remove("steps_an_epoch") {
        method.insert("steps_per_epoch".to_owned(), steps);
    }
    let mut optimiser = run.remove("optimiser").map(object).unwrap_or_default();
    if let Some(rate) = method.remove("learning_rate") {
        optimiser.insert("learning_rate".to_owned(), rate);
    }
    if let Some(epochs) = method.remove("halve_every_epochs").and_then(|epochs| epochs.as_u64()) {
        let steps = method.get("steps_per_epoch").and_then(Value::as_u64).unwrap_or(50);
        let schedule = json!({ "kind": "halving", "every_steps": epochs.saturating_mul(steps) });
        optimiser.insert("schedule".to_owned(), schedule);
    }
    let defaults = json!(MethodConfig::of_task(Task::GraphClassification).default_optimiser());
    for (key, value) in object(defaults) {
        optimiser.entry(key).or_insert(value);
    }
    run.insert("optimiser".to_owned(), Value::Object(optimiser));
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        // Not a table: kept under a name that no table has, so that it is refused.
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::{MethodConfig, RunConfig, Schedule};
    use itergnn_nn::ReadoutKind;

    #[test]
    fn the_old_file_of_a_cross_validation_is_read() {
        let text = "epochs = 7\nsteps_an_epoch = 20\nlearning_rate = 0.02\nhalve_every_epochs = 3\nfold_seed = 4\n\
                    [task]\ntask = 'graph-classification'\ndataset = 'PTC'\n\
                    [model]\nname = 'iter-gin'\ndropout = 0.1\npooling = 'mean'\nmost_iterations = 3\n";
        let config = RunConfig::from_toml(text).unwrap();
        let method = config.cross_validation().unwrap();
        assert_eq!((method.epochs, method.steps_per_epoch, method.fold_seed), (7, 20, 4));
        assert_eq!((method.dropout, method.most_iterations), (Some(0.1), Some(3)));
        assert_eq!((config.optimiser.learning_rate, config.optimiser.epsilon), (0.02, 1e-8));
        assert_eq!(config.optimiser.schedule, Schedule::Halving { every_steps: 60 });
        assert_eq!(config.model.readout, Some(ReadoutKind::Mean));
    }

    #[test]
    fn the_old_file_of_a_game_is_read() {
        let text =
            "steps = 1000\ncompass = true\n[model]\nname = 'iter-path'\n[game]\ndots = 3\n[agent]\nreplay = 70\n";
        let config = RunConfig::from_toml(text).unwrap();
        let method = config.dqn().unwrap();
        assert_eq!((method.steps, method.compass, method.agent.replay), (1_000, true, 70));
        assert_eq!((config.log_every, config.optimiser.learning_rate), (2_000, 2e-4));
        let game = config.game().unwrap();
        assert_eq!((game.dots, game.walls), (3, 8));
    }

    #[test]
    fn settings_of_a_method_may_stand_in_its_table_or_at_the_top_but_not_in_both() {
        let task = "[task]\ntask = 'shortest-path'\n[model]\nname = 'path'\n";
        let top = RunConfig::from_toml(&format!("epochs = 3\n{task}")).unwrap();
        let table = RunConfig::from_toml(&format!("{task}[method]\nepochs = 3\n")).unwrap();
        assert_eq!(top, table);
        assert!(matches!(top.method, MethodConfig::Supervised(_)));
        assert!(RunConfig::from_toml(&format!("epochs = 3\n{task}[method]\nepochs = 4\n")).is_err());
        assert!(RunConfig::from_toml(&format!("method = 3\n{task}")).is_err());
    }
}
