//! A server in this process, and a client that can misbehave.

#![allow(dead_code, clippy::unwrap_used, reason = "not every test file uses every helper")]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use itergnn_serve::{Limits, ServeError, ServeOptions, Server, StopHandle};
use serde_json::Value;

/// How long a test waits for anything; far longer than anything takes, on a machine that has other things to do.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// A server on a free port, stopped when the value goes.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    stop: StopHandle,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
}

impl Running {
    pub(crate) fn start(options: ServeOptions) -> Self {
        let server = Server::bind(ServeOptions { port: 0, ..options }).unwrap();
        let (address, stop) = (server.address(), server.stop_handle());
        let thread = Some(std::thread::spawn(move || server.run()));
        Self { address, stop, thread }
    }

    pub(crate) fn plain() -> Self {
        Self::start(ServeOptions::default())
    }

    pub(crate) fn with_limits(change: impl FnOnce(&mut Limits)) -> Self {
        let mut limits = Limits::default();
        change(&mut limits);
        Self::start(ServeOptions { limits, ..ServeOptions::default() })
    }

    /// Stops the server and waits for it.
    pub(crate) fn stop(mut self) {
        self.stop.stop();
        self.thread.take().unwrap().join().unwrap().unwrap();
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends bytes and reads until the server closes the connection.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        Answer::read(&mut stream)
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.raw(format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes())
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Answer {
        self.raw(&request(path, "application/json", body.to_string().as_bytes()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

/// The bytes of a POST.
pub(crate) fn request(path: &str, kind: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// What came back.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn read(stream: &mut TcpStream) -> Self {
        let mut bytes = Vec::new();
        // A connection that the server cuts off ends what can be read; the test looks at what came before.
        let _ = stream.read_to_end(&mut bytes);
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n");
        let (head, body) = match end {
            Some(end) => (String::from_utf8_lossy(&bytes[..end]).into_owned(), bytes[end + 4..].to_vec()),
            None => (String::new(), Vec::new()),
        };
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        Self { status, head, body: if chunked { unchunk(&body) } else { body } }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The value, which must be there.
    pub(crate) fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    /// The line of a refusal, which must be there.
    pub(crate) fn refused(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        let value = self.json();
        let line = value["error"].as_str().expect("a refusal has a line").to_owned();
        assert!(!line.is_empty() && !line.contains('\n'));
        line
    }
}

fn unchunk(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&body[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok());
        let Some(size) = size.filter(|size| *size > 0 && body.len() >= end + 2 + size) else { break };
        whole.extend_from_slice(&body[end + 2..end + 2 + size]);
        body = &body[(end + 2 + size + 2).min(body.len())..];
    }
    whole
}
