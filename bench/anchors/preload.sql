-- 1,000 accounts with a key each, and 30,000 tasks that have ended. `numbers` is a table of n from 1 to 30,000.
INSERT INTO anchor_account SELECT n, 1000000000000000, 0 FROM numbers WHERE n <= 1000;
INSERT INTO anchor_key SELECT n, n, 'key-' || CAST(n AS text) FROM numbers WHERE n <= 1000;
INSERT INTO anchor_task (id, key_id, account_id, status, idempotency_key, model, params, estimate, created_at)
SELECT 'task_' || CAST(n AS text), 1 + n % 1000, 1 + n % 1000, 'succeeded', 'old-' || CAST(n AS text), 'aurora-image',
    '{"prompt": "an old one"}', 40000, CURRENT_TIMESTAMP FROM numbers;
INSERT INTO anchor_ledger SELECT 'task_' || CAST(n AS text), 'reserve', 1 + n % 1000, 40000, CURRENT_TIMESTAMP
FROM numbers;
INSERT INTO anchor_event (task_id, key_id, status, at)
SELECT 'task_' || CAST(n AS text), 1 + n % 1000, 'queued', CURRENT_TIMESTAMP FROM numbers;
