//! Waiting for whichever comes first.
//!
//! Tokio has a macro for it, which would bring a parser of Rust into every build.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Which of two came first, and what it brought.
pub(crate) enum First<A, B> {
    Left(A),
    Right(B),
}

/// Waits for the first of two; the left one if both are ready. The other is dropped.
pub(crate) async fn race<A, B>(left: impl Future<Output = A>, right: impl Future<Output = B>) -> First<A, B> {
    let (mut left, mut right) = (pin!(left), pin!(right));
    poll_fn(|context| {
        if let Poll::Ready(value) = left.as_mut().poll(context) {
            return Poll::Ready(First::Left(value));
        }
        right.as_mut().poll(context).map(First::Right)
    })
    .await
}
