//! How many durable appends a second, beside what the disk itself can do in the same run.

#![expect(clippy::unwrap_used, clippy::cast_precision_loss, reason = "this is a measurement")]

use std::{
    env, fs,
    fs::File,
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use futures::future::join_all;
use kernel::{
    ports::{Catalog as _, Log as _},
    update::{Fact, Message, Seq},
};
use store::Store;
use testkit::Author;

const TIME: Duration = Duration::from_millis(1500);

/// Takes the folder to measure in, which should not exist.
#[tokio::main]
async fn main() {
    let dir = env::args().nth(1).map_or_else(|| env::temp_dir().join("append_rate"), PathBuf::from);
    fs::create_dir(&dir).unwrap();
    let disk = disk(&dir);
    println!("disk: {disk:.0} times write + fdatasync of 300 bytes a second");
    for (producers, readers) in [(1, 0), (64, 0), (256, 0), (64, 4)] {
        let dir = dir.join(format!("{producers}-{readers}"));
        let (rate, median) = appends(&dir, producers, readers).await;
        let ratio = rate / disk;
        println!(
            "{producers} producers, {readers} readers: {rate:.0} appends a second, {ratio:.2} of \
             the disk; half of them within {median:?}; {}",
            resident()
        );
    }
    many_sessions(&dir).await;
    fs::remove_dir_all(&dir).unwrap();
}

fn disk(dir: &Path) -> f64 {
    let mut file = File::create(dir.join("disk")).unwrap();
    let (start, mut count) = (Instant::now(), 0);
    while start.elapsed() < TIME {
        file.write_all(&[7; 300]).unwrap();
        file.sync_data().unwrap();
        count += 1;
    }
    f64::from(count) / start.elapsed().as_secs_f64()
}

async fn appends(dir: &Path, producers: u64, readers: u64) -> (f64, Duration) {
    let store = Arc::new(Store::open(dir).unwrap());
    let start = Instant::now();
    let reading = (1..=readers).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            while start.elapsed() < TIME {
                store.read(Author::new(number).session, Seq(0), 1000).await.unwrap();
            }
        })
    });
    let reading: Vec<_> = reading.collect();
    let writing = (1..=producers).map(|number| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut author = Author::new(number);
            let mut took = Vec::new();
            while start.elapsed() < TIME {
                let message = Message::from_user("x".repeat(200));
                let batch = author.batch([Fact::Said { message, queued: None }]);
                let begun = Instant::now();
                store.append(batch).await.unwrap();
                took.push(begun.elapsed());
            }
            took
        })
    });
    let took = join_all(writing).await;
    join_all(reading).await;
    let mut took: Vec<_> = took.into_iter().flat_map(Result::unwrap).collect();
    took.sort();
    let wal = fs::metadata(dir.join("megaron.db-wal")).unwrap().len();
    println!("    {} commits, {} KB in the log beside the database", store.commits(), wal >> 10);
    (took.len() as f64 / start.elapsed().as_secs_f64(), took[took.len() / 2])
}

async fn many_sessions(dir: &Path) {
    let store = Store::open(&dir.join("many")).unwrap();
    let begin = async |number| {
        let mut author = Author::new(number);
        let batch = author.batch(testkit::every_fact());
        store.append(batch).await.unwrap();
    };
    join_all((1..=10_000).map(begin)).await;
    drop(store);
    let start = Instant::now();
    let store = Store::open(&dir.join("many")).unwrap();
    println!("opened in {:?}", start.elapsed());
    for _ in 0..3 {
        let start = Instant::now();
        let count = store.sessions().await.unwrap().len();
        println!("{count} sessions listed in {:?}", start.elapsed());
    }
}

fn resident() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default().to_owned()
}
