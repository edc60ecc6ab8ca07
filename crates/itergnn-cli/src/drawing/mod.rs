//! Pictures as a list of shapes, written as SVG or PNG.

mod canvas;
mod font;
mod shapes;
mod svg;

pub(crate) use shapes::{Anchor, Color, Drawing, Shape};
