//! Figures as SVG text: box plots, line plots, and the paper's figures about its data.
//!
//! Every figure is data first and text second: `X { .. }.svg()` gives a whole SVG document.
//!
//! | file | what |
//! |---|---|
//! | `frame` | the drawing area: axes, ticks, labels |
//! | `spread` | the five numbers of a box |
//! | `box_plot` | distributions side by side |
//! | `line_plot` | curves over one another |
//! | `properties` | how far apart nodes are, by size: generators, mazes, navigation maps |

mod box_plot;
mod frame;
mod line_plot;
mod properties;
mod spread;

pub(crate) use box_plot::BoxPlot;
pub(crate) use line_plot::{Line, LinePlot};
pub(crate) use properties::{PropertyFigure, property_figures};
pub(crate) use spread::Spread;
