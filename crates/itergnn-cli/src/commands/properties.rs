//! `itergnn properties`: what the paper's data look like.

use std::fs;

use crate::{
    estimate::Allowance,
    failure::Failure,
    options::PropertiesArguments,
    output::{Output, note, print, print_json, table},
    progress::Progress,
    property_figures::{PropertyFigure, property_figures},
};

pub(crate) fn run(arguments: &PropertiesArguments) -> Result<(), Failure> {
    if arguments.count == 0 {
        return Err(Failure::bad_input("--count 0: a box needs at least one graph"));
    }
    // The distance of every graph of a kind and size, twice while they are sorted.
    Allowance::free().check_count("--count", arguments.count, 2 * size_of::<f64>() as u64)?;
    let working = Progress::endless("drawing graphs");
    let figures = property_figures(arguments.seed, arguments.count).map_err(Failure::bad_input)?;
    drop(working);
    if let Some(folder) = &arguments.out {
        fs::create_dir_all(folder)
            .map_err(|error| Failure::bad_input(format!("could not create {}: {error}", folder.display())))?;
        for figure in &figures {
            Output::write(&folder.join(format!("{}.svg", figure.name)), figure.svg().as_bytes())?;
        }
        Output::write(&folder.join("medians.svg"), PropertyFigure::medians(&figures).drawing().svg().as_bytes())?;
        note(&format!("{} figures in {}", figures.len() + 1, folder.display()));
    }
    if arguments.json { print_json(&figures) } else { print(&text(&figures)) }
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
