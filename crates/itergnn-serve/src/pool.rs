//! Threads that compute, so that a long answer never keeps the server from listening.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::error::ApiError;

type Job = Box<dyn FnOnce() + Send>;

/// A fixed number of threads and a queue of fixed length before them.
pub(crate) struct Pool {
    sender: SyncSender<Job>,
}

/// Until when an answer is wanted.
#[derive(Debug, Clone)]
pub(crate) struct Deadline {
    at: Instant,
    limit: Duration,
    gone: Arc<AtomicBool>,
}

impl Deadline {
    /// In so much time.
    pub(crate) fn after(limit: Duration) -> Self {
        Self { at: Instant::now() + limit, limit, gone: Arc::new(AtomicBool::new(false)) }
    }

    /// Three quarters of the time: for work that can end early and leave something of use.
    pub(crate) fn earlier(&self) -> Self {
        Self { at: self.at.checked_sub(self.limit / 4).unwrap_or(self.at), ..self.clone() }
    }

    /// An error once the time is over or whoever asked has left; long work asks between its steps.
    pub(crate) fn check(&self) -> Result<(), ApiError> {
        let over = Instant::now() >= self.at || self.gone.load(Ordering::Relaxed);
        if over { Err(ApiError::too_slow()) } else { Ok(()) }
    }
}

/// Tells the work that nobody waits for it any more.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Pool {
    /// Starts the threads.
    ///
    /// # Errors
    /// What the system says if it has no more threads.
    pub(crate) fn start(workers: usize, queue: usize) -> std::io::Result<Self> {
        let (sender, receiver) = sync_channel::<Job>(queue);
        let receiver = Arc::new(Mutex::new(receiver));
        for index in 0..workers.max(1) {
            let receiver = Arc::clone(&receiver);
            std::thread::Builder::new().name(format!("compute-{index}")).spawn(move || work(&receiver))?;
        }
        Ok(Self { sender })
    }

    /// Computes something on one of the threads and waits for it.
    ///
    /// # Errors
    /// 503 at once if the queue is full, and when the time is over; what the work itself reports.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        limit: Duration,
        work: impl FnOnce(&Deadline) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let deadline = Deadline::after(limit);
        let _waiting = Waiting(Arc::clone(&deadline.gone));
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move || {
            // Whoever asked may have left while the job stood in the queue.
            let result = deadline.check().and_then(|()| {
                let computed = catch_unwind(AssertUnwindSafe(|| work(&deadline)));
                computed
                    .unwrap_or_else(|_| Err(ApiError::internal("the computation broke; this is a fault of itergnn")))
            });
            // Nobody left to tell is fine.
            let _ = answer.send(result);
        });
        self.sender.try_send(job).map_err(|refused| match refused {
            TrySendError::Full(_) => {
                ApiError::busy("all threads are busy and the queue is full; try again in a moment")
            }
            TrySendError::Disconnected(_) => ApiError::busy("the server is stopping"),
        })?;
        match tokio::time::timeout(limit, answered).await {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err(ApiError::internal("a computing thread ended; this is a fault of itergnn")),
            Err(_) => Err(ApiError::too_slow()),
        }
    }
}

fn work(receiver: &Mutex<Receiver<Job>>) {
    loop {
        // The lock is held while waiting: whoever has it takes the next job, then lets the next thread wait.
        let job = match receiver.lock() {
            Ok(receiver) => receiver.recv(),
            Err(_) => return,
        };
        match job {
            Ok(job) => job(),
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::StatusCode;
    use std::future::Future;
    use std::task::Poll;

    const LONG: Duration = Duration::from_secs(30);

    fn runtime() -> tokio::runtime::Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap()
    }

    #[test]
    fn a_full_queue_refuses_at_once_and_recovers() {
        let pool = Arc::new(Pool::start(1, 1).unwrap());
        let (open, gate) = std::sync::mpsc::channel::<()>();
        let (began, begun) = std::sync::mpsc::channel();
        runtime().block_on(async {
            let blocked = {
                let pool = Arc::clone(&pool);
                tokio::spawn(async move {
                    let wait = move |_: &Deadline| {
                        began.send(()).unwrap();
                        gate.recv().unwrap();
                        Ok(1)
                    };
                    pool.run(LONG, wait).await
                })
            };
            begun.recv().unwrap();
            // A job is in the queue once its future was looked at; the next finds no room.
            let mut queued = std::pin::pin!(pool.run(LONG, |_| Ok(2)));
            let looked = std::future::poll_fn(|context| Poll::Ready(queued.as_mut().poll(context).is_pending()));
            assert!(looked.await);
            let refused = pool.run(LONG, |_| Ok(3)).await.unwrap_err();
            assert!(refused.message.contains("queue is full"), "{}", refused.message);
            assert_eq!(refused.status, StatusCode::SERVICE_UNAVAILABLE);
            open.send(()).unwrap();
            assert_eq!((blocked.await.unwrap(), queued.await), (Ok(1), Ok(2)));
            assert_eq!(pool.run(LONG, |_| Ok(4)).await, Ok(4));
        });
    }

    #[test]
    fn a_panic_is_an_answer_and_the_thread_lives_on() {
        let pool = Pool::start(1, 4).unwrap();
        runtime().block_on(async {
            let broken = pool.run(LONG, |_| -> Result<(), ApiError> { panic!("on purpose") }).await.unwrap_err();
            assert_eq!(broken.status, StatusCode::INTERNAL_SERVER_ERROR);
            assert_eq!(pool.run(LONG, |_| Ok(5)).await, Ok(5));
        });
    }

    #[test]
    fn an_earlier_end_comes_earlier() {
        let limit = Duration::from_millis(400);
        let whole = Deadline::after(limit);
        assert!(whole.earlier().check().is_ok());
        std::thread::sleep(limit * 3 / 4);
        assert!(whole.earlier().check().is_err());
    }

    #[test]
    fn work_learns_that_nobody_waits() {
        let pool = Pool::start(1, 4).unwrap();
        runtime().block_on(async {
            let (told, tell) = std::sync::mpsc::channel();
            let endless = move |deadline: &Deadline| -> Result<(), ApiError> {
                while deadline.check().is_ok() {
                    std::thread::sleep(Duration::from_millis(1));
                }
                told.send(()).unwrap();
                deadline.check()
            };
            assert!(pool.run(Duration::from_millis(30), endless).await.is_err());
            tell.recv_timeout(LONG).unwrap();
            assert_eq!(pool.run(LONG, |_| Ok(6)).await, Ok(6));
        });
    }
}
