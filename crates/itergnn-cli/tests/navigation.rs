//! Image navigation and property figures with the real binary.

mod support;

use std::{fs, path::Path};

use png::{BitDepth, ColorType, Encoder};
use serde_json::json;
use tempfile::TempDir;

use support::{committed, fails, itergnn, json as answer};

/// A wall (255) with a gap in the last row; 204 is the highest that can be entered.
const MAP: [[u8; 6]; 4] =
    [[10, 90, 255, 30, 40, 50], [60, 200, 255, 204, 20, 205], [70, 80, 230, 10, 90, 100], [15, 25, 204, 35, 45, 55]];

fn words(line: &[String]) -> Vec<&str> {
    line.iter().map(String::as_str).collect()
}

fn png(path: &Path, (width, height): (u32, u32), color: ColorType, data: &[u8]) {
    let mut encoder = Encoder::new(fs::File::create(path).expect("created"), width, height);
    encoder.set_color(color);
    encoder.set_depth(BitDepth::Eight);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(data)).expect("written");
}

#[test]
fn a_path_is_found_through_a_picture_and_drawn() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    png(&path.join("map.png"), (6, 4), ColorType::Grayscale, &MAP.concat());
    let model = committed("models/navigation.safetensors");
    let solve = |from: &str, to: &str, more: &[&str]| -> Vec<String> {
        let line = ["solve", &model, "--image", "map.png", "--from", from, "--to", to];
        line.iter().chain(more).map(|word| (*word).to_owned()).collect()
    };

    let line = solve("0,0", "3,0", &["--check", "--json", "--picture", "path.png"]);
    let found = answer(path, &words(&line));
    assert_eq!((&found["length"], &found["optimal"]), (&json!(9.0), &json!(true)));
    // Slopes that are not whole numbers leave the rounding of f32.
    assert!((found["predicted_length"].as_f64().expect("a number") - 9.0).abs() < 1e-4, "{found}");
    let cells = found["path"].as_array().expect("a list");
    assert!(cells.len() == 10 && cells.contains(&json!([2, 3])), "through the gap: {found}");
    assert!(fs::read(path.join("path.png")).expect("the picture is there").starts_with(b"\x89PNG"));
    let line = solve("0,0", "3,0", &["--picture", "path.svg"]);
    assert!(itergnn(path, &words(&line)).status.success());
    assert!(fs::read_to_string(path.join("path.svg")).expect("written").ends_with("</svg>\n"));

    for (from, to, code, part) in
        [("0,0", "2,0", 1, "no way"), ("0,0", "0,4", 2, "6 columns and 4 rows"), ("0", "1,1", 2, "COLUMN,ROW")]
    {
        fails(path, &words(&solve(from, to, &[])), code, &[part]);
    }
    fails(path, &words(&solve("0,0", "1,1", &["--picture", "path.jpg"])), 2, &["path.jpg", ".svg", ".png"]);
}

#[test]
fn pictures_that_are_no_maps_are_refused() {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path();
    let model = committed("models/navigation.safetensors");
    let solve = |model: &str, image: &str, code: i32, part: &str| {
        fails(path, &["solve", model, "--image", image, "--from", "0,0", "--to", "1,0"], code, &[part]);
    };
    fs::write(path.join("text.png"), "not a picture").expect("written");
    solve(&model, "text.png", 2, "text.png: is not a PNG");
    solve(&model, "absent.png", 2, "absent.png");
    png(&path.join("glass.png"), (2, 1), ColorType::GrayscaleAlpha, &[10, 255, 20, 128]);
    solve(&model, "glass.png", 2, "column 1, row 0 is not opaque");
    png(&path.join("wide.png"), (5_000, 1), ColorType::Grayscale, &[0; 5_000]);
    solve(&model, "wide.png", 2, "5000 x 1 pixels");
    png(&path.join("map.png"), (2, 1), ColorType::Grayscale, &[10, 20]);
    solve(&committed("models/shortest-path-lobster.safetensors"), "map.png", 2, "not one of image navigation");
}

#[test]
fn the_committed_model_keeps_what_its_card_says() {
    let folder = TempDir::new().expect("a temporary folder");
    let model = committed("models/navigation.safetensors");
    for (size, count) in [("16", "30"), ("33", "6")] {
        let line = ["eval", &model, "--size", size, "--count", count, "--seed", "1", "--success", "--json"];
        let report = answer(folder.path(), &line);
        assert_eq!(report["success_rate"], 1.0, "{size}");
        assert!(report["relative_loss"].as_f64().expect("a number") < 1e-6, "{size}");
    }
}

#[test]
fn the_experiment_runs() {
    let folder = TempDir::new().expect("a temporary folder");
    let config = committed("experiments/navigation/config.toml");
    let few = ["--samples", "96", "--validation", "8", "--epochs", "1"];
    let line = [&["train", "--config", &config, "--out", "run", "--json"][..], &few[..]].concat();
    assert_eq!(answer(folder.path(), &line)["runs"][0]["status"], "finished");
}

#[test]
fn property_figures_are_drawn() {
    let folder = TempDir::new().expect("a temporary folder");
    let figures = answer(folder.path(), &["properties", "--count", "4", "--out", "figures", "--json"]);
    assert_eq!(figures.as_array().expect("a list").len(), 6);
    for name in ["lobster", "er", "knn", "planar", "navigation", "pacman", "medians"] {
        let svg = fs::read_to_string(folder.path().join("figures").join(format!("{name}.svg"))).expect("written");
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{name}");
    }
    fails(folder.path(), &["properties", "--count", "0"], 2, &["--count 0"]);
}
