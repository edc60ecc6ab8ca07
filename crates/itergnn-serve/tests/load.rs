//! Many clients at once, for a while. Not part of the tests: `cargo xtask load` runs it, on a machine that has nothing
//! else to do.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use support::Running;

const CLIENTS: usize = 64;

/// What the 99th of 100 answers may take.
const SLOWEST: Duration = Duration::from_millis(50);

/// How much the memory may grow from a third of the time to its end: what the allocator keeps for threads, not a leak.
const GROWTH: f64 = 0.10;

fn seconds() -> Duration {
    let given = std::env::var("ITERGNN_LOAD_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(given.unwrap_or(30))
}

/// Resident memory of this process, in kilobytes; only Linux tells.
fn resident() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// The request for a prediction on a planar graph of 100 nodes.
fn question(server: &Running, model: &str) -> Vec<u8> {
    let drawn = server.post("/api/sample", &json!({ "generator": "planar", "size": 100, "seed": 1 })).ok();
    let mut edges: Vec<Value> = drawn["graph"]["edges"].as_array().unwrap().clone();
    edges.extend(edges.clone().into_iter().map(|edge| json!([edge[1], edge[0]])));
    let mark = |node: u64| {
        let is = |end: &str| f64::from(u8::from(drawn[end] == json!(node)));
        json!([is("from"), is("to"), 1.0 - is("from") - is("to")])
    };
    let nodes: Vec<Value> = (0..100).map(mark).collect();
    let lengths = vec![json!([1.0]); edges.len()];
    let body =
        json!({ "model": model, "node_attributes": nodes, "edges": edges, "edge_attributes": lengths }).to_string();
    let head = format!(
        "POST /api/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body.as_bytes()].concat()
}

/// How many answers took how many tenths of a millisecond; a list of all times would look like a leak.
type Histogram = Vec<u64>;

/// A second and longer is one and the same.
const TENTHS: usize = 10_000;

/// Sends one request after the other on one connection and notes how long each took.
fn client(server: &Running, whole: &[u8], stop: &AtomicBool) -> Histogram {
    let mut stream: TcpStream = server.connect();
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut times = vec![0; TENTHS];
    while !stop.load(Ordering::Relaxed) {
        let started = Instant::now();
        stream.write_all(whole).unwrap();
        let (mut length, mut line) = (0, String::new());
        reader.read_line(&mut line).unwrap();
        assert!(line.contains(" 200 "), "{line}");
        while line.trim() != "" {
            line.clear();
            reader.read_line(&mut line).unwrap();
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        times[(started.elapsed().as_micros() as usize / 100).min(TENTHS - 1)] += 1;
    }
    times
}

#[test]
#[ignore = "half a minute of full load; `cargo xtask load`"]
fn many_clients_are_answered_in_time() {
    let server = Running::plain();
    let models = server.get("/api/models").ok();
    let of_paths = |model: &&Value| model["solves"] == json!(["paths"]);
    let wanted = std::env::var("ITERGNN_LOAD_MODEL").ok();
    let is_wanted = |model: &&Value| wanted.as_ref().is_none_or(|name| model["name"] == json!(name));
    let model = models.as_array().unwrap().iter().filter(of_paths).find(is_wanted).expect("a model for paths");
    let whole = question(&server, model["name"].as_str().unwrap());
    let stop = AtomicBool::new(false);
    let (mut times, mut early, mut late) = (vec![0; TENTHS], None, None);
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| client(&server, &whole, &stop))).collect();
        std::thread::sleep(seconds() / 3);
        early = resident();
        std::thread::sleep(seconds() - seconds() / 3);
        late = resident();
        stop.store(true, Ordering::Relaxed);
        for client in clients {
            times.iter_mut().zip(client.join().unwrap()).for_each(|(all, own): (&mut u64, u64)| *all += own);
        }
    });
    let count: u64 = times.iter().sum();
    // The upper end of the bucket in which that share of the answers is reached.
    let at = |share: f64| {
        let mut seen = 0;
        let is_reached = |number: &u64| {
            seen += number;
            seen as f64 >= count as f64 * share
        };
        Duration::from_micros(100 * (times.iter().position(is_reached).unwrap_or(TENTHS) as u64 + 1))
    };
    println!(
        "{}: {} answers, {:.0} per second, median {:?}, p99 {:?}, slowest {:?}; memory {early:?} -> {late:?} kB",
        model["name"],
        count,
        count as f64 / seconds().as_secs_f64(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
    assert!(at(0.99) < SLOWEST, "p99 {:?}", at(0.99));
    if let (Some(early), Some(late)) = (early, late) {
        assert!(late < early * (1.0 + GROWTH), "memory grew from {early} to {late} kB");
    }
}
