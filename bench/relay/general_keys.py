"""Turns the task keys of the first accounts in a seeded database into general keys with other secrets."""

import hashlib

import psycopg

TO_GENERAL = """
UPDATE accounts_apikey SET binding = 'general', group_id = (SELECT id FROM accounts_group WHERE name = %s)
WHERE id <= %s
"""
DIGEST = "UPDATE accounts_keysecret SET digest = %s WHERE id = %s"


def secret(number: int) -> str:
    """Returns the general key of the account with this number, from 0; the load generator computes it too."""
    return "dr-gen-" + hashlib.sha256(f"bench general {number}".encode()).hexdigest()[:43]


def turn(url: str, group: str, count: int) -> None:
    """Turns the keys of `count` accounts. The seed's accounts, keys and secrets have equal ids, from 1."""
    digests = [(hashlib.sha256(secret(number).encode()).hexdigest(), number + 1) for number in range(count)]
    with psycopg.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(TO_GENERAL, [group, count])
        cursor.executemany(DIGEST, digests)
