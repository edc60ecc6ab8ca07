//! The JSON interface, from outside.

#![allow(clippy::unwrap_used)] // a panic is how a test fails, in its helpers too

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;

use itergnn_serve::{ROUTES, ServeOptions};
use serde_json::{Value, json};
use support::{PATIENCE, Running};

/// A row of four nodes with weights, both ways.
fn row() -> Value {
    json!({ "nodes": 4, "edges": [[0, 1], [1, 2], [2, 3]], "weights": [1.0, 2.0, 0.5], "undirected": true })
}

/// A model that finds paths, and one that finds ways through maps.
fn model_for(server: &Running, what: &str) -> String {
    let models = server.get("/api/models").ok();
    let found = models.as_array().unwrap().iter().find(|model| model["solves"] == json!([what]));
    found.unwrap_or_else(|| panic!("a model for {what}"))["name"].as_str().unwrap().to_owned()
}

#[test]
fn the_description_and_the_routes_agree() {
    let server = Running::plain();
    let description = server.get("/api/openapi.json").ok();
    let mut described = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            described.insert((method.to_uppercase(), path.clone(), name.to_owned()));
        }
    }
    let known =
        |route: &itergnn_serve::Route| (route.method.to_owned(), route.path.to_owned(), route.operation.to_owned());
    assert_eq!(described, ROUTES.iter().map(known).collect());
    // Each of them is really there: another method is refused, not unknown.
    for route in ROUTES {
        let path = route.path.replace("{name}", "x");
        let wrong = format!("PUT {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        assert_eq!(server.raw(wrong.as_bytes()).status, 405, "{path}");
    }
    assert_eq!(server.get("/api/nothing").status, 404);
}

/// Every reference of the description leads to something.
#[test]
fn the_description_is_whole() {
    let server = Running::plain();
    let description = server.get("/api/openapi.json").ok();
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    references(&description, &mut found);
    assert!(found.len() > 20);
    for reference in found {
        assert!(description.pointer(reference.trim_start_matches('#')).is_some(), "{reference}");
    }
}

#[test]
fn the_models_inside_the_binary_solve_and_show_their_iterations() {
    let server = Running::plain();
    let model = model_for(&server, "paths");
    let question = json!({ "model": model, "graph": row(), "from": 0, "to": 3 });
    let solved = server.post("/api/solve", &question).ok();
    assert_eq!((&solved["path"], &solved["length"]), (&json!([0, 1, 2, 3]), &json!(3.5)), "{solved}");
    assert_eq!((&solved["exact"]["length"], &solved["exact"]["hops"]), (&json!(3.5), &json!(3)));
    assert_eq!(solved["optimal"], json!(true));

    let trace = server.post("/api/trace", &question).ok();
    assert_eq!(trace["iterations"], solved["iterations"]);
    // A trace runs on the plain engine, a solution on the fused one: they agree to rounding.
    let (traced, predicted) = (trace["prediction"].as_f64().unwrap(), solved["predicted_length"].as_f64().unwrap());
    assert!((traced - predicted).abs() < 1e-5 * predicted, "{traced} {predicted}");
    let steps = trace["steps"].as_array().unwrap();
    assert_eq!(steps.len() as u64, trace["iterations"].as_u64().unwrap());
    assert!(steps.last().unwrap()["remaining"].as_f64().unwrap() < 1e-6, "it stopped by itself: {trace}");
    let kept = trace["views"]["steps"].as_array().unwrap().len();
    for view in ["norm", "change", "channel"] {
        let text = trace["views"][view]["data"].as_str().unwrap();
        // Four characters of base 64 hold three bytes: four nodes in every step.
        assert_eq!(text.len(), (4 * kept).div_ceil(3) * 4, "{view}");
    }
    assert!(trace["views"]["norm"]["high"].as_f64().unwrap() > 0.0);
}

#[test]
fn directed_edges_lead_one_way_only() {
    let server = Running::plain();
    let model = model_for(&server, "paths");
    let graph = json!({ "nodes": 3, "edges": [[0, 1], [1, 2]] });
    let there = server.post("/api/solve", &json!({ "model": model, "graph": graph, "from": 0, "to": 2 })).ok();
    assert_eq!(there["exact"]["path"], json!([0, 1, 2]));
    let back = server.post("/api/solve", &json!({ "model": model, "graph": graph, "from": 2, "to": 0 })).ok();
    assert_eq!((&back["path"], &back["exact"]), (&Value::Null, &Value::Null));
    assert!(back["why"].as_str().unwrap().contains("nothing connects"));
}

#[test]
fn a_prediction_is_that_of_the_command_line() {
    let server = Running::plain();
    let model = model_for(&server, "paths");
    let graph = json!({
        "model": model,
        "node_attributes": [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
        "edges": [[0, 1], [1, 0], [1, 2], [2, 1]],
        "edge_attributes": [[1.0], [1.0], [1.0], [1.0]],
    });
    let predicted = server.post("/api/predict", &graph).ok();
    assert!((predicted["prediction"][0].as_f64().unwrap() - 2.0).abs() < 0.2, "{predicted}");
    assert_eq!(predicted["capped"], json!(false));
    let mut narrow = graph.clone();
    narrow["node_attributes"] = json!([[1.0], [0.0], [0.0]]);
    assert!(server.post("/api/predict", &narrow).refused(400).contains("width"));
}

#[test]
fn every_kind_of_graph_is_drawn_inside_the_picture() {
    let server = Running::plain();
    for generator in ["lobster", "planar", "knn", "maze", "grid", "tree", "er", "line", "cycle", "regular", "complete"]
    {
        let drawn = server.post("/api/sample", &json!({ "generator": generator, "size": 16, "weighted": true })).ok();
        let nodes = drawn["graph"]["nodes"].as_u64().unwrap();
        assert!(nodes >= 16, "{generator}");
        assert_eq!(
            drawn["graph"]["edges"].as_array().unwrap().len(),
            drawn["graph"]["weights"].as_array().unwrap().len()
        );
        let positions = drawn["positions"].as_array().unwrap();
        assert_eq!(positions.len() as u64, nodes);
        let inside = |place: &Value| (-0.001..=1.001).contains(&place.as_f64().unwrap());
        assert!(positions.iter().all(|place| place.as_array().unwrap().iter().all(inside)), "{generator}");
        assert_ne!(drawn["from"], drawn["to"]);
        let again = server.post("/api/sample", &json!({ "generator": generator, "size": 16, "weighted": true })).ok();
        assert_eq!(drawn, again, "the same seed draws the same");
    }
    assert!(
        server.post("/api/sample", &json!({ "generator": "lobsters", "size": 16 })).refused(400).contains("lobsters")
    );
    for size in [0, 1, 1_000_000] {
        server.post("/api/sample", &json!({ "generator": "lobster", "size": size })).refused(400);
    }
}

#[test]
fn a_way_through_a_map_goes_around_what_is_painted() {
    let server = Running::plain();
    let model = model_for(&server, "maps");
    let mut heights = vec![0.3; 25];
    (0..4).for_each(|column| heights[10 + column] = 0.95);
    let map = json!({ "rows": 5, "columns": 5, "heights": heights });
    let solved = server.post("/api/solve", &json!({ "model": model, "map": map, "from": 0, "to": 20 })).ok();
    assert_eq!((&solved["exact"]["length"], &solved["optimal"]), (&json!(12.0), &json!(true)), "{solved}");
    let cells = solved["path"].as_array().unwrap();
    assert!(cells.iter().all(|cell| !(10..14).contains(&cell.as_u64().unwrap())), "{solved}");
    // A model of maps is none of graphs.
    let wrong = server.post("/api/solve", &json!({ "model": model, "graph": row(), "from": 0, "to": 3 }));
    assert!(wrong.refused(400).contains("not a model for"));
}

#[test]
fn files_are_read_and_bad_ones_explained() {
    let server = Running::plain();
    let read = |name: &str, text: &str| {
        server.raw(&support::request(&format!("/api/read?name={name}"), "application/octet-stream", text.as_bytes()))
    };
    let good = read("row.gr", "p sp 3 4\na 1 2 5\na 2 1 5\na 2 3 2\na 3 2 2\n").ok();
    assert_eq!(good["graph"]["nodes"], json!(3));
    assert_eq!(good["positions"].as_array().unwrap().len(), 3);
    let bad = read("bad.gr", "p sp 3 1\na 1 9 5\n").refused(400);
    assert!(bad.contains("bad.gr") && bad.contains('2'), "{bad}");
    read("empty.csv", "").refused(400);
    read("bytes", "\u{0}\u{1}\u{2}").refused(400);
}

#[test]
fn games_are_drawn_watched_and_played() {
    let server = Running::plain();
    let game = server.post("/api/pacman/game", &json!({ "dots": 3, "walls": 2, "size": 8, "seed": 4 })).ok();
    let rows = game["rows"].as_array().unwrap().clone();
    assert_eq!(rows.len(), 8);
    let played = server.post("/api/pacman/play", &json!({ "rows": rows, "player": "nearest-dot", "moves": 64 })).ok();
    assert_eq!(played["over"], json!(true));
    let eaten = played["moves"].as_array().unwrap().iter().filter(|step| step["ate"] == json!(true)).count();
    assert_eq!(eaten as u64, game["reachable"].as_u64().unwrap());
    let own = server.post("/api/pacman/play", &json!({ "rows": rows, "action": "left" })).ok();
    assert_eq!(own["moves"].as_array().unwrap().len(), 1);
    let player = model_for(&server, "pacman");
    let model = server.post("/api/pacman/play", &json!({ "rows": rows, "player": player, "moves": 3 })).ok();
    assert_eq!(model["moves"][0]["values"].as_array().unwrap().len(), 4);
    server.post("/api/pacman/play", &json!({ "rows": rows })).refused(400);
    server.post("/api/pacman/play", &json!({ "rows": ["@x"], "action": "up" })).refused(400);
    server.post("/api/pacman/game", &json!({ "size": 200 })).refused(400);
    let lost = server.post("/api/pacman/play", &json!({ "rows": rows, "player": model_for(&server, "paths") }));
    assert!(lost.refused(400).contains("not to play"));
}

#[test]
fn names_that_are_not_listed_are_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let models = folder.path().join("models");
    fs::create_dir(&models).unwrap();
    fs::write(folder.path().join("secret.md"), "secret").unwrap();
    fs::write(models.join("broken.safetensors"), "not a model").unwrap();
    let server = Running::start(ServeOptions { models: Some(models), ..ServeOptions::default() });
    // A file that is no model is not offered, and asking for it says why.
    assert_eq!(server.get("/api/models").ok(), json!([]));
    let question = |model: &str| json!({ "model": model, "graph": row(), "from": 0, "to": 3 });
    assert_eq!(server.post("/api/solve", &question("broken")).status, 500);
    for name in ["../secret", "..", "/etc/passwd", "broken.safetensors", "", "run:", "broken/../broken"] {
        assert!(server.post("/api/solve", &question(name)).refused(404).contains("no model"), "{name}");
    }
    for path in [
        "/api/models/..%2Fsecret/card",
        "/api/runs/..%2F..",
        "/api/runs/..%2Fmodels/metrics",
        "/api/reports/..%2Fsecret",
        "/../secret.md",
        "/%2e%2e/secret.md",
        "/index.html/../../secret.md",
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(!answer.text().contains("secret\n"), "{path}");
    }
}

fn make_run(folder: &Path, name: &str, lines: &str) {
    let run = folder.join(name);
    fs::create_dir_all(&run).unwrap();
    let config = "seed = 1\n[task]\ntask = \"shortest-path\"\n[model]\nname = \"iter-homo-path\"\n";
    fs::write(run.join("config.toml"), config).unwrap();
    fs::write(run.join("metrics.jsonl"), lines).unwrap();
}

#[test]
fn a_run_is_told_while_it_grows() {
    let folder = tempfile::tempdir().unwrap();
    make_run(folder.path(), "table/seed-0", "{\"kind\":\"step\",\"step\":1}\n");
    let server = Running::start(ServeOptions { runs: Some(folder.path().to_owned()), ..ServeOptions::default() });
    let runs = server.get("/api/runs").ok();
    assert_eq!((&runs[0]["name"], &runs[0]["model"]), (&json!("table/seed-0"), &json!("iter-homo-path")));
    assert_eq!(server.get("/api/runs/table%2Fseed-0").ok()["seed"], json!(1));

    let mut stream = server.connect();
    let ask = "GET /api/runs/table%2Fseed-0/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(ask.as_bytes()).unwrap();
    let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
    let mut next = |wanted: &str| lines.by_ref().find(|line| line.contains(wanted)).expect("the stream goes on");
    assert_eq!(next("data: {"), "data: {\"kind\":\"step\",\"step\":1}");
    next("event: end");
    let path = folder.path().join("table/seed-0/metrics.jsonl");
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"{\"kind\":\"step\",\"st").unwrap();
    file.write_all(b"ep\":2}\n").unwrap();
    assert_eq!(next("data: {"), "data: {\"kind\":\"step\",\"step\":2}");
    // A resumed run begins again from an earlier state.
    fs::write(&path, "{\"step\":7}\n").unwrap();
    next("event: reset");
    assert_eq!(next("data: {"), "data: {\"step\":7}");
    // Whoever watches is told when the server stops.
    server.stop();
    assert_eq!(lines.by_ref().filter(|line| line.contains("data: {")).count(), 0);

    let server = Running::start(ServeOptions { runs: Some(folder.path().to_owned()), ..ServeOptions::default() });
    let once = server.get("/api/runs/table%2Fseed-0/metrics?follow=false");
    assert_eq!(once.text(), "id: 11\ndata: {\"step\":7}\n\nevent: end\ndata:\n\n");
    let path = "/api/runs/table%2Fseed-0/metrics?follow=false";
    let rest = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nLast-Event-ID: 11\r\n\r\n");
    assert_eq!(server.raw(rest.as_bytes()).text(), "event: end\ndata:\n\n");
}

#[test]
fn too_many_watchers_are_turned_away() {
    let folder = tempfile::tempdir().unwrap();
    make_run(folder.path(), "run", "{}\n");
    let mut options = ServeOptions { runs: Some(folder.path().to_owned()), ..ServeOptions::default() };
    options.limits.watchers = 1;
    let server = Running::start(options);
    let mut first = server.connect();
    first.write_all(b"GET /api/runs/run/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut lines = BufReader::new(first).lines();
    assert!(lines.by_ref().any(|line| line.unwrap().contains("event: end")));
    assert!(server.get("/api/runs/run/metrics").refused(503).contains("watch"));
    drop(lines);
    let end = std::time::Instant::now() + PATIENCE;
    while server.get("/api/runs/run/metrics?follow=false").status != 200 {
        assert!(std::time::Instant::now() < end, "the seat of a watcher who left becomes free");
    }
}

#[test]
fn a_report_can_be_read_and_can_do_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("table")).unwrap();
    fs::write(folder.path().join("table/report.html"), "<p>ours</p><script>alert(1)</script>").unwrap();
    let server = Running::start(ServeOptions { runs: Some(folder.path().to_owned()), ..ServeOptions::default() });
    let names = server.get("/api/reports").ok();
    assert!(names.as_array().unwrap().contains(&json!({ "name": "table" })), "{names}");
    let report = server.get("/api/reports/table");
    assert!(report.text().contains("ours"));
    assert!(report.head.to_ascii_lowercase().contains("sandbox"), "{}", report.head);
}

#[test]
fn every_answer_tells_the_browser_what_it_may_do() {
    let server = Running::plain();
    for path in ["/", "/main.js", "/style.css", "/api/models", "/nothing"] {
        let head = server.get(path).head.to_ascii_lowercase();
        assert!(head.contains("content-security-policy: default-src 'self'"), "{path}: {head}");
        assert!(head.contains("x-content-type-options: nosniff"), "{path}");
    }
}
