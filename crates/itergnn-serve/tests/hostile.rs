//! Requests that are slow, too large, malformed, cut off or too many: the server answers them, or not, and goes on.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod support;

use std::io::{Read, Write};
use std::net::Shutdown;
use std::time::{Duration, Instant};

use itergnn_serve::ServeOptions;
use serde_json::json;
use support::{Answer, PATIENCE, Running, request};

/// A limit short enough to wait for, long enough for a loaded machine to answer everything else.
const SHORT: Duration = Duration::from_millis(1_500);

fn is_well(server: &Running) {
    assert_eq!(server.get("/api/openapi.json").status, 200);
}

#[test]
fn a_head_that_never_ends_is_cut_off() {
    let server = Running::with_limits(|limits| limits.body_time = SHORT);
    let mut stream = server.connect();
    stream.write_all(b"GET /api/models HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").unwrap();
    let started = Instant::now();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(started.elapsed() < PATIENCE / 2, "the server hung up");
    is_well(&server);
}

#[test]
fn a_body_that_never_ends_is_answered_408() {
    let server = Running::with_limits(|limits| limits.body_time = SHORT);
    let mut stream = server.connect();
    let whole = request("/api/solve", "application/json", &[b' '; 1000]);
    stream.write_all(&whole[..whole.len() - 500]).unwrap();
    let answer = Answer::read(&mut stream);
    assert!(answer.refused(408).contains("too long"));
    is_well(&server);
}

#[test]
fn bodies_beyond_the_limit_are_answered_413() {
    let server = Running::with_limits(|limits| limits.body_bytes = 1 << 20);
    // Declared: refused before it is sent.
    let head =
        "POST /api/read?name=x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 99999999\r\n\r\n";
    assert!(server.raw(head.as_bytes()).refused(413).contains("MiB"));
    // Not declared: refused where it becomes too long.
    let mut stream = server.connect();
    let head =
        "POST /api/read?name=x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let chunk = [b"10000\r\n".as_slice(), &vec![b'1'; 0x10000], b"\r\n"].concat();
    // The server may hang up before everything is sent.
    for _ in 0..64 {
        if stream.write_all(&chunk).is_err() {
            break;
        }
    }
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    assert!(bytes.is_empty() || String::from_utf8_lossy(&bytes).contains("413"));
    is_well(&server);
}

#[test]
fn nonsense_is_answered_400_with_a_reason() {
    let server = Running::plain();
    for body in ["", "{", "[]", "null", "{\"model\": 3}", "{\"generator\": \"lobster\", \"size\": -1}", "\u{feff}{}"] {
        let answer = server.raw(&request("/api/sample", "application/json", body.as_bytes()));
        assert!(answer.refused(400).contains("the request"), "{body}");
    }
    // Deep nesting is refused, not followed.
    let deep = "[".repeat(100_000);
    server.raw(&request("/api/predict", "application/json", deep.as_bytes())).refused(400);
    let form = server.raw(&request("/api/sample", "application/x-www-form-urlencoded", b"size=1"));
    form.refused(415);
    for bytes in
        [&b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"[..], b"HELLO\r\n\r\n", b"GET\r\n\r\n", b"\0\0\0\0\r\n\r\n"]
    {
        assert!(matches!(server.raw(bytes).status, 0 | 400), "{bytes:?}");
    }
    is_well(&server);
}

#[test]
fn graphs_that_cannot_be_are_refused() {
    let server = Running::plain();
    let models = server.get("/api/models").ok();
    let model = models.as_array().unwrap().iter().find(|model| model["solves"] == json!(["paths"])).unwrap();
    let ask = |graph: serde_json::Value, from: u64| {
        server.post("/api/solve", &json!({ "model": model["name"], "graph": graph, "from": from, "to": 1 }))
    };
    let good = json!({ "nodes": 2, "edges": [[0, 1]] });
    assert_eq!(ask(good.clone(), 0).ok()["length"], json!(1.0));
    ask(good, 7).refused(400);
    ask(json!({ "nodes": 2, "edges": [[0, 9]] }), 0).refused(400);
    ask(json!({ "nodes": 2, "edges": [[0, 1]], "weights": [1, 2] }), 0).refused(400);
    ask(json!({ "nodes": 2, "edges": [[0, 1]], "weights": [-1] }), 0).refused(400);
    ask(json!({ "nodes": 2, "edges": [[0, 1]], "weights": [1e300] }), 0).refused(400);
    ask(json!({ "nodes": 4_000_000_000_u64, "edges": [[0, 1]] }), 0).refused(400);
    ask(json!({ "nodes": 0, "edges": [] }), 0).refused(400);
    let map = json!({ "rows": 1_000_000_000_u64, "columns": 1_000_000_000_u64, "heights": [] });
    server.post("/api/trace", &json!({ "model": model["name"], "map": map, "from": 0, "to": 1 })).refused(400);
    is_well(&server);
}

#[test]
fn clients_that_leave_early_leave_nothing_behind() {
    let server = Running::with_limits(|limits| {
        limits.workers = 1;
        limits.connections = 8;
    });
    let body = json!({ "generator": "planar", "size": 2000 }).to_string();
    let whole = request("/api/sample", "application/json", body.as_bytes());
    for round in 0..40 {
        let mut stream = server.connect();
        match round % 4 {
            // Nothing at all, half a head, half a body, or a whole request whose answer nobody wants.
            0 => {}
            1 => stream.write_all(&whole[..20]).unwrap(),
            2 => stream.write_all(&whole[..whole.len() - 3]).unwrap(),
            _ => {
                stream.write_all(&whole).unwrap();
                stream.shutdown(Shutdown::Write).unwrap();
            }
        }
    }
    // Every seat is free again, or these would wait for ever.
    for _ in 0..12 {
        is_well(&server);
    }
    server.stop();
}

#[test]
fn a_full_queue_is_answered_503_and_later_empties() {
    let server = Running::with_limits(|limits| {
        limits.workers = 1;
        limits.queue = 1;
    });
    let body = json!({ "generator": "planar", "size": 20000 }).to_string();
    let whole = request("/api/sample", "application/json", body.as_bytes());
    let (mut served, mut refused) = (0, 0);
    // Twelve at once on one thread with room for one more: some must be told to come back.
    std::thread::scope(|scope| {
        let ask = || server.raw(&whole);
        let asked: Vec<_> = (0..12).map(|_| scope.spawn(ask)).collect();
        for answer in asked.into_iter().map(|thread| thread.join().unwrap()) {
            match answer.status {
                200 => served += 1,
                503 => {
                    assert!(answer.head.to_ascii_lowercase().contains("retry-after"), "{}", answer.head);
                    refused += 1;
                }
                other => panic!("{other}: {}", answer.text()),
            }
        }
    });
    assert!(served >= 1 && refused >= 1, "{served} served, {refused} refused");
    assert_eq!(server.raw(&whole).status, 200);
}

#[test]
fn an_answer_that_takes_too_long_is_answered_503() {
    let server = Running::with_limits(|limits| limits.answer_time = Duration::from_millis(1));
    let late = server.post("/api/sample", &json!({ "generator": "planar", "size": 20000 }));
    assert!(late.refused(503).contains("longer"));
}

#[test]
fn with_a_token_nothing_is_answered_without_it() {
    let token = "0123456789abcdef";
    let server = Running::start(ServeOptions { token: Some(token.to_owned()), ..ServeOptions::default() });
    for path in ["/", "/main.js", "/api/models", "/api/openapi.json", "/nothing"] {
        assert_eq!(server.get(path).status, 401, "{path}");
    }
    let with = |line: &str| {
        let text = format!("GET /api/models HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n{line}\r\n\r\n");
        server.raw(text.as_bytes()).status
    };
    assert_eq!(with("Authorization: Bearer 0123456789abcdef"), 200);
    assert_eq!(with("Authorization: Bearer 0123456789abcdee"), 401);
    assert_eq!(with("Cookie: itergnn-token=0123456789abcdef"), 200);
    let welcome = server.get("/?token=0123456789abcdef");
    assert_eq!(welcome.status, 303);
    assert!(welcome.head.contains("HttpOnly") && welcome.head.contains("SameSite=Strict"), "{}", welcome.head);
}

#[test]
fn pages_of_other_sites_reach_nothing() {
    let server = Running::plain();
    let rebound = "GET /api/models HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n";
    server.raw(rebound.as_bytes()).refused(403);
    let foreign = "POST /api/sample HTTP/1.1\r\nHost: localhost\r\nOrigin: http://example.org\r\n\
                   Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
    server.raw(foreign.as_bytes()).refused(403);
}

#[test]
fn the_server_stops_when_told_even_with_open_connections() {
    let server = Running::plain();
    let _idle = server.connect();
    let mut half = server.connect();
    half.write_all(b"GET / HTTP/1.1\r\n").unwrap();
    is_well(&server);
    let started = Instant::now();
    server.stop();
    assert!(started.elapsed() < PATIENCE / 2);
}
