//! What goes wrong, as Python exceptions.

use std::{any::Any, fmt::Display};

use pyo3::{prelude::*, sync::PyOnceLock, types::PyType};

/// Why a call did not give its result.
pub(crate) enum Fault {
    /// The caller can mend it: `itergnn.InputError`, which is a `ValueError`.
    Input(String),
    /// The caller cannot: `itergnn.RunError`, which is a `RuntimeError`.
    Failed(String),
    /// Python raised it, in a callback or while an argument was read.
    Python(PyErr),
}

impl Fault {
    /// A fault of the caller with the library's message.
    pub(crate) fn input(message: impl Display) -> Self {
        Self::Input(message.to_string())
    }

    /// A fault of the run with the library's message.
    pub(crate) fn failed(message: impl Display) -> Self {
        Self::Failed(message.to_string())
    }

    /// A broken invariant of the library. It must not end the interpreter, and whoever sees it can only report it.
    pub(crate) fn panicked(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
        Self::Failed(format!("a fault in itergnn itself, please report it: {text}"))
    }
}

impl From<PyErr> for Fault {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

impl From<Fault> for PyErr {
    fn from(fault: Fault) -> Self {
        match fault {
            Fault::Input(message) => raised("InputError", message),
            Fault::Failed(message) => raised("RunError", message),
            Fault::Python(error) => error,
        }
    }
}

/// An exception of `itergnn.errors`. The classes are written in Python, where a class can have two bases.
fn raised(class: &'static str, message: String) -> PyErr {
    static INPUT: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static RUN: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let cell = if class == "InputError" { &INPUT } else { &RUN };
    Python::attach(|py| match cell.import(py, "itergnn.errors", class) {
        Ok(class) => PyErr::from_type(class.clone(), message),
        Err(error) => error,
    })
}
