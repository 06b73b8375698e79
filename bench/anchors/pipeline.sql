-- The same in one round trip, with the account's lock last. The key's id is taken as known, because a pipeline cannot
-- use a result of its own.
\set account random(1, :accounts)
\set unique random(1, 9000000000000000)
\startpipeline
BEGIN;
SELECT id FROM anchor_task WHERE key_id = :account AND idempotency_key = CAST(:unique AS text);
SELECT count(*) FROM (SELECT 1 FROM anchor_task WHERE account_id = :account AND status = 'queued' LIMIT 100) AS queued;
INSERT INTO anchor_task (id, key_id, account_id, status, idempotency_key, model, params, estimate, created_at) VALUES ('task_n' || CAST(:unique AS text), :account, :account, 'queued', CAST(:unique AS text), 'aurora-image', :body, 40000, CURRENT_TIMESTAMP);
INSERT INTO anchor_ledger (task_id, kind, account_id, amount, at) VALUES ('task_n' || CAST(:unique AS text), 'reserve', :account, 40000, CURRENT_TIMESTAMP);
INSERT INTO anchor_event (task_id, key_id, status, at) VALUES ('task_n' || CAST(:unique AS text), :account, 'queued', CURRENT_TIMESTAMP);
UPDATE anchor_account SET balance = balance - 40000, reserved = reserved + 40000 WHERE id = :account;
COMMIT;
\endpipeline
