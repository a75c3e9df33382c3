CREATE TABLE spending (
    -- As 2026-02-01, where the owner lives.
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    reasoning INTEGER NOT NULL,
    -- US dollars.
    cost REAL NOT NULL,
    requests INTEGER NOT NULL,
    PRIMARY KEY (day, model)
) STRICT, WITHOUT ROWID;

-- What the facts of sessions know of the time before. Which model it was they do not: it is put down
-- to the one that the session has now. Sums by total(), which knows no overflow.
INSERT INTO spending
SELECT
    date(at / 1000000, 'unixepoch', 'localtime'),
    coalesce(json_extract(state, '$.model'), ''),
    CAST(min(total(json_extract(fact, '$.usage.input_tokens')), 9e18) AS INTEGER),
    CAST(min(total(json_extract(fact, '$.usage.output_tokens')), 9e18) AS INTEGER),
    CAST(min(total(json_extract(fact, '$.usage.cache_read_tokens')), 9e18) AS INTEGER),
    CAST(min(total(json_extract(fact, '$.usage.cache_write_tokens')), 9e18) AS INTEGER),
    CAST(min(total(json_extract(fact, '$.usage.reasoning_tokens')), 9e18) AS INTEGER),
    total(json_extract(fact, '$.usage.cost')),
    count(*)
FROM facts JOIN sessions ON number = session
WHERE json_extract(fact, '$.fact') = 'answered' AND json_extract(fact, '$.usage') IS NOT NULL
GROUP BY 1, 2;
