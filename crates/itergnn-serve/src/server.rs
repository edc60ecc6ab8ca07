//! Listening, and stopping well.

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use itergnn::train::learning::keep_freed_memory;
use tokio::sync::{Semaphore, watch};

use crate::catalogue::Catalogue;
use crate::error::ServeError;
use crate::options::ServeOptions;
use crate::pool::Pool;
use crate::race::{First, race};
use crate::routes::{AppState, router};
use crate::runs::Runs;

/// How long connections have to finish after the server was told to stop.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Fewest characters of a token.
const TOKEN_LENGTH: usize = 16;

/// A server that listens and has not answered yet.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    options: ServeOptions,
    stop: watch::Sender<bool>,
}

/// Stops a server from another thread.
#[derive(Debug, Clone)]
pub struct StopHandle(watch::Sender<bool>);

impl StopHandle {
    /// No new connections; those that are open finish their answer.
    pub fn stop(&self) {
        self.0.send_replace(true);
    }
}

impl Server {
    /// Listens on the address of the options.
    ///
    /// # Errors
    /// [`ServeError::TokenNeeded`], [`ServeError::BadToken`], [`ServeError::NoFolder`] or [`ServeError::Bind`].
    pub fn bind(options: ServeOptions) -> Result<Self, ServeError> {
        match &options.token {
            None if !options.host.is_loopback() => return Err(ServeError::TokenNeeded(options.host)),
            Some(token) if !is_good_token(token) => return Err(ServeError::BadToken),
            _ => {}
        }
        check_folder("--models", options.models.as_deref())?;
        check_folder("--runs", options.runs.as_deref())?;
        let wanted = SocketAddr::new(options.host, options.port);
        let bind = || {
            let listener = TcpListener::bind(wanted)?;
            listener.set_nonblocking(true)?;
            let address = listener.local_addr()?;
            Ok((listener, address))
        };
        let (listener, address) = bind().map_err(|source| ServeError::Bind { address: wanted.to_string(), source })?;
        Ok(Self { listener, address, options, stop: watch::Sender::new(false) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser, with the token if there is one.
    pub fn url(&self) -> String {
        let token = self.options.token.as_ref().map_or(String::new(), |token| format!("?token={token}"));
        format!("http://{}/{token}", self.address)
    }

    /// Stops this server from another thread.
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(self.stop.clone())
    }

    /// Answers until it is told to stop: by a [`StopHandle`], by an interrupt, or by a request of the system to end.
    ///
    /// # Errors
    /// [`ServeError::System`] if there are no threads or sockets.
    pub fn run(self) -> Result<(), ServeError> {
        // An answer frees what the next one needs.
        keep_freed_memory();
        // One thread listens and writes; what takes long runs on the pool. A second one would cost more to wake than it
        // does.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let done = runtime.block_on(self.answer());
        runtime.shutdown_timeout(LAST_WORDS);
        done
    }

    async fn answer(self) -> Result<(), ServeError> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        let limits = self.options.limits.clone();
        let runs = Runs::new(self.options.runs.clone());
        let state = AppState {
            token: self.options.token,
            pool: Pool::start(limits.workers, limits.queue)?,
            catalogue: Catalogue::new(self.options.models, runs.clone()),
            runs,
            watchers: Arc::new(Semaphore::new(limits.watchers)),
            stop: self.stop.subscribe(),
            limits: limits.clone(),
        };
        let service = TowerToHyperService::new(router(Arc::new(state)));
        let mut protocol = http1::Builder::new();
        protocol.timer(TokioTimer::new()).header_read_timeout(limits.body_time);
        let open = GracefulShutdown::new();
        let seats = Arc::new(Semaphore::new(limits.connections));
        let mut stop = self.stop.subscribe();
        let mut signal = std::pin::pin!(signal());
        loop {
            let accept = async {
                let seat = Arc::clone(&seats).acquire_owned().await;
                (seat, listener.accept().await)
            };
            let told = race(stop.wait_for(|&stopped| stopped), &mut signal);
            let (seat, accepted) = match race(accept, told).await {
                First::Left(accepted) => accepted,
                First::Right(_) => break,
            };
            let Ok((stream, _)) = accepted else {
                // Out of sockets: some will close.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            };
            // Small answers must not wait for company.
            let _ = stream.set_nodelay(true);
            let connection = open.watch(protocol.serve_connection(TokioIo::new(stream), service.clone()));
            tokio::spawn(async move {
                // A connection that breaks is its client's business.
                let _ = connection.await;
                drop(seat);
            });
        }
        // Whoever watches a run is told, too, and hangs up.
        self.stop.send_replace(true);
        let _ = tokio::time::timeout(LAST_WORDS, open.shutdown()).await;
        Ok(())
    }
}

fn is_good_token(token: &str) -> bool {
    token.len() >= TOKEN_LENGTH && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

fn check_folder(what: &'static str, path: Option<&Path>) -> Result<(), ServeError> {
    match path.filter(|path| !path.is_dir()) {
        Some(path) => Err(ServeError::NoFolder { what, path: path.display().to_string() }),
        None => Ok(()),
    }
}

/// Waits for an interrupt from the keyboard, or for the system to ask the process to end.
async fn signal() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        let Ok(mut end) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) else {
            let _ = interrupt.await;
            return;
        };
        race(interrupt, end.recv()).await;
    }
    #[cfg(not(unix))]
    {
        let _ = interrupt.await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_addresses_need_a_token() {
        let open = ServeOptions { host: [0, 0, 0, 0].into(), port: 0, ..ServeOptions::default() };
        assert!(matches!(Server::bind(open.clone()), Err(ServeError::TokenNeeded(_))));
        let short = ServeOptions { token: Some("short".to_owned()), ..open.clone() };
        assert!(matches!(Server::bind(short), Err(ServeError::BadToken)));
        let odd = ServeOptions { token: Some("0123456789 abcdef".to_owned()), ..open };
        assert!(matches!(Server::bind(odd), Err(ServeError::BadToken)));
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let options = ServeOptions { port: 0, runs: Some("no/such/folder".into()), ..ServeOptions::default() };
        let error = Server::bind(options).unwrap_err().to_string();
        assert!(error.contains("--runs no/such/folder"), "{error}");
    }
}
