//! Ends what is still being answered to a device when its key is revoked.

use axum::{
    body::{Body, HttpBody as _},
    response::Response,
};
use futures::{StreamExt as _, TryFutureExt as _, stream};

use crate::devices::Device;

/// What comes bit by bit breaks off; what is whole already is on its way.
pub fn until(response: Response, device: &Device) -> Response {
    if response.body().size_hint().exact().is_some() {
        return response;
    }
    let revoked = device.revocation();
    response.map(|body| {
        let all = (body.into_data_stream(), revoked, false);
        Body::from_stream(stream::unfold(all, |(mut body, mut revoked, over)| async move {
            if over {
                return None;
            }
            let piece = tokio::select! {
                biased;
                Ok(()) = revoked.wait_for(|revoked| *revoked).map_ok(drop) => None,
                piece = body.next() => Some(piece?),
            };
            let over = piece.is_none();
            let broken = || Err(axum::Error::new("the key was revoked"));
            Some((piece.unwrap_or_else(broken), (body, revoked, over)))
        }))
    })
}
