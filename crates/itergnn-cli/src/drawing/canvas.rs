//! Pictures as PNG, drawn pixel by pixel.

use super::{Anchor, Color, Drawing, Shape, font};

/// Pixels of the PNG for a pixel of the SVG, so that thin lines stay visible, unless the picture is large anyway.
const SCALE: f64 = 2.0;
const LARGE: f64 = 2_000.0;

/// Height of a letter of the font relative to the size of a text: capitals of common fonts.
const CAPITAL: f64 = 0.72;

/// A picture of three bytes per pixel.
struct Canvas {
    width: usize,
    height: usize,
    scale: f64,
    pixels: Vec<u8>,
}

impl Drawing {
    /// The picture as a PNG file.
    pub(crate) fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let canvas = Canvas::of(self, if self.width.max(self.height) > LARGE { 1.0 } else { SCALE });
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, canvas.width as u32, canvas.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&canvas.pixels)?;
        writer.finish()?;
        Ok(file)
    }

    /// The picture pixel by pixel, each as the nearest colour of a palette.
    pub(crate) fn indexed(&self, palette: &[Color]) -> Vec<u8> {
        let canvas = Canvas::of(self, 1.0);
        let away = |pixel: &[u8], color: &Color| -> u32 {
            pixel.iter().zip(color).map(|(one, other)| u32::from(one.abs_diff(*other)).pow(2)).sum()
        };
        let nearest =
            |pixel: &[u8]| (0..palette.len()).min_by_key(|&index| away(pixel, &palette[index])).unwrap_or(0) as u8;
        canvas.pixels.chunks_exact(3).map(nearest).collect()
    }
}

impl Canvas {
    fn of(drawing: &Drawing, scale: f64) -> Self {
        let (width, height) = ((scale * drawing.width).ceil() as usize, (scale * drawing.height).ceil() as usize);
        let mut canvas = Self { width, height, scale, pixels: vec![255; 3 * width * height] };
        drawing.shapes.iter().for_each(|shape| canvas.draw(shape));
        canvas
    }

    fn draw(&mut self, shape: &Shape) {
        let scale = self.scale;
        let scaled = |point: (f64, f64)| (scale * point.0, scale * point.1);
        match shape {
            Shape::Rectangle { at, size, fill, opacity } => self.rectangle(*at, *size, *fill, *opacity),
            Shape::Cells { columns, side, fills } => {
                for (place, fill) in fills.iter().enumerate() {
                    let at = (side * (place % columns) as f64, side * (place / columns) as f64);
                    self.rectangle(at, (*side, *side), *fill, 1.0);
                }
            }
            Shape::Line { points, color, width } => {
                let radius = scale * width / 2.0;
                for pair in points.windows(2) {
                    let (from, to) = (scaled(pair[0]), scaled(pair[1]));
                    let low = (from.0.min(to.0) - radius - 1.0, from.1.min(to.1) - radius - 1.0);
                    let high = (from.0.max(to.0) + radius + 1.0, from.1.max(to.1) + radius + 1.0);
                    let coverage = |x: f64, y: f64| radius + 0.5 - distance_to_segment((x, y), from, to);
                    self.fill(low, high, *color, coverage);
                }
            }
            Shape::Dot { at, radius, fill, opacity, .. } => {
                let (center, radius) = (scaled(*at), scale * radius);
                let low = (center.0 - radius - 1.0, center.1 - radius - 1.0);
                let high = (center.0 + radius + 1.0, center.1 + radius + 1.0);
                self.fill(low, high, *fill, |x, y| {
                    opacity * (radius + 0.5 - (x - center.0).hypot(y - center.1)).clamp(0.0, 1.0)
                });
            }
            Shape::Text { at, content, size, color, anchor, upwards } => {
                self.text(scaled(*at), content, scale * size, *color, *anchor, *upwards);
            }
        }
    }

    fn rectangle(&mut self, at: (f64, f64), size: (f64, f64), fill: Color, opacity: f64) {
        let (left, top) = (self.scale * at.0, self.scale * at.1);
        let (right, bottom) = (left + self.scale * size.0, top + self.scale * size.1);
        self.fill((left, top), (right, bottom), fill, |x, y| {
            opacity * overlap(x, left, right) * overlap(y, top, bottom)
        });
    }

    fn text(&mut self, at: (f64, f64), content: &str, size: f64, color: Color, anchor: Anchor, upwards: bool) {
        // Whole dots keep the letters sharp.
        let dot = (CAPITAL * size / font::HEIGHT as f64).round().max(1.0);
        let advance = dot * (font::WIDTH + 1) as f64;
        let length = advance * content.chars().count() as f64 - dot;
        let start = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -length / 2.0,
            Anchor::End => -length,
        };
        for (index, letter) in content.chars().enumerate() {
            for (row, bits) in font::glyph(letter).into_iter().enumerate() {
                for column in (0..font::WIDTH).filter(|column| bits >> (font::WIDTH - 1 - column) & 1 == 1) {
                    let along = start + advance * index as f64 + dot * column as f64;
                    let above = dot * (font::HEIGHT - row) as f64;
                    let (x, y) =
                        if upwards { (at.0 - above, at.1 - along - dot) } else { (at.0 + along, at.1 - above) };
                    let (x, y) = (x.round(), y.round());
                    self.fill((x, y), (x + dot, y + dot), color, |_, _| 1.0);
                }
            }
        }
    }

    /// Blends a colour into the pixels between two corners, by how much of a pixel around its centre is covered.
    fn fill(&mut self, low: (f64, f64), high: (f64, f64), color: Color, coverage: impl Fn(f64, f64) -> f64) {
        let range = |low: f64, high: f64, size: usize| {
            let end = high.ceil().clamp(0.0, size as f64) as usize;
            (low.floor().clamp(0.0, size as f64) as usize)..end
        };
        for row in range(low.1, high.1, self.height) {
            for column in range(low.0, high.0, self.width) {
                let share = coverage(column as f64 + 0.5, row as f64 + 0.5).clamp(0.0, 1.0);
                let place = 3 * (row * self.width + column);
                for (pixel, color) in self.pixels[place..place + 3].iter_mut().zip(color) {
                    let blended = share * f64::from(color) + (1.0 - share) * f64::from(*pixel);
                    *pixel = blended.round() as u8;
                }
            }
        }
    }
}

/// How much of the pixel around `at` lies between two borders.
fn overlap(at: f64, low: f64, high: f64) -> f64 {
    ((at + 0.5).min(high) - (at - 0.5).max(low)).clamp(0.0, 1.0)
}

fn distance_to_segment(at: (f64, f64), from: (f64, f64), to: (f64, f64)) -> f64 {
    let (way, here) = ((to.0 - from.0, to.1 - from.1), (at.0 - from.0, at.1 - from.1));
    let length = way.0 * way.0 + way.1 * way.1;
    let share = if length > 0.0 { ((here.0 * way.0 + here.1 * way.1) / length).clamp(0.0, 1.0) } else { 0.0 };
    (here.0 - share * way.0).hypot(here.1 - share * way.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pixels of a drawing, read back from its PNG.
    fn pixels(drawing: &Drawing) -> (usize, Vec<u8>) {
        let file = drawing.png().unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let frame = reader.next_frame(&mut pixels).unwrap();
        (frame.width as usize, pixels)
    }

    #[test]
    fn shapes_cover_what_they_should() {
        let red = [255, 0, 0];
        let shapes = vec![
            Shape::rectangle((1.0, 1.0), (2.0, 2.0), [0, 0, 255]),
            Shape::line(vec![(6.0, 0.0), (6.0, 10.0)], red, 1.0),
            Shape::dot((9.0, 9.0), 0.5, [0, 255, 0]),
        ];
        let (width, pixels) = pixels(&Drawing { width: 10.0, height: 10.0, shapes });
        assert_eq!(width, 20);
        let at = |x: usize, y: usize| &pixels[3 * (y * width + x)..][..3];
        assert_eq!((at(3, 3), at(1, 1)), (&[0, 0, 255][..], &[255; 3][..]));
        assert_eq!((at(12, 9), at(14, 9)), (&red[..], &[255; 3][..]));
        assert!(at(18, 18)[1] == 255 && at(18, 18)[0] < 100);
    }

    #[test]
    fn text_stands_on_its_point_in_either_direction() {
        for upwards in [false, true] {
            let mut text = Shape::text((20.0, 20.0), "I=1", 10.0, Anchor::Middle);
            if let Shape::Text { upwards: turned, .. } = &mut text {
                *turned = upwards;
            }
            let (width, pixels) = pixels(&Drawing { width: 40.0, height: 40.0, shapes: vec![text] });
            let dark = |x: usize, y: usize| pixels[3 * (y * width + x)] == 0;
            let places: Vec<(usize, usize)> =
                (0..width * width).map(|place| (place % width, place / width)).filter(|&(x, y)| dark(x, y)).collect();
            let (left, right) =
                (places.iter().map(|at| at.0).min().unwrap(), places.iter().map(|at| at.0).max().unwrap());
            let (top, bottom) =
                (places.iter().map(|at| at.1).min().unwrap(), places.iter().map(|at| at.1).max().unwrap());
            // A text of three letters is wider than high; its middle is at the point, and nothing hangs below the
            // baseline.
            let (long, high) = if upwards { (bottom - top, right - left) } else { (right - left, bottom - top) };
            assert!(long > high, "{left}..{right}, {top}..{bottom}");
            assert!(if upwards { right < 40 } else { bottom < 40 });
        }
    }
}
