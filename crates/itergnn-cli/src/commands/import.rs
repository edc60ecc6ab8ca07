//! `itergnn import`: a checkpoint of the authors' PyTorch code as a model of ours.

use itergnn::nn::{
    Device,
    import::import_pth,
    store::{self, ModelCard},
};

use crate::{
    failure::Failure,
    options::ImportArguments,
    output::{print, print_json},
};

pub(crate) fn run(arguments: &ImportArguments) -> Result<(), Failure> {
    let device = Device::flex();
    let model = import_pth(&arguments.file, &arguments.name, &device)
        .map_err(|error| Failure::bad_input(format!("{} as {}: {error}", arguments.file.display(), arguments.name)))?;
    let card = ModelCard {
        name: arguments.name.clone(),
        training: serde_json::json!({ "imported": true, "authors_name": arguments.name }),
        ..ModelCard::default()
    };
    store::save(&model, &card, &arguments.out).map_err(Failure::failed)?;
    let out = arguments.out.display().to_string();
    if arguments.json {
        return print_json(&serde_json::json!({ "model": out, "config": model.config() }));
    }
    print(&format!("{out}: {} as a model that `itergnn predict` and `itergnn eval` read\n", arguments.name))
}
