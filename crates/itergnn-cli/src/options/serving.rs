//! Arguments of the local page.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  itergnn serve                             the page on http://127.0.0.1:7878/, with the models of this version
  itergnn serve --models models --runs runs your models, and the curves of your runs while they train
  itergnn serve --host 0.0.0.0 --token \"$(openssl rand -hex 16)\"

An interrupt (Ctrl-C) stops the server when the requests it works on are answered.")]
pub(crate) struct ServeArguments {
    /// Port to listen on; 0 takes one that is free.
    #[arg(long, default_value_t = 7878)]
    pub(crate) port: u16,
    /// Folder of .safetensors models; the models inside the program unless given.
    #[arg(long, value_name = "DIR")]
    pub(crate) models: Option<PathBuf>,
    /// Folder of run directories; ./runs if there is one.
    #[arg(long, value_name = "DIR")]
    pub(crate) runs: Option<PathBuf>,
    /// Address to listen on; one that other machines can reach needs --token.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1")]
    pub(crate) host: IpAddr,
    /// What every request must carry: at least 16 letters, digits, '-' or '_'.
    #[arg(long, value_name = "T")]
    pub(crate) token: Option<String>,
}
