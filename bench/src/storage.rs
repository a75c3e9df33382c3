//! How many durable appends a second, beside what the disk itself does in the same run.

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::try_join_all;
use kernel::{
    ports::Log as _,
    update::{Fact, Message},
};
use store::Store;
use tempfile::tempdir_in;
use testkit::Author;

use crate::table::Row;

const TIME: Duration = Duration::from_secs(2);

pub fn measure() -> anyhow::Result<Vec<Row>> {
    // The temporary folder may be memory; the build's own folder is on the disk people use.
    let here = std::env::current_exe()?;
    let folder = tempdir_in(here.parent().unwrap_or(Path::new(".")))?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let mut rows = Vec::new();
    for producers in [1, 64, 256] {
        let disk = disk(folder.path())?;
        let data = folder.path().join(producers.to_string());
        let rate = runtime.block_on(appends(&data, producers))?;
        let what = format!("durable appends by {producers} producer(s)");
        rows.push(Row::new(&what, rate, "/s").beside("write + fdatasync", disk));
    }
    Ok(rows)
}

fn disk(folder: &Path) -> anyhow::Result<f64> {
    let mut file = File::create(folder.join("disk"))?;
    let (begun, mut count) = (Instant::now(), 0);
    while begun.elapsed() < TIME {
        file.write_all(&[7; 300])?;
        file.sync_data()?;
        count += 1;
    }
    Ok(f64::from(count) / begun.elapsed().as_secs_f64())
}

async fn appends(data: &Path, producers: u64) -> anyhow::Result<f64> {
    let store = Arc::new(Store::open(data)?);
    let begun = Instant::now();
    let writing = (1..=producers).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let (mut author, mut count) = (Author::new(number), 0);
            while begun.elapsed() < TIME {
                let message = Message::from_user("x".repeat(200));
                store.append(author.batch([Fact::Said { message, queued: None }])).await?;
                count += 1;
            }
            anyhow::Ok(count)
        })
    });
    let counts = try_join_all(writing).await?;
    let total: u32 = counts.into_iter().sum::<anyhow::Result<u32>>()?;
    Ok(f64::from(total) / begun.elapsed().as_secs_f64())
}
