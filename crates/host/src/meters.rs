//! What is counted, and how Prometheus reads it.

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};

use crate::wire::Metrics;

/// How often what was measured since is added up, so that it does not wait for a reader.
const UPKEEP: Duration = Duration::from_secs(10);
const SECONDS: [f64; 12] = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1., 5., 30.];

/// Begins to count for the whole process; what it returns writes all counters down.
pub fn begin() -> anyhow::Result<Metrics> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".into()), &SECONDS)
        .and_then(PrometheusBuilder::install_recorder)
        .context("cannot begin to count")?;
    metrics::gauge!("megaron_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    let kept = handle.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            kept.run_upkeep();
        }
    });
    Ok(Arc::new(move || handle.render()))
}
