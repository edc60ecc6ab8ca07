//! Puts the page, the trained models and the reproduction report into the binary, as tables of bytes.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let here = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let root = here.join("..").join("..");
    let mut text = String::new();
    let page = [files(&here.join("web").join("dist"), "js")?, files(&here.join("web").join("static"), "")?].concat();
    table(&mut text, "PAGE", &page)?;
    table(&mut text, "MODELS", &files(&root.join("models"), "safetensors")?)?;
    table(&mut text, "CARDS", &files(&root.join("models"), "md")?)?;
    let report = root.join("docs").join("reproduction").join("report.html");
    println!("cargo::rerun-if-changed={}", report.display());
    table(&mut text, "REPORT", &if report.is_file() { vec![report] } else { Vec::new() })?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("assets.rs"), text)?;
    Ok(())
}

/// The files of a folder with an ending, by name; none if there is no such folder.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut found = Vec::new();
    if folder.is_dir() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_file() && (ending.is_empty() || path.extension().is_some_and(|found| found == ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn table(text: &mut String, name: &str, files: &[PathBuf]) -> Result<(), Box<dyn Error>> {
    writeln!(text, "pub(crate) const {name}: &[Asset] = &[")?;
    for file in files {
        println!("cargo::rerun-if-changed={}", file.display());
        let short = file.file_name().ok_or("a file has a name")?.to_string_lossy().into_owned();
        let path = file.canonicalize()?;
        writeln!(text, "    Asset {{ name: {short:?}, bytes: include_bytes!({:?}) }},", path.display().to_string())?;
    }
    writeln!(text, "];")?;
    Ok(())
}
