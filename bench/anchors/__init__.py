"""References without a service: the statements of a submission from pgbench, bare psycopg and bare sqlite3."""
