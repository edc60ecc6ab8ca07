//! GIN classifiers with batch normalisation as one operation of the tensor framework: all blocks and all votes.
//!
//! | file | what |
//! |---|---|
//! | `model` | from modules to a [`ModelOutput`](crate::ModelOutput) |
//! | `call` | one run of the kernels: what they are told, what they leave behind |
//! | `tensors` | any number of tensors as one argument of an operation |
//! | `operation` | the operation on Flex, and its backward step under autodiff |

mod call;
mod model;
mod operation;
mod tensors;

pub(crate) use model::{FusedGin, run_gin};
