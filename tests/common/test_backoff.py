"""Waits that grow."""

from common import backoff


def test_waits_double_up_to_a_minute():
    assert [backoff.seconds(times) for times in (*range(8), 900)] == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_a_longer_wait_that_was_asked_for_is_kept_up_to_a_minute():
    for times, asked, seconds in ((0, 5.0, 5), (3, 5.0, 8), (0, 999.0, 60), (0, 0.5, 1)):
        assert backoff.seconds(times, asked=asked) == seconds, (times, asked)
