//! `itergnn serve`: a local page and a JSON interface.

use std::path::PathBuf;

use itergnn_serve::{Limits, ServeError, ServeOptions, Server};

use crate::{failure::Failure, options::ServeArguments, output::print};

pub(crate) fn run(arguments: &ServeArguments) -> Result<(), Failure> {
    let usual = PathBuf::from("runs");
    let options = ServeOptions {
        host: arguments.host,
        port: arguments.port,
        token: arguments.token.clone(),
        models: arguments.models.clone(),
        runs: arguments.runs.clone().or_else(|| usual.is_dir().then_some(usual)),
        limits: Limits::default(),
    };
    let server = Server::bind(options).map_err(failure)?;
    print(&format!("itergnn: open {} (Ctrl-C stops)\n", server.url()))?;
    server.run().map_err(failure)
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Bind { .. } | ServeError::System(_) => Failure::failed(error),
        _ => Failure::bad_input(error),
    }
}
