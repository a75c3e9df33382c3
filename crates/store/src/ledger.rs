//! The ledger: what was used, a row for each day and model.

use std::ops::RangeInclusive;

use futures::FutureExt as _;
use jiff::civil::Date;
use kernel::{
    ledger::{Spending, Sum},
    ports::{Ledger, StoreError, Stored},
};
use rusqlite::{Connection, Row};

use crate::{Store, clamp, unavailable, work::Work};

impl Ledger for Store {
    fn spend(&self, spending: Spending) -> Stored<'_, ()> {
        self.write(Work::Spend(spending)).boxed()
    }

    fn spending(&self, days: RangeInclusive<Date>) -> Stored<'_, Vec<Spending>> {
        self.readers.clone().read(move |connection| read(connection, &days)).boxed()
    }
}

/// Counts that would no longer fit stay as high as they can be.
pub fn add(
    connection: &Connection,
    Spending { day, model, sum }: &Spending,
) -> rusqlite::Result<()> {
    let sql = "
        INSERT INTO spending
            (day, model, input, output, cache_read, cache_write, reasoning, cost, requests)
        VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
        ON CONFLICT DO UPDATE SET
            input = input + min(excluded.input, 0x7fffffffffffffff - input),
            output = output + min(excluded.output, 0x7fffffffffffffff - output),
            cache_read = cache_read + min(excluded.cache_read, 0x7fffffffffffffff - cache_read),
            cache_write = cache_write + min(excluded.cache_write, 0x7fffffffffffffff - cache_write),
            reasoning = reasoning + min(excluded.reasoning, 0x7fffffffffffffff - reasoning),
            cost = min(cost + excluded.cost, 1.7976931348623157e308),
            requests = requests + min(excluded.requests, 0x7fffffffffffffff - requests)";
    let counts = [
        sum.input_tokens,
        sum.output_tokens,
        sum.cache_read_tokens,
        sum.cache_write_tokens,
        sum.reasoning_tokens,
    ];
    let [input, output, cache_read, cache_write, reasoning] = counts.map(clamp);
    connection.prepare_cached(sql)?.execute((
        day.to_string(),
        model,
        input,
        output,
        cache_read,
        cache_write,
        reasoning,
        sum.cost,
        clamp(sum.requests),
    ))?;
    Ok(())
}

fn read(connection: &Connection, days: &RangeInclusive<Date>) -> Result<Vec<Spending>, StoreError> {
    let sql = "SELECT day, model, input, output, cache_read, cache_write, reasoning, cost, requests
               FROM spending WHERE day BETWEEN ?1 AND ?2 ORDER BY day, model";
    let mut statement = connection.prepare_cached(sql).map_err(unavailable)?;
    let (first, last) = (days.start().to_string(), days.end().to_string());
    let rows = statement.query_map([first, last], spending).map_err(unavailable)?;
    rows.map(|row| {
        let (day, model, sum) = row.map_err(unavailable)?;
        let unreadable = |_| unavailable(format!("`{day}` in the ledger is not a day"));
        Ok(Spending { day: day.parse().map_err(unreadable)?, model, sum })
    })
    .collect()
}

fn spending(row: &Row) -> rusqlite::Result<(String, String, Sum)> {
    let sum = Sum {
        input_tokens: row.get(2)?,
        output_tokens: row.get(3)?,
        cache_read_tokens: row.get(4)?,
        cache_write_tokens: row.get(5)?,
        reasoning_tokens: row.get(6)?,
        cost: row.get(7)?,
        requests: row.get(8)?,
    };
    Ok((row.get(0)?, row.get(1)?, sum))
}
