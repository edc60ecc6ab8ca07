//! `itergnn serve`: a local page and a JSON interface for models, graphs and runs.
//!
//! Everything the page needs is inside the binary: its files, and the trained models where no folder of models is
//! given. The crate is a shell: what a model, a graph or a game is, and what it does, comes from the facade
//! [`itergnn`], and only the module `engine` calls it.
//!
//! # What a request can do
//! - It is read only as far as [`Limits::body_bytes`], and only for [`Limits::body_time`].
//! - It computes on a bounded pool; when that is full the answer is 503, at once.
//! - It names models and runs by the names that the listings show. No text of a request becomes a path.
//! - Without a token the server listens on a loopback address and answers only if the request was addressed to one.
//!
//! # Example
//! ```no_run
//! use itergnn_serve::{ServeOptions, Server};
//!
//! let server = Server::bind(ServeOptions::default())?;
//! println!("{}", server.url());
//! server.run()?;
//! # Ok::<(), itergnn_serve::ServeError>(())
//! ```

mod assets;
mod bodies;
mod catalogue;
mod engine;
mod error;
mod guard;
mod layout;
mod maze;
mod options;
mod pool;
mod race;
mod reports;
mod routes;
mod runs;
mod server;
mod stream;

pub use error::ServeError;
pub use options::{Limits, ServeOptions};
pub use routes::{ROUTES, Route};
pub use server::{Server, StopHandle};
