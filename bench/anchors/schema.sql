-- What a submission writes, in a schema like the service's: six indexes on tasks, two foreign keys. Both databases
-- read it; types are PostgreSQL's, and SQLite takes what it knows of them.
CREATE TABLE anchor_account (id bigint PRIMARY KEY, balance bigint NOT NULL, reserved bigint NOT NULL);
CREATE TABLE anchor_key (id bigint PRIMARY KEY, account_id bigint NOT NULL, hash text NOT NULL UNIQUE);
CREATE TABLE anchor_task (
    id text PRIMARY KEY,
    key_id bigint NOT NULL REFERENCES anchor_key (id),
    account_id bigint NOT NULL REFERENCES anchor_account (id),
    status text NOT NULL,
    idempotency_key text,
    model text NOT NULL,
    params jsonb NOT NULL,
    estimate bigint NOT NULL,
    created_at timestamp NOT NULL
);
CREATE INDEX anchor_task_list ON anchor_task (key_id, id);
CREATE UNIQUE INDEX anchor_task_once ON anchor_task (key_id, idempotency_key);
CREATE INDEX anchor_task_queued ON anchor_task (account_id) WHERE status = 'queued';
CREATE INDEX anchor_task_claim ON anchor_task (key_id, id) WHERE status = 'queued';
CREATE INDEX anchor_task_created ON anchor_task (created_at);
CREATE TABLE anchor_ledger (
    task_id text NOT NULL, kind text NOT NULL, account_id bigint NOT NULL, amount bigint NOT NULL, at timestamp NOT NULL,
    PRIMARY KEY (task_id, kind)
);
CREATE TABLE anchor_event (id bigint NOT NULL, task_id text NOT NULL, key_id bigint NOT NULL, status text NOT NULL,
    at timestamp NOT NULL);
CREATE INDEX anchor_event_key ON anchor_event (key_id, id);
