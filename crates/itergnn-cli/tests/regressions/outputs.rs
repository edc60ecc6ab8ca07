//! Outputs used to be renamed over whatever was at their path.

use std::{
    fs,
    os::unix::fs::{FileTypeExt, symlink},
    path::Path,
    process::Command,
};

use crate::support::{command, fails, folder, itergnn, json, lobster_model, text};

const ROOM: &str = "type octile\nheight 3\nwidth 3\nmap\n...\n.@.\n...\n";

/// Every output of a command that is no training, with `OUT` where its name stands, and the ending that the name needs.
fn outputs() -> Vec<(Vec<String>, &'static str)> {
    let model = lobster_model();
    let words = |line: &str| line.split(' ').map(|word| word.replace("MODEL", &model)).collect::<Vec<_>>();
    let checkpoint = crate::support::committed("reference/nn/checkpoints/DeepGNN2-GATConv-Max.pth");
    let import = format!("import {checkpoint} --as DeepGNN2-GATConv-Max --out OUT");
    vec![
        (words("sample tsp --size 5 --count 2 --out OUT"), ".jsonl"),
        (words("solve MODEL --graph room.map --from 0,0 --to 2,2 --picture OUT"), ".svg"),
        (words("solve MODEL --graph room.map --from 0,0 --to 2,2 --picture OUT"), ".png"),
        (words("play nearest-dot --dots 1 --walls 0 --size 4 --record OUT"), ".gif"),
        (words("play nearest-dot --dots 1 --walls 0 --size 4 --record OUT"), ".svg"),
        (words("eval random --grid --count 1 --out OUT"), ".json"),
        (words("demo --quick --picture OUT"), ".png"),
        (words("demo --quick --picture beside.svg --out OUT"), ".safetensors"),
        (words(&import), ".safetensors"),
    ]
}

fn line<'a>(words: &'a [String], out: &'a str) -> Vec<&'a str> {
    words.iter().map(|word| if word == "OUT" { out } else { word }).collect()
}

fn made(pipe: &Path) {
    assert!(Command::new("mkfifo").arg(pipe).status().expect("mkfifo runs").success());
}

#[test]
fn a_link_to_a_file_was_replaced_by_a_file() {
    for (words, ending) in outputs() {
        let folder = folder(&[("room.map", ROOM)]);
        let path = folder.path();
        fs::create_dir(path.join("far")).expect("made");
        let (link, real) = (format!("link{ending}"), path.join(format!("far/real{ending}")));
        symlink(&real, path.join(&link)).expect("linked");
        // The link leads nowhere at first, then to a file.
        for _ in 0..2 {
            let output = itergnn(path, &line(&words, &link));
            assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
            assert!(path.join(&link).is_symlink(), "{words:?} replaced the link");
            assert!(fs::metadata(&real).expect("written through").len() > 0, "{words:?}");
        }
        assert_eq!(fs::read_dir(path.join("far")).expect("a folder").count(), 1, "{words:?} left something behind");
    }
}

#[test]
fn a_pipe_was_replaced_by_a_file() {
    for (words, ending) in outputs() {
        let folder = folder(&[("room.map", ROOM)]);
        let pipe = folder.path().join(format!("pipe{ending}"));
        made(&pipe);
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).expect("read")
        });
        let output = itergnn(folder.path(), &line(&words, &format!("pipe{ending}")));
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        assert!(!reader.join().expect("read").is_empty(), "{words:?}");
        assert!(fs::symlink_metadata(&pipe).expect("there").file_type().is_fifo(), "{words:?} replaced the pipe");
    }
}

#[test]
fn a_device_a_socket_or_a_folder_was_replaced_by_a_file() {
    for (words, ending) in outputs() {
        let folder = folder(&[("room.map", ROOM)]);
        let path = folder.path();
        // A device under a name with the right ending: a link to it, which is followed.
        let names = [format!("device{ending}"), format!("socket{ending}"), format!("folder{ending}")];
        symlink("/dev/null", path.join(&names[0])).expect("linked");
        let _listener = std::os::unix::net::UnixListener::bind(path.join(&names[1])).expect("bound");
        fs::create_dir(path.join(&names[2])).expect("made");
        for (name, kind) in names.iter().zip(["a device or a socket", "a device or a socket", "a folder"]) {
            fails(path, &line(&words, name), 2, &[name, kind]);
        }
        assert!(fs::metadata("/dev/null").expect("there").file_type().is_char_device());
        assert!(fs::symlink_metadata(path.join(&names[1])).expect("there").file_type().is_socket());
        assert_eq!(fs::read_dir(path.join(&names[2])).expect("there").count(), 0);
    }
}

#[test]
fn a_link_inside_a_folder_of_results_was_replaced_by_a_file() {
    for (words, file) in [
        (&["properties", "--count", "1", "--out", "made"][..], "medians.svg"),
        (&["reproduce", "pacman", "--report-only", "--quick", "--out", "made"], "report.md"),
        (&["reproduce", "pacman", "--report-only", "--quick", "--out", "made"], "report.html"),
    ] {
        let folder = folder(&[]);
        let path = folder.path();
        fs::create_dir(path.join("made")).expect("made");
        let (link, real) = (path.join("made").join(file), path.join("real"));
        symlink(&real, &link).expect("linked");
        let output = itergnn(path, words);
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        assert!(link.is_symlink() && fs::metadata(&real).expect("written through").len() > 0, "{words:?}");
        // A folder or a device in its place is refused and stays.
        for (target, kind) in [("/dev/null", "a device or a socket"), ("made", "a folder")] {
            fs::remove_file(&link).expect("removed");
            symlink(if target == "made" { path.join("made") } else { target.into() }, &link).expect("linked");
            fails(path, words, 2, &[file, kind]);
        }
        assert!(fs::metadata("/dev/null").expect("there").file_type().is_char_device());
    }
}

#[test]
fn a_dash_was_the_name_of_a_file() {
    let folder = folder(&[("room.map", ROOM)]);
    let path = folder.path();
    for line in [
        &["sample", "tsp", "--size", "5", "--count", "2", "--out", "-"][..],
        &["sample", "tsp", "--size", "5", "--count", "2"],
    ] {
        let output = itergnn(path, line);
        assert!(output.status.success());
        assert_eq!(text(&output.stdout).lines().count(), 2);
    }
    let (words, _) = outputs().pop().expect("import");
    let output = itergnn(path, &line(&words, "-"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    fs::write(path.join("piped.safetensors"), &output.stdout).expect("written");
    let sampled = itergnn(path, &["sample", "shortest-path", "--size", "6", "--count", "1", "--out", "graph.json"]);
    assert!(sampled.status.success());
    assert!(json(path, &["predict", "piped.safetensors", "--graph", "graph.json", "--json"])["prediction"].is_array());
    assert!(!path.join("-").exists());
    // With --json stdout is taken.
    fails(path, &["eval", "random", "--grid", "--count", "1", "--out", "-", "--json"], 2, &["--json", "stdout"]);
}

#[test]
fn an_output_that_failed_left_a_part_behind() {
    let folder = folder(&[("kept.jsonl", "kept\n")]);
    // No file may grow beyond 64 KiB.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" \"$@\"";
    let output = Command::new("bash")
        .args([
            "-c",
            script,
            env!("CARGO_BIN_EXE_itergnn"),
            "sample",
            "shortest-path",
            "--count",
            "10000",
            "--out",
            "kept.jsonl",
        ])
        .current_dir(folder.path())
        .output()
        .expect("bash runs");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(folder.path().join("kept.jsonl")).expect("there"), "kept\n");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
}

#[test]
fn permissions_of_a_file_were_lost() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(&[("private.jsonl", "")]);
    let path = folder.path().join("private.jsonl");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("set");
    let done =
        command(folder.path(), &["sample", "tsp", "--size", "5", "--count", "1", "--out", "private.jsonl"]).status();
    assert!(done.expect("it runs").success());
    assert_eq!(fs::metadata(&path).expect("there").permissions().mode() & 0o777, 0o600);
}
