//! Paths: answers outside what a model knows, and queries that took as long as their walk.

use std::fs;

use serde_json::{Value, json};

use crate::support::{committed, fails, folder, itergnn, json as answer, lobster_model, text};

fn warnings(answer: &Value) -> String {
    answer["warnings"].to_string()
}

#[test]
fn a_graph_outside_the_training_was_answered_without_a_word() {
    let folder = folder(&[
        ("roads.csv", "from,to,weight\n0,1,2.5\n1,2,4\n2,3,1\n3,0,9\n"),
        ("ways.gr", "p sp 3 3\na 1 2 1\na 2 3 1\na 3 1 1\n"),
        ("even.edges", "0 1\n1 2\n2 3\n"),
    ]);
    let model = lobster_model();
    let solve = |graph: &str, from: &str, to: &str| {
        let output = itergnn(folder.path(), &["solve", &model, "--graph", graph, "--from", from, "--to", to, "--json"]);
        let told: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        (told, text(&output.stderr))
    };
    let (weighted, said) = solve("roads.csv", "0", "2");
    assert!(warnings(&weighted).contains("weights from 1 to 9") && said.contains("weights from 1 to 9"), "{weighted}");
    let (directed, _) = solve("ways.gr", "1", "3");
    assert!(warnings(&directed).contains("one way only"), "{directed}");
    let (known, _) = solve("even.edges", "0", "3");
    assert_eq!(known["warnings"], json!([]), "{known}");
}

#[test]
fn a_sentinel_was_printed_as_a_length() {
    // The target cannot be reached from the source.
    let apart =
        r#"{"node_attributes": [[1,0,0],[0,1,0],[0,0,1]], "edges": [[0,2],[2,0]], "edge_attributes": [[1],[1]]}"#;
    let folder = folder(&[("apart.json", apart)]);
    for model in ["shortest-path-lobster", "shortest-path-planar-weighted", "shortest-path-er-weighted"] {
        let model = committed(&format!("models/{model}.safetensors"));
        let told = answer(folder.path(), &["predict", &model, "--graph", "apart.json", "--json"]);
        assert_eq!(told["prediction"], json!(["unreachable"]), "{model}: {told}");
    }
}

#[test]
fn pairs_of_which_none_arrives_were_a_success() {
    // A model of two-way roads sees no way along one-way roads.
    let folder = folder(&[("line.gr", "p sp 6 5\na 1 2 1\na 2 3 2\na 3 4 1\na 4 5 3\na 5 6 1\n")]);
    let model = committed("models/shortest-path-planar-weighted.safetensors");
    let output = itergnn(folder.path(), &["solve", &model, "--graph", "line.gr", "--pairs", "3", "--json"]);
    let told: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!((output.status.code(), &told["code"]), (Some(1), &json!(1)), "{told}");
    assert_eq!((&told["arrived"], &told["unreachable"], &told["relative_error"]), (&json!(0), &json!(3), &Value::Null));
    assert_eq!(told["records"][0]["predicted_length"], "unreachable", "{told}");
    let own = committed("models/shortest-path-er-weighted.safetensors");
    assert_eq!(answer(folder.path(), &["solve", &own, "--graph", "line.gr", "--pairs", "3", "--json"])["optimal"], 3);
}

#[test]
fn a_query_predicted_anew_for_every_candidate() {
    // A grid with a diagonal, so that there are many ways.
    let edges: String = (0..20_u32)
        .flat_map(|row| (0..20_u32).map(move |column| (row, column)))
        .map(|(row, column)| {
            let node = 20 * row + column;
            let right = if column < 19 { format!("{node} {}\n", node + 1) } else { String::new() };
            let down = if row < 19 { format!("{node} {}\n", node + 20) } else { String::new() };
            right + &down
        })
        .collect();
    let folder = folder(&[]);
    fs::write(folder.path().join("grid.edges"), edges).expect("written");
    let model = lobster_model();
    let solve = ["solve", &model, "--graph", "grid.edges", "--from", "3", "--to", "396", "--check", "--json"];
    // That it is the path of one prediction per candidate is tested where both can be had
    // (itergnn-train/tests/evaluation.rs).
    let told = answer(folder.path(), &solve);
    assert_eq!((&told["optimal"], &told["length"]), (&json!(true), &json!(32.0)), "{told}");
    assert!(told["predictions"].as_u64().expect("a count") <= 2, "{told}");
}

#[test]
fn the_demo_lost_its_table_when_the_picture_could_not_be_written() {
    let folder = folder(&[]);
    let line = ["demo", "--quick", "--picture", "no/such/folder/demo.svg", "--out", "trained.safetensors"];
    let output = itergnn(folder.path(), &line);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let table = text(&output.stdout);
    assert!(table.contains("iter-homo-path (trained now") && table.contains("max-plus (shipped"), "{table}");
    assert!(text(&output.stderr).contains("no/such/folder/demo.svg"));
    // The model is saved where asked, and is one.
    let told = answer(folder.path(), &["eval", "trained.safetensors", "--size", "10", "--count", "2", "--json"]);
    assert_eq!(told["task"], "shortest-path");
    let told = answer(folder.path(), &["demo", "--quick", "--picture", "demo.png", "--json"]);
    assert_eq!(told["models"].as_array().expect("a list")[0]["model"], "iter-homo-path");
    assert!(fs::read(folder.path().join("demo.png")).expect("drawn").starts_with(b"\x89PNG"));
    fails(folder.path(), &["demo", "--quick", "--picture", "demo.gif"], 2, &["demo.gif"]);
}
