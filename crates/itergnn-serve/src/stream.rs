//! A file that grows, as server-sent events.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_core::Stream;
use tokio::sync::{OwnedSemaphorePermit, mpsc, watch};

use crate::race::{First, race};

/// How often the file is looked at.
const PAUSE: Duration = Duration::from_millis(250);

/// A sign of life after so many looks without news, so that both ends notice a broken connection.
const QUIET_LOOKS: u32 = 60;

/// Most bytes of one look.
const CHUNK: u64 = 1 << 20;

/// Streams the lines of a file from byte `from` on, each as an event whose id is the place behind it; `last-event-id`
/// leads on from there.
///
/// When the file became shorter (a run was resumed from an earlier state) an event `reset` says that what came before
/// no longer holds. At the end of the file an event `end` follows, once; with `follow` the stream goes on as the file
/// grows, until the client leaves or the server stops.
pub(crate) fn follow(
    path: PathBuf,
    from: u64,
    follow: bool,
    stop: watch::Receiver<bool>,
    seat: OwnedSemaphorePermit,
) -> Response {
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(async move {
        send(path, from, follow, stop, sender).await;
        drop(seat);
    });
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store")];
    (headers, Body::from_stream(Events(receiver))).into_response()
}

struct Events(mpsc::Receiver<Bytes>);

impl Stream for Events {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|event| event.map(Ok))
    }
}

async fn send(path: PathBuf, from: u64, follow: bool, mut stop: watch::Receiver<bool>, to: mpsc::Sender<Bytes>) {
    let (mut place, mut ended, mut quiet) = (from, false, 0);
    loop {
        let file = path.clone();
        let looked = tokio::task::spawn_blocking(move || look(&file, place)).await;
        let Ok(Ok(news)) = looked else { return };
        place = news.place;
        let mut text = news.text;
        if text.is_empty() && !ended {
            ended = true;
            text.push_str("event: end\ndata:\n\n");
        }
        quiet = if text.is_empty() { quiet + 1 } else { 0 };
        if quiet == QUIET_LOOKS {
            quiet = 0;
            text.push_str(": still here\n\n");
        }
        if !text.is_empty() && to.send(Bytes::from(text)).await.is_err() {
            return;
        }
        if ended && !follow {
            return;
        }
        if ended {
            let over = race(to.closed(), stop.wait_for(|&stopped| stopped));
            if let First::Right(_) = race(tokio::time::sleep(PAUSE), over).await {
                return;
            }
        }
    }
}

struct News {
    text: String,
    place: u64,
}

/// The complete lines from a place on, as events.
fn look(path: &Path, from: u64) -> std::io::Result<News> {
    let mut file = File::open(path)?;
    let (mut text, mut place) = (String::new(), from);
    if file.metadata()?.len() < from {
        text.push_str("event: reset\ndata:\n\n");
        place = 0;
    }
    file.seek(SeekFrom::Start(place))?;
    let mut bytes = Vec::new();
    file.take(CHUNK).read_to_end(&mut bytes)?;
    // A line without its end is still being written.
    let complete = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    for line in bytes[..complete].split_inclusive(|&byte| byte == b'\n') {
        place += line.len() as u64;
        let line = String::from_utf8_lossy(line);
        let line = line.trim();
        if !line.is_empty() {
            text.push_str(&format!("id: {place}\ndata: {line}\n\n"));
        }
    }
    Ok(News { text, place })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lines_are_told_and_a_shorter_file_is_a_reset() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("metrics.jsonl");
        std::fs::write(&path, "{\"step\":1}\n{\"step\":2}\n{\"st").unwrap();
        let first = look(&path, 0).unwrap();
        assert_eq!(first.text, "id: 11\ndata: {\"step\":1}\n\nid: 22\ndata: {\"step\":2}\n\n");
        assert_eq!(look(&path, first.place).unwrap().text, "");
        std::fs::write(&path, "{\"step\":1}\n").unwrap();
        let again = look(&path, first.place).unwrap();
        assert_eq!((again.text.as_str(), again.place), ("event: reset\ndata:\n\nid: 11\ndata: {\"step\":1}\n\n", 11));
    }
}
