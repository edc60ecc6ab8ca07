//! Opening files that may be compressed.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};

use super::FormatError;

/// A file as it is read: buffered, unpacked where it was compressed.
pub type Source = Box<dyn BufRead + Send>;

/// Bytes that any compressed file may unpack to.
const FREE_BYTES: u64 = 1 << 26;

/// Beyond that, how many bytes may come out for each byte that went in. Graphs as text shrink to about a tenth, samples
/// with one-hot attributes to a hundredth; a bomb reaches a thousand and more.
const LARGEST_RATIO: u64 = 250;

/// Memory for the window of a decoder: what the strongest usual settings of xz and zstd need.
const WINDOW_BYTES: u64 = 1 << 27;

/// Opens a file for reading, unpacked by its content where it is compressed (gzip, xz, zstd); `-` is standard input.
///
/// What is unpacked is bounded: 64 MiB plus 250 times what was read. More is an error, so that a small file cannot fill
/// memory.
///
/// # Errors
/// [`FormatError::Read`].
pub fn open(path: &Path) -> Result<Source, FormatError> {
    let opened = if path.as_os_str() == "-" {
        unpack(io::stdin())
    } else {
        // Directories can be opened on some platforms and fail only when read; either way the message names the file.
        File::open(path).and_then(unpack)
    };
    opened.map_err(|error| FormatError::read(&path.display().to_string(), &error))
}

/// The path without an extension that only says how the file is compressed.
pub(crate) fn without_extension(path: &Path) -> &Path {
    let packed =
        path.extension().is_some_and(|found| ["gz", "xz", "zst"].iter().any(|known| found.eq_ignore_ascii_case(known)));
    match path.file_stem().filter(|_| packed) {
        Some(stem) => Path::new(stem),
        None => path,
    }
}

/// What a reader holds, unpacked as [`open`] does it.
///
/// # Errors
/// What the reader says. Damaged data is an error only when it is read.
pub fn unpack(reader: impl Read + Send + 'static) -> io::Result<Source> {
    let consumed = Arc::new(AtomicU64::new(0));
    let counted = Counted { inner: reader, bytes: Arc::clone(&consumed) };
    let mut packed = BufReader::with_capacity(1 << 16, counted);
    let start = packed.fill_buf()?;
    let decoder: Box<dyn Read + Send> = match start {
        [0x1f, 0x8b, ..] => Box::new(MultiGzDecoder::new(packed)),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
            Box::new(XzReader::new_mem_limit(packed, true, (WINDOW_BYTES / 1024) as u32))
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(ZstdFrames { decoder: None, rest: Some(packed) }),
        _ => return Ok(Box::new(packed)),
    };
    Ok(Box::new(BufReader::with_capacity(1 << 16, Bounded { inner: decoder, consumed, produced: 0 })))
}

/// Counts the bytes that are read.
struct Counted<R> {
    inner: R,
    bytes: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// Ends with an error where far more comes out than went in.
struct Bounded<R> {
    inner: R,
    consumed: Arc<AtomicU64>,
    produced: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.produced += read as u64;
        let limit = FREE_BYTES.saturating_add(LARGEST_RATIO.saturating_mul(self.consumed.load(Ordering::Relaxed)));
        if self.produced > limit {
            let why =
                format!("it unpacks to more than {LARGEST_RATIO} times its size: unpack it by hand if that is right");
            return Err(io::Error::new(io::ErrorKind::InvalidData, why));
        }
        Ok(read)
    }
}

/// All frames of a zstd file, one after the other; exactly one of the two is there, unless an error came between.
struct ZstdFrames<R: BufRead> {
    decoder: Option<StreamingDecoder<R, FrameDecoder>>,
    rest: Option<R>,
}

impl<R: BufRead> Read for ZstdFrames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while !buffer.is_empty() {
            if let Some(decoder) = &mut self.decoder {
                let read = decoder.read(buffer)?;
                if read > 0 {
                    return Ok(read);
                }
                self.rest = self.decoder.take().map(StreamingDecoder::into_inner);
            }
            let Some(mut rest) = self.rest.take() else { break };
            if rest.fill_buf()?.is_empty() {
                break;
            }
            let next = StreamingDecoder::new_with_max_window_size(rest, WINDOW_BYTES);
            self.decoder = Some(next.map_err(io::Error::other)?);
        }
        Ok(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    const TEXT: &str = "0 1 2.5\n1 2 0.5\n";

    /// `TEXT` twice, by `gzip`, `xz` and `zstd` of the command line: two members, streams, frames.
    const XZ: &[u8] = include_bytes!("../../tests/fixtures/twice.edges.xz");
    const ZSTD: &[u8] = include_bytes!("../../tests/fixtures/twice.edges.zst");

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn read(bytes: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        unpack(io::Cursor::new(bytes))?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    fn the_content_tells_how_a_file_is_compressed() {
        assert_eq!(read(TEXT.into()).unwrap(), TEXT);
        assert_eq!(read([gzip(TEXT.as_bytes()), gzip(TEXT.as_bytes())].concat()).unwrap(), TEXT.repeat(2));
        assert_eq!(read(XZ.to_vec()).unwrap(), TEXT.repeat(2));
        assert_eq!(read(ZSTD.to_vec()).unwrap(), TEXT.repeat(2));
        assert_eq!(read(Vec::new()).unwrap(), "");
    }

    #[test]
    fn a_bomb_ends_with_an_error() {
        let bomb = gzip(&vec![b'\n'; 2 * FREE_BYTES as usize]);
        assert!(bomb.len() < 1 << 18);
        assert!(read(bomb).unwrap_err().to_string().contains("more than 250 times"));
    }

    #[test]
    fn damaged_files_are_errors() {
        for whole in [gzip(TEXT.as_bytes()), XZ.to_vec(), ZSTD.to_vec()] {
            for cut in 7..whole.len() {
                let _ = read(whole[..cut].to_vec());
                let mut damaged = whole.clone();
                damaged[cut] ^= 0x55;
                let _ = read(damaged);
            }
            assert!(read(whole[..whole.len() / 2 + 3].to_vec()).is_err());
        }
    }

    #[test]
    fn a_second_extension_is_passed_over() {
        assert_eq!(without_extension(Path::new("a/rome.gr.gz")), Path::new("rome.gr"));
        assert_eq!(without_extension(Path::new("a/rome.gr")), Path::new("a/rome.gr"));
    }
}
