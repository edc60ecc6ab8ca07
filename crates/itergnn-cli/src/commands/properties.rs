//! `itergnn properties`: what the paper's data look like.

use std::{fs, io::Write, path::Path};

use crate::{
    failure::Failure,
    figures::{PropertyFigure, property_figures},
    options::PropertiesArguments,
    output::{AtomicFile, note, print, print_json, table},
    progress,
};

pub(crate) fn run(arguments: &PropertiesArguments) -> Result<(), Failure> {
    if arguments.count == 0 {
        return Err(Failure::bad_input("--count 0: a box needs at least one graph"));
    }
    let spinner = progress::spinner("drawing graphs");
    let figures = property_figures(arguments.seed, arguments.count).map_err(Failure::bad_input)?;
    spinner.finish_and_clear();
    if let Some(folder) = &arguments.out {
        fs::create_dir_all(folder)
            .map_err(|error| Failure::bad_input(format!("could not create {}: {error}", folder.display())))?;
        for figure in &figures {
            write(&folder.join(format!("{}.svg", figure.name)), &figure.svg())?;
        }
        write(&folder.join("medians.svg"), &PropertyFigure::medians(&figures).svg())?;
        note(&format!("itergnn: {} figures in {}", figures.len() + 1, folder.display()));
    }
    if arguments.json { print_json(&figures) } else { print(&text(&figures)) }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(text.as_bytes()).map_err(|error| Failure::writing(path.display(), &error))?;
    file.finish()
}

fn text(figures: &[PropertyFigure]) -> String {
    let rows = figures.iter().flat_map(|figure| {
        figure.spreads.iter().map(|(size, spread)| {
            let quartiles = format!("{} to {}", spread.low_quartile, spread.high_quartile);
            vec![figure.name.to_owned(), size.to_string(), spread.median.to_string(), quartiles]
        })
    });
    table(&["graphs", "size", "median distance", "quartiles"], rows)
}
