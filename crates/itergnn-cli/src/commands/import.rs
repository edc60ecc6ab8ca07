//! `itergnn import`: a checkpoint of the authors' PyTorch code as a model of ours.

use itergnn::nn::{
    Device,
    import::import_pth,
    store::{self, ModelCard},
};

use crate::{
    failure::Failure,
    options::ImportArguments,
    output::{Output, note, print_json},
};

pub(crate) fn run(arguments: &ImportArguments) -> Result<(), Failure> {
    Output::check(&arguments.out)?;
    let device = Device::flex();
    let model = import_pth(&arguments.file, &arguments.name, &device)
        .map_err(|error| Failure::bad_input(format!("{} as {}: {error}", arguments.file.display(), arguments.name)))?;
    let card = ModelCard {
        name: arguments.name.clone(),
        training: serde_json::json!({ "imported": true, "authors_name": arguments.name }),
        ..ModelCard::default()
    };
    Output::write(&arguments.out, &store::to_bytes(&model, &card).map_err(Failure::failed)?)?;
    let out = arguments.out.display().to_string();
    if arguments.json {
        return print_json(&serde_json::json!({ "model": out, "config": model.config() }));
    }
    // Stdout may hold the model itself.
    note(&format!("{out}: {} as a model that `itergnn predict` and `itergnn eval` read", arguments.name));
    Ok(())
}
