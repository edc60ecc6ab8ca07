//! Checkpoints of the authors' PyTorch code as models of this crate.
//!
//! Their code differs from the paper, and an imported model follows the code: LeakyReLU after the last layer of every
//! MLP, the head included; maximum as aggregation of PathConv and PathSimConv; MPNNMaxConv reads `[receiver, sender,
//! edge]` and takes no maximum with the old state; a node without incoming edges aggregates 0; loops run at most as
//! many steps as the model string says.
//!
//! The pickle inside a checkpoint is parsed, never executed.
//!
//! One difference is left: in a batch, their finished graphs keep shrinking while others run. Here every graph is
//! treated as if it were alone.

mod checkpoint;
mod error;
mod name;
mod rename;

use std::path::Path;

use burn::tensor::Device;

pub use checkpoint::MAX_CHECKPOINT_BYTES;
pub use error::ImportError;
pub use name::{AuthorsArchitecture, AuthorsLayer, AuthorsName};

use crate::{GnnModel, InitRng, named_tensors, replace_tensors};

/// Reads a checkpoint of the authors' code, `name` being their model string, such as
/// `DecIterGNN30-HomoPathSimConv-Max`.
///
/// All widths and the numbers of layers come from the tensors.
///
/// # Errors
/// Any [`ImportError`]: a string that is not theirs, a file that is no checkpoint, or tensors that do not fit the
/// string.
pub fn import_pth(path: impl AsRef<Path>, name: &str, device: &Device) -> Result<GnnModel, ImportError> {
    let name: AuthorsName = name.parse()?;
    let checkpoint = checkpoint::Checkpoint::open(path.as_ref())?;
    let config = rename::config(&name, &checkpoint)?;
    let model = config.init(device, &mut InitRng::new(0))?;
    let expected = named_tensors(&model);
    let tensors = rename::tensors(&name, &checkpoint, &expected)?;
    Ok(replace_tensors(model, &tensors))
}
