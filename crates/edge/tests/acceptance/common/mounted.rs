//! A protocol that lives in another room, as small as can be.

use std::convert::Infallible;

use axum::{
    body::Body,
    extract::Request,
    http::header,
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use edge::Guest;
use futures::{StreamExt as _, stream};

/// Tells which headers it was shown; to who asks for a stream it talks without end.
pub fn guest() -> Guest {
    Guest::new(tower::service_fn(|request: Request| async move {
        let answer: Response = if request.headers().contains_key(header::ACCEPT) {
            let begun = stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"begun"))]);
            Body::from_stream(begun.chain(stream::pending())).into_response()
        } else {
            let names: Vec<String> = request.headers().keys().map(ToString::to_string).collect();
            axum::Json(names).into_response()
        };
        Ok::<_, Infallible>(answer)
    }))
}
