//! The reference server of the protocol, over both transports.

use serde_json::json;

use crate::home::{Home, peer};

#[tokio::test]
async fn tools_of_a_real_server_can_be_called() {
    let home = Home::new(
        json!({ "ref": { "command": "node", "args": [peer("server-everything"), "stdio"] } }),
    )
    .await;
    home.until_ready("ref").await;
    println!("{:?} {:?}", home.tools(), home.info("ref").protocol);
    println!("{:?}", home.call("ref__echo", json!({ "message": "hi" })).await);
    home.servers.close().await;
}
