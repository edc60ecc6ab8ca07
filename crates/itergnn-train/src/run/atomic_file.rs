//! Files that are complete or not there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::TrainError;

/// Writes `bytes` to `path` so that a reader sees the old file or the new one, never a part, also after a crash.
///
/// A temporary file beside it is written, flushed to disk and renamed; then the folder is flushed. What fails leaves the old file as it was.
///
/// # Errors
/// [`TrainError::Io`] with the path of the file.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    replace_atomically(path, None, |file| file.write_all(bytes))
}

/// As [`write_atomically`], with the old file kept under the name `previous`.
///
/// Between the two renames only `previous` exists, so a reader must look there too.
///
/// # Errors
/// As [`write_atomically`].
pub fn write_keeping_previous(path: &Path, previous: &Path, bytes: &[u8]) -> Result<(), TrainError> {
    replace_atomically(path, Some(previous), |file| file.write_all(bytes))
}

fn replace_atomically(
    path: &Path,
    previous: Option<&Path>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), TrainError> {
    let temporary = temporary_beside(path);
    let replaced = write_durably(&temporary, write).and_then(|()| {
        if let Some(previous) = previous
            && path.exists()
        {
            fs::rename(path, previous)?;
        }
        fs::rename(&temporary, path)?;
        sync_folder_of(path)
    });
    replaced.map_err(|source| {
        // The failure to report is the first one; a temporary file that stays behind is overwritten by the next attempt.
        let _ = fs::remove_file(&temporary);
        TrainError::Io { action: "write", path: path.to_owned(), source }
    })
}

fn write_durably(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    write(&mut file)?;
    file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
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

/// `last.ckpt` -> `.last.ckpt.tmp`, in the same folder so that the rename stays on one file system.
pub(crate) fn temporary_beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.tmp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_old_file_is_replaced_or_kept_aside() {
        let folder = tempfile::tempdir().unwrap();
        let (path, previous) = (folder.path().join("a"), folder.path().join("b"));
        write_keeping_previous(&path, &previous, b"one").unwrap();
        assert!(!previous.exists());
        write_keeping_previous(&path, &previous, b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap(), fs::read(&previous).unwrap()), (b"two".to_vec(), b"one".to_vec()));
        write_atomically(&path, b"three").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no temporary file stays");
    }

    #[test]
    fn a_write_that_breaks_off_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write_atomically(&path, b"good").unwrap();
        let broken = replace_atomically(&path, None, |file| {
            file.write_all(b"half of it")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        let message = broken.unwrap_err().to_string();
        assert!(message.starts_with("cannot write ") && message.contains("/a:"), "{message}");
        assert_eq!(fs::read(&path).unwrap(), b"good");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_does_not_exist_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let message = write_atomically(&folder.path().join("none/a"), b"").unwrap_err().to_string();
        assert!(message.contains("none/a"), "{message}");
    }
}
