//! What a picture is made of.

use std::path::Path;

use crate::{failure::Failure, output::Output};

/// Red, green and blue.
pub(crate) type Color = [u8; 3];

pub(crate) const BLACK: Color = [0; 3];
pub(crate) const WHITE: Color = [255; 3];

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A shape; lengths in pixels of the SVG, from the top left corner.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Rectangle {
        at: (f64, f64),
        size: (f64, f64),
        fill: Color,
        opacity: f64,
    },
    Line {
        points: Vec<(f64, f64)>,
        color: Color,
        width: f64,
    },
    Dot {
        at: (f64, f64),
        radius: f64,
        fill: Color,
        opacity: f64,
        animations: Vec<Animation>,
    },
    /// Squares side by side, row after row.
    Cells {
        columns: usize,
        side: f64,
        fills: Vec<Color>,
    },
    /// A line of text on its baseline; `upwards` is turned to the left by a right angle.
    Text {
        at: (f64, f64),
        content: String,
        size: f64,
        color: Color,
        anchor: Anchor,
        upwards: bool,
    },
}

/// How a number of a shape changes over and over. An SVG moves; a PNG shows the shape as it is.
#[derive(Debug, Clone)]
pub(crate) struct Animation {
    /// `cx`, `cy` or `r`.
    pub(crate) attribute: &'static str,
    /// A moment, as a share of the whole, and the value from then on.
    pub(crate) moments: Vec<(f64, f64)>,
    /// Whether values jump instead of gliding.
    pub(crate) jumps: bool,
    pub(crate) seconds: f64,
}

impl Shape {
    pub(crate) fn rectangle(at: (f64, f64), size: (f64, f64), fill: Color) -> Self {
        Self::Rectangle { at, size, fill, opacity: 1.0 }
    }

    pub(crate) fn line(points: Vec<(f64, f64)>, color: Color, width: f64) -> Self {
        Self::Line { points, color, width }
    }

    pub(crate) fn dot(at: (f64, f64), radius: f64, fill: Color) -> Self {
        Self::Dot { at, radius, fill, opacity: 1.0, animations: Vec::new() }
    }

    pub(crate) fn text(at: (f64, f64), content: &str, size: f64, anchor: Anchor) -> Self {
        Self::Text { at, content: content.to_owned(), size, color: BLACK, anchor, upwards: false }
    }
}

/// A picture on white.
#[derive(Debug, Clone)]
pub(crate) struct Drawing {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// From back to front.
    pub(crate) shapes: Vec<Shape>,
}

impl Drawing {
    /// Writes the picture; the extension says as what.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        let bytes = match Kind::of(path)? {
            Kind::Svg => self.svg().into_bytes(),
            Kind::Png => self.png().map_err(Failure::failed)?,
        };
        Output::write(path, &bytes)
    }

    /// Refuses a file that cannot be written or whose extension is no picture, before any work is done for it.
    pub(crate) fn check_name(path: &Path) -> Result<(), Failure> {
        Kind::of(path)?;
        Output::check(path)
    }
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Svg,
    Png,
}

impl Kind {
    fn of(path: &Path) -> Result<Self, Failure> {
        match path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            _ => Err(Failure::bad_input(format!("{}: a picture is a .svg or a .png file", path.display()))),
        }
    }
}
