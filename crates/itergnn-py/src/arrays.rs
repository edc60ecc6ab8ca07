//! NumPy arrays in and out.

use itergnn::graph::Attributes;
use numpy::{
    Element, IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2,
    ndarray::{Array2, ArrayView1},
};
use pyo3::{Borrowed, prelude::*};

use crate::errors::Fault;

/// Node numbers as other libraries keep them; read where they are, without a copy.
#[derive(FromPyObject)]
pub(crate) enum Nodes<'py> {
    /// PyTorch's and NumPy's default.
    Int64(PyReadonlyArray1<'py, i64>),
    /// SciPy's default.
    Int32(PyReadonlyArray1<'py, i32>),
    /// Ours.
    UInt32(PyReadonlyArray1<'py, u32>),
}

impl Nodes<'_> {
    /// The numbers as 32-bit indices.
    ///
    /// # Errors
    /// Names the first that is negative or too large to be a node.
    pub(crate) fn indices(&self, role: &str) -> Result<Vec<u32>, Fault> {
        match self {
            Self::Int64(array) => indices(array.as_array(), role),
            Self::Int32(array) => indices(array.as_array(), role),
            Self::UInt32(array) => indices(array.as_array(), role),
        }
    }
}

fn indices<T: Element + Copy + std::fmt::Display>(array: ArrayView1<'_, T>, role: &str) -> Result<Vec<u32>, Fault>
where
    u32: TryFrom<T>,
{
    let number = |(edge, &node): (usize, &T)| {
        u32::try_from(node)
            .map_err(|_| Fault::input(format!("edge {edge} names {role} {node}, which is no node number")))
    };
    array.iter().enumerate().map(number).collect()
}

/// Attributes, one row each; read where they are, unless they are numbers of another kind.
pub(crate) enum Rows<'py> {
    /// The library's own type.
    Float32(PyReadonlyArray2<'py, f32>),
    /// NumPy's default; rounded.
    Float64(PyReadonlyArray2<'py, f64>),
}

impl<'py> FromPyObject<'_, 'py> for Rows<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(array) = value.extract() {
            return Ok(Self::Float32(array));
        }
        if let Ok(array) = value.extract() {
            return Ok(Self::Float64(array));
        }
        let other = value.py().import("numpy")?.call_method1("asarray", (value, "float32"))?;
        let shape = other.getattr("shape")?;
        let refused = |_| Fault::input(format!("attributes: expected the shape (rows, width), found {shape}"));
        Ok(Self::Float32(other.extract().map_err(refused)?))
    }
}

impl Rows<'_> {
    /// The table.
    pub(crate) fn attributes(&self) -> Attributes {
        let (width, values): (usize, Vec<f32>) = match self {
            Self::Float32(array) => {
                let array = array.as_array();
                // In one piece where it lies in one piece, which is nearly always.
                (array.ncols(), array.as_slice().map_or_else(|| array.iter().copied().collect(), <[f32]>::to_vec))
            }
            Self::Float64(array) => {
                let array = array.as_array();
                (array.ncols(), array.iter().map(|&value| value as f32).collect())
            }
        };
        if width == 0 { Attributes::none() } else { Attributes::new(width, values) }
    }
}

/// A table as an array that owns its memory, which is not copied. `rows` counts for tables without columns.
pub(crate) fn table<'py, T: Element>(
    py: Python<'py>,
    rows: usize,
    width: usize,
    values: Vec<T>,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let array = Array2::from_shape_vec((rows, width), values).map_err(Fault::failed)?;
    Ok(array.into_pyarray(py))
}
