//! Graph classification with the real binary, on a small made-up set in the published layout.

mod support;

use std::{fs, path::Path};

use serde_json::Value;
use tempfile::TempDir;

use support::{itergnn, json};

/// Exit code and the only line on stderr.
fn refusal(folder: &Path, line: &[&str]) -> (Option<i32>, String) {
    let output = itergnn(folder, line);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(message.trim_end().lines().count(), 1, "{message}");
    (output.status.code(), message)
}

/// Sixty rings (class 0) and lines (class 2) of 3 to 8 nodes whose tags say nothing; fold files that leave the last ten
/// graphs untested.
fn write_set(folder: &Path) {
    let mut text = String::from("60\n");
    for index in 0..60_usize {
        let (nodes, ring) = (3 + index % 6, index % 2 == 0);
        text += &format!("{nodes} {}\n", if ring { 0 } else { 2 });
        for node in 0..nodes {
            let mut near: Vec<usize> = Vec::new();
            if node > 0 || ring {
                near.push((node + nodes - 1) % nodes);
            }
            if node + 1 < nodes || ring {
                near.push((node + 1) % nodes);
            }
            let list: String = near.iter().map(|neighbour| format!(" {neighbour}")).collect();
            text += &format!("{} {}{list}\n", (node + index) % 2, near.len());
        }
    }
    let set = folder.join("sets/TINY");
    fs::create_dir_all(set.join("10fold_idx")).expect("a folder");
    fs::write(set.join("TINY.txt"), text).expect("written");
    for fold in 0..10 {
        let test: Vec<usize> = (fold * 5..fold * 5 + 5).collect();
        let lines = |wanted: bool| -> String {
            (0..60).filter(|graph| test.contains(graph) == wanted).map(|graph| format!("{graph}\n")).collect()
        };
        fs::write(set.join(format!("10fold_idx/test_idx-{}.txt", fold + 1)), lines(true)).expect("written");
        fs::write(set.join(format!("10fold_idx/train_idx-{}.txt", fold + 1)), lines(false)).expect("written");
    }
}

const TRAIN: [&str; 9] =
    ["train", "graph-classification", "--data", "sets", "--dataset", "TINY", "--hidden", "8", "--json"];

#[test]
fn both_models_tell_rings_from_lines_and_runs_resume_to_the_bit() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    write_set(path);
    for (model, epochs) in [("gin", "4"), ("iter-gin", "2")] {
        let own = ["--model", model, "--out", model, "--epochs", epochs];
        let result = json(path, &[&TRAIN[..], &own].concat());
        assert_eq!((result["graphs"].as_u64(), result["never_tested"].as_u64()), (Some(60), Some(0)));
        assert!(result["selected"]["mean"].as_f64().expect("a share") > 0.9, "{result}");
        assert_eq!(result["selected"]["count"], 10);
        let whole: Value =
            serde_json::from_slice(&fs::read(path.join(model).join("result.json")).expect("a result")).expect("JSON");
        assert_eq!(whole["folds"][9]["accuracy"].as_array().expect("a curve").len().to_string(), epochs);

        // The models on disk are those of the last epoch, and give its accuracy again through the tensor path.
        let report = json(path, &["eval", model, "--json"]);
        assert_eq!((report["count"].as_u64(), &report["folds"]), (Some(60), &whole["last"]));
        let fold = json(path, &["eval", &format!("{model}/fold-3/model.safetensors"), "--json"]);
        let curve = whole["folds"][3]["accuracy"].as_array().expect("a curve");
        assert_eq!(Some(&fold["accuracy"]), curve.last());

        // One fold alone, then the rest, is the same run.
        let parts = format!("{model}-parts");
        let part = ["--model", model, "--out", &parts, "--epochs", epochs];
        let one = json(path, &[&TRAIN[..], &part, &["--fold", "4"]].concat());
        assert_eq!((one["folds"][0]["fold"].as_u64(), &one["result"]), (Some(4), &Value::Null));
        let all = json(path, &["train", "--out", &parts, "--resume", "--json"]);
        assert_eq!((&all["selected"], &all["last"]), (&result["selected"], &result["last"]));
        for file in ["fold-4/model.safetensors", "fold-0/model.safetensors"] {
            let read = |run: &str| fs::read(path.join(run).join(file)).expect("a model");
            assert!(read(model) == read(&parts), "{file}");
        }
    }
    let published = ["--model", "gin", "--out", "published", "--epochs", "1", "--folds", "published"];
    assert_eq!(json(path, &[&TRAIN[..], &published].concat())["never_tested"], 10);
}

#[test]
fn what_is_missing_or_wrong_is_one_line() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    write_set(path);
    let train = |extra: &[&str]| refusal(path, &[&TRAIN[..], &["--out", "run"], extra].concat());
    let missing = ["train", "graph-classification", "--data", "nowhere", "--dataset", "PTC", "--out", "run"];
    let (code, message) = refusal(path, &missing);
    assert_eq!(code, Some(2));
    for part in ["nowhere", "PTC/PTC.txt", "powerful-gnns", "dataset.zip", "TUDataset"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    for (extra, part) in [
        (&["--model", "path"][..], "gin or iter-gin"),
        (&["--epochs", "0"], "epochs"),
        (&["--batch-size", "1"], "batch_size"),
        (&["--batch-size", "1000"], "trains on 54"),
        (&["--fold", "10"], "folds are 0 to 9"),
        (&["--seeds", "3"], "--seeds"),
        (&["--size", "4"], "size"),
    ] {
        let (code, message) = train(extra);
        assert!(code == Some(2) && message.contains(part), "{extra:?}: {message}");
    }
    fs::write(path.join("sets/TINY/10fold_idx/test_idx-3.txt"), "5000\n").expect("written");
    let (code, message) = train(&["--folds", "published"]);
    assert!(code == Some(2) && message.contains("test_idx-3.txt"), "{message}");
    let whole = fs::read_to_string(path.join("sets/TINY/TINY.txt")).expect("a set");
    fs::write(path.join("sets/TINY/TINY.txt"), &whole[..whole.len() / 2]).expect("written");
    let (code, message) = train(&[]);
    assert!(code == Some(2) && message.contains("TINY.txt"), "{message}");
    assert!(!path.join("run/result.json").exists());
    let (code, message) = refusal(path, &["train", "shortest-path", "--fold", "1", "--out", "other"]);
    assert!(code == Some(2) && message.contains("--fold means nothing for shortest-path"), "{message}");
}
