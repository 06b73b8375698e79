"""References without a service: the statements of a submission on pgbench, psycopg and sqlite3."""
