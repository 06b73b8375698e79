"""How many connections the limit of open files allows."""

import resource

import pytest

from common.process.descriptors import DescriptorPlan, plan

NO_LIMIT = resource.RLIM_INFINITY
PLANS = [
    # wanted, soft, hard: the soft limit to set, connections
    ((10_000, 1_024, 524_288), (20_512, 10_000)),
    ((10_000, 1_024, NO_LIMIT), (20_512, 10_000)),
    ((10_000, 1_048_576, 1_048_576), (1_048_576, 10_000)),
    ((10_000, NO_LIMIT, NO_LIMIT), (NO_LIMIT, 10_000)),
    ((10_000, 1_024, 4_096), (4_096, 3_584)),
    ((10_000, 1_024, 1_024), (1_024, 512)),
    ((10_000, 256, 256), (256, 1)),
    ((100, 256, 1_024), (712, 100)),
]


@pytest.mark.parametrize(("given", "expected"), PLANS)
def test_the_soft_limit_is_raised_and_the_hard_one_bounds_the_connections(given, expected):
    wanted, soft, hard = given
    assert plan(wanted, soft=soft, hard=hard) == DescriptorPlan(limit=expected[0], connections=expected[1])
