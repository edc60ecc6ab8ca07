//! Files that are complete or not there.
//!
//! Every crate writes its results through [`OutputFile`] or [`write_file`], so that what a name may lead to is decided
//! once: a regular file or nothing yet is replaced in one step, a link is followed, a named pipe is written to, and
//! anything else (a folder, a device, a socket) is refused untouched.

use std::{
    ffi::OsString,
    fs::{self, File, Permissions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// Links that are followed before a chain of them counts as a circle, as Linux does.
const LONGEST_CHAIN: usize = 40;

/// A file that appears under its name only when it is complete: written beside it, flushed to disk, renamed.
///
/// What is dropped before [`OutputFile::finish`] leaves the old file as it was. A named pipe has no such safety: its
/// reader gets the bytes as they come.
///
/// # Example
/// ```
/// use std::io::Write;
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("answer.txt");
/// let mut file = itergnn_graph::OutputFile::create(&path)?;
/// file.write_all(b"42\n")?;
/// assert!(!path.exists());
/// file.finish()?;
/// assert_eq!(std::fs::read(&path)?, b"42\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct OutputFile {
    /// `None` once it is finished.
    writer: Option<BufWriter<File>>,
    /// Where the bytes go until they are complete, and what becomes of them; `None` for a pipe.
    replaced: Option<Replaced>,
}

#[derive(Debug)]
struct Replaced {
    temporary: PathBuf,
    path: PathBuf,
}

/// Where a name leads.
enum Place {
    /// A file, or a name that is free, after all links; with the permissions that a new file must keep.
    Regular(PathBuf, Option<Permissions>),
    Pipe,
}

impl OutputFile {
    /// Begins a file. Nothing changes under `path` until [`OutputFile::finish`].
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if the name leads to something that is no regular file and no pipe, and what the
    /// system reports.
    pub fn create(path: &Path) -> io::Result<Self> {
        let (path, permissions) = match place_of(path)? {
            Place::Regular(path, permissions) => (path, permissions),
            Place::Pipe => {
                let pipe = File::options().write(true).open(path)?;
                return Ok(Self { writer: Some(BufWriter::new(pipe)), replaced: None });
            }
        };
        let temporary = temporary_beside(&path)?;
        // What a process of the same number left behind when it was killed.
        let _ = fs::remove_file(&temporary);
        let file = File::options().write(true).create_new(true).open(&temporary)?;
        let output = Self {
            writer: Some(BufWriter::with_capacity(1 << 16, file)),
            replaced: Some(Replaced { temporary: temporary.clone(), path }),
        };
        if let Some(permissions) = permissions {
            fs::set_permissions(&temporary, permissions)?;
        }
        Ok(output)
    }

    /// Makes the file appear.
    ///
    /// # Errors
    /// What the system reports; the old file is then as it was.
    pub fn finish(self) -> io::Result<()> {
        self.finish_keeping(None)
    }

    fn finish_keeping(mut self, previous: Option<&Path>) -> io::Result<()> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        let file = writer.into_inner().map_err(io::IntoInnerError::into_error)?;
        let Some(Replaced { temporary, path }) = &self.replaced else { return Ok(()) };
        file.sync_all()?;
        drop(file);
        if let Some(previous) = previous
            && path.exists()
        {
            fs::rename(path, previous)?;
        }
        fs::rename(temporary, path)?;
        self.replaced.take().map_or(Ok(()), |done| sync_folder_of(&done.path))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.as_mut().map_or(Ok(0), |writer| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(Replaced { temporary, .. }) = &self.replaced {
            // What was written so far must not stay behind; there is no one left to tell if it does.
            let _ = fs::remove_file(temporary);
        }
    }
}

/// Writes `bytes` to `path` as an [`OutputFile`]: a reader sees the old file or the new one, never a part, also after a
/// crash.
///
/// # Errors
/// As [`OutputFile::create`] and [`OutputFile::finish`].
pub fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
}

/// As [`write_file`], with the old file kept under the name `previous`.
///
/// Between the two renames only `previous` exists, so a reader must look there too.
///
/// # Errors
/// As [`write_file`].
pub fn write_file_keeping(path: &Path, previous: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes)?;
    file.finish_keeping(Some(previous))
}

/// Refuses what [`OutputFile::create`] would refuse because of what the name leads to, before any work is done for it.
///
/// # Errors
/// As [`OutputFile::create`], but a name that is free is not tried.
pub fn check_output(path: &Path) -> io::Result<()> {
    place_of(path).map(drop)
}

fn place_of(path: &Path) -> io::Result<Place> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => Ok(Place::Regular(fs::canonicalize(path)?, Some(found.permissions()))),
        Ok(found) if is_pipe(&found) => Ok(Place::Pipe),
        Ok(found) => {
            let what = if found.is_dir() { "a folder" } else { "a device or a socket" };
            Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {what}, not a file, and stays as it is")))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Place::Regular(end_of_links(path)?, None)),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_pipe(found: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&found.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

/// The free name that a chain of links ends in.
fn end_of_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        match fs::read_link(&path) {
            // A relative link counts from the folder it lies in; `join` lets an absolute one stand for itself.
            Ok(next) => path = path.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "its links lead in a circle"))
}

/// `model.safetensors` -> `.model.safetensors.1234.tmp`, in the same folder so that the rename stays on one file
/// system.
fn temporary_beside(path: &Path) -> io::Result<PathBuf> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it is not a file name"))?;
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}.tmp", std::process::id()));
    Ok(path.with_file_name(hidden))
}

/// Makes new names in a folder durable. Only Unix lets a folder be opened for that.
fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) if cfg!(unix) => {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            File::open(folder)?.sync_all()
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn the_old_file_is_replaced_or_kept_aside() {
        let folder = tempfile::tempdir().unwrap();
        let (path, previous) = (folder.path().join("a"), folder.path().join("b"));
        write_file_keeping(&path, &previous, b"one").unwrap();
        assert!(!previous.exists());
        write_file_keeping(&path, &previous, b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap(), fs::read(&previous).unwrap()), (b"two".to_vec(), b"one".to_vec()));
        write_file(&path, b"three").unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"three".to_vec(), 2), "no temporary file stays");
    }

    #[test]
    fn a_write_that_breaks_off_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_file(&path, b"good").unwrap();
        let mut broken = OutputFile::create(&path).unwrap();
        broken.write_all(b"half of it").unwrap();
        drop(broken);
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"good".to_vec(), 1));
    }

    #[test]
    fn folders_and_missing_folders_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(write_file(folder.path(), b"").unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(write_file(&folder.path().join("none/a"), b"").unwrap_err().kind(), io::ErrorKind::NotFound);
        assert!(write_file(Path::new("/"), b"").is_err() && write_file(Path::new(""), b"").is_err());
    }

    #[cfg(unix)]
    mod unix {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

        use super::*;

        #[test]
        fn links_are_written_through() {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            fs::create_dir(at("far")).unwrap();
            symlink("far/real", at("near")).unwrap();
            symlink("near", at("link")).unwrap();
            // First the end of the links does not exist yet, then it does.
            for text in [b"one", b"two"] {
                write_file(&at("link"), text).unwrap();
                assert_eq!(fs::read(at("far/real")).unwrap(), text);
                assert!(at("link").is_symlink() && at("near").is_symlink());
            }
            symlink("circle", at("circle")).unwrap();
            assert!(write_file(&at("circle"), b"").is_err());
            assert!(at("circle").is_symlink());
        }

        #[test]
        fn permissions_stay() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            fs::write(&path, "x").unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
            write_file(&path, b"y").unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        }

        #[test]
        fn devices_and_sockets_stay_what_they_are() {
            let folder = tempfile::tempdir().unwrap();
            let socket = folder.path().join("socket");
            let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
            for path in [&socket, Path::new("/dev/null")] {
                assert_eq!(write_file(path, b"x").unwrap_err().kind(), io::ErrorKind::InvalidInput);
                assert_eq!(check_output(path).unwrap_err().kind(), io::ErrorKind::InvalidInput);
            }
            assert!(fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
            assert!(fs::symlink_metadata("/dev/null").unwrap().file_type().is_char_device());
        }

        #[test]
        fn a_pipe_is_written_to() {
            let folder = tempfile::tempdir().unwrap();
            let pipe = folder.path().join("pipe");
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            let reader = std::thread::spawn({
                let pipe = pipe.clone();
                move || fs::read(pipe).unwrap()
            });
            write_file(&pipe, b"through").unwrap();
            assert_eq!(reader.join().unwrap(), b"through");
            assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
        }
    }
}
