//! Pictures: shapes first, then SVG, PNG or the frames of a GIF.
//!
//! | file | what |
//! |---|---|
//! | `shapes` | what a picture is made of, and writing it to a file |
//! | `svg`, `canvas`, `font` | the two ways a picture is written |
//! | `axis`, `plot`, `box_plot` | plots: axes with round ticks, curves and dots, boxes |
//! | `grid` | a path over a map or an image |
//! | `game` | a game of Pacman, still or moving |

mod axis;
mod box_plot;
mod canvas;
mod font;
mod game;
mod grid;
mod plot;
mod shapes;
mod svg;

pub(crate) use box_plot::{BoxPlot, Spread};
pub(crate) use game::GamePicture;
pub(crate) use grid::GridPicture;
pub(crate) use plot::{Plot, Series, Style};
pub(crate) use shapes::{Anchor, Animation, Color, Drawing, Shape};
pub(crate) use svg::escaped;
