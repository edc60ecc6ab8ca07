//! Long calls: without the interpreter's lock, ended by Ctrl-C, and never by a panic that reaches Python.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

use pyo3::prelude::*;

use crate::errors::Fault;

/// How often signals are looked for while work is done.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// How long work that was asked to stop may take to write its state; after that the call returns without it. Ctrl-C is
/// to be answered within a second.
const TO_FINISH: Duration = Duration::from_millis(800);

/// Does `work` on a thread of its own, while other Python threads run and signals are heard.
///
/// After Ctrl-C the flag that `work` is given turns true: what can stop should, and keep what it has. Then
/// `KeyboardInterrupt` is raised. What cannot stop goes on unheard until it is done, so it owns what it needs.
pub(crate) fn work<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    let stop = Arc::new(AtomicBool::new(false));
    let (sender, mut receiver) = mpsc::channel();
    let seen = Arc::clone(&stop);
    let body = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&seen)));
        // Nobody listens any more where the call was given up.
        let _ = sender.send(outcome.unwrap_or_else(|payload| Err(Fault::panicked(&*payload))));
    };
    thread::Builder::new().name("itergnn".to_owned()).spawn(body).map_err(Fault::failed)?;
    let listen = |receiver: mpsc::Receiver<_>, time| {
        py.detach(move || {
            let heard = receiver.recv_timeout(time);
            (heard, receiver)
        })
    };
    loop {
        let heard;
        (heard, receiver) = listen(receiver, BETWEEN_LOOKS);
        match heard {
            Ok(outcome) => return outcome.map_err(PyErr::from),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err(Fault::failed("the working thread died").into()),
        }
        if let Err(interrupt) = py.check_signals() {
            stop.store(true, Ordering::Relaxed);
            let _ = listen(receiver, TO_FINISH);
            return Err(interrupt);
        }
    }
}

/// The body of everything that Python can call, whole: a panic becomes an exception here, and nowhere else. What takes
/// long goes on to [`work`].
pub(crate) fn guarded<T, E: From<Fault>>(body: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| Err(Fault::panicked(&*payload).into()))
}

/// Panics inside a call, long or short, so that a test can see what Python sees of it.
#[pyfunction]
#[pyo3(name = "_panic_for_tests")]
pub(crate) fn panic_for_tests(py: Python<'_>, long: bool) -> PyResult<()> {
    guarded(|| if long { work(py, |_| panic!("as the test asked")) } else { panic!("as the test asked") })
}
