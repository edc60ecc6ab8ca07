//! Pictures as maps: every pixel a cell, its brightness the height.

use std::{fs::File, io::BufReader, path::Path};

use png::{BitDepth, ColorType, Decoder, Limits, Transformations};

use crate::failure::Failure;

/// The largest side of a picture, as that of a navigation sample.
const LARGEST: u32 = 4_096;

/// Memory a decoder may take: the largest picture, four channels of 16 bits, and as much again for its own use.
const DECODER_BYTES: usize = 2 * 8 * (LARGEST as usize) * (LARGEST as usize);

/// Weights of red, green and blue in the brightness of a colour (Rec. 709, on the values as stored).
const LUMINANCE: [f64; 3] = [0.2126, 0.7152, 0.0722];

/// Cells an SVG can hold; beyond them viewers get slow.
const SVG_CELLS: usize = 65_536;

/// Heights of cells, row after row from the top, in [0, 1]: brighter is higher.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct HeightMap {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
    pub(crate) heights: Vec<f32>,
}

impl HeightMap {
    /// Reads a PNG: grey or colour (by its luminance), 8 or 16 bits or fewer, palettes too. Pixels must be opaque.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let problem = |why: String| Failure::bad_input(format!("{}: {why}", path.display()));
        let file = File::open(path).map_err(|error| problem(format!("could not be opened: {error}")))?;
        let mut decoder = Decoder::new_with_limits(BufReader::new(file), Limits { bytes: DECODER_BYTES });
        decoder.set_transformations(Transformations::EXPAND);
        let unreadable = |error: png::DecodingError| problem(format!("is not a PNG that can be read: {error}"));
        let header = decoder.read_header_info().map_err(unreadable)?;
        let (width, height) = (header.width, header.height);
        if width > LARGEST || height > LARGEST {
            return Err(problem(format!(
                "{width} x {height} pixels are more than {LARGEST} x {LARGEST}; scale it down"
            )));
        }
        let mut reader = decoder.read_info().map_err(unreadable)?;
        let size = reader.output_buffer_size().ok_or_else(|| problem("is too large".to_owned()))?;
        let mut bytes = vec![0; size];
        let info = reader.next_frame(&mut bytes).map_err(unreadable)?;
        let channels = info.color_type.samples();
        let samples: Vec<f64> = match info.bit_depth {
            BitDepth::Sixteen => {
                let pairs = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
                pairs.map(|value| f64::from(value) / f64::from(u16::MAX)).collect()
            }
            _ => bytes.iter().map(|&value| f64::from(value) / f64::from(u8::MAX)).collect(),
        };
        let has_alpha = matches!(info.color_type, ColorType::GrayscaleAlpha | ColorType::Rgba);
        let pixels = samples.chunks_exact(channels).take(width as usize * height as usize);
        let mut heights = Vec::with_capacity(width as usize * height as usize);
        for (place, pixel) in pixels.enumerate() {
            if has_alpha && pixel[channels - 1] < 1.0 {
                let (row, column) = (place / width as usize, place % width as usize);
                return Err(problem(format!(
                    "the pixel in column {column}, row {row} is not opaque and has no height"
                )));
            }
            heights.push(brightness(&pixel[..channels - usize::from(has_alpha)]));
        }
        Ok(Self { rows: height as usize, columns: width as usize, heights })
    }

    /// The cell of `COLUMN,ROW`, both from 0 at the top left, as on maps.
    pub(crate) fn find(&self, flag: &str, text: &str) -> Result<u32, Failure> {
        let numbers = text.split_once(',').map(|(column, row)| (column.trim().parse(), row.trim().parse()));
        let Some((Ok(column), Ok(row))) = numbers else {
            return Err(Failure::bad_input(format!("{flag} {text}: not a cell; give COLUMN,ROW, such as 12,0")));
        };
        let (column, row): (usize, usize) = (column, row);
        if row >= self.rows || column >= self.columns {
            let size = format!("{} columns and {} rows, counted from 0", self.columns, self.rows);
            return Err(Failure::bad_input(format!("{flag} {text}: the picture has {size}")));
        }
        Ok((row * self.columns + column) as u32)
    }

    /// Column and row of a cell.
    pub(crate) fn place(&self, cell: u32) -> [usize; 2] {
        [cell as usize % self.columns, cell as usize / self.columns]
    }

    /// Refuses a picture of a map with too many cells for its kind, before any work is done for it.
    pub(crate) fn check_picture(&self, path: &Path) -> Result<(), Failure> {
        let is_svg = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
        if is_svg && self.heights.len() > SVG_CELLS {
            let why = format!("{} cells are too many for an SVG; use .png", self.heights.len());
            return Err(Failure::bad_input(format!("--picture {}: {why}", path.display())));
        }
        Ok(())
    }
}

/// The brightness of an opaque pixel; a grey one's is its value, to the bit, however it is stored.
fn brightness(colours: &[f64]) -> f32 {
    match *colours {
        [red, green, blue] if red != green || green != blue => {
            [red, green, blue].iter().zip(LUMINANCE).map(|(colour, weight)| colour * weight).sum::<f64>() as f32
        }
        _ => colours[0] as f32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drawing::GridPicture;
    use png::Encoder;
    use tempfile::TempDir;

    fn written(folder: &TempDir, name: &str, size: (u32, u32), kind: (ColorType, BitDepth), data: &[u8]) -> HeightMap {
        let path = folder.path().join(name);
        write_png(&path, size, kind, data);
        HeightMap::read(&path).unwrap()
    }

    fn write_png(path: &Path, (width, height): (u32, u32), (color, depth): (ColorType, BitDepth), data: &[u8]) {
        let mut encoder = Encoder::new(File::create(path).unwrap(), width, height);
        encoder.set_color(color);
        encoder.set_depth(depth);
        encoder.write_header().unwrap().write_image_data(data).unwrap();
    }

    #[test]
    fn every_way_to_store_a_grey_gives_the_same_height() {
        let folder = TempDir::new().unwrap();
        let expected = vec![0.0, 0.8, 1.0];
        let grey = written(&folder, "g.png", (3, 1), (ColorType::Grayscale, BitDepth::Eight), &[0, 204, 255]);
        assert_eq!((grey.rows, grey.columns, &grey.heights), (1, 3, &expected));
        let colour = [0, 0, 0, 204, 204, 204, 255, 255, 255];
        assert_eq!(written(&folder, "c.png", (3, 1), (ColorType::Rgb, BitDepth::Eight), &colour).heights, expected);
        let alpha = [0, 255, 204, 255, 255, 255];
        let alpha = written(&folder, "a.png", (3, 1), (ColorType::GrayscaleAlpha, BitDepth::Eight), &alpha);
        assert_eq!(alpha.heights, expected);
        // 52428 / 65535 = 0.8.
        let wide = [0, 0, 0xcc, 0xcc, 0xff, 0xff];
        assert_eq!(
            written(&folder, "w.png", (3, 1), (ColorType::Grayscale, BitDepth::Sixteen), &wide).heights,
            expected
        );
        let green = written(&folder, "l.png", (1, 1), (ColorType::Rgb, BitDepth::Eight), &[0, 255, 0]);
        assert_eq!(green.heights, [0.7152]);
    }

    #[test]
    fn what_is_drawn_can_be_read_again() {
        let map = HeightMap { rows: 2, columns: 3, heights: vec![0.0, 0.2, 0.4, 0.6, 0.8, 1.0] };
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("map.png");
        let drawing = GridPicture::of_heights(&map).drawing([0, 1, 4].into_iter().map(|cell| map.place(cell)));
        drawing.write(&path).unwrap();
        let drawn = HeightMap::read(&path).unwrap();
        let side = drawn.columns / 3;
        assert_eq!((drawn.rows, drawn.columns), (2 * side, 3 * side));
        // A corner of a cell without path shows its height.
        assert_eq!((drawn.heights[2 * side], drawn.heights[drawn.columns * side]), (0.4, 0.6));
        // Background and five cells, the white one being part of it; path and ends.
        let svg = drawing.svg();
        let count = |tag: &str| svg.matches(tag).count();
        assert_eq!((count("<rect"), count("<polyline"), count("<circle")), (6, 1, 2));
    }

    #[test]
    fn cells_are_columns_and_rows() {
        let map = HeightMap { rows: 2, columns: 3, heights: vec![0.0; 6] };
        assert_eq!(map.find("--from", "2,1").unwrap(), 5);
        for text in ["0,2", "3,0", "1", "a,b", "-1,0"] {
            assert!(map.find("--from", text).is_err(), "{text}");
        }
    }
}
