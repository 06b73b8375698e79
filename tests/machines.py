"""How the state machines of money are run: so many examples, and no health check that a slow machine fails."""

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def run(machine: type[RuleBasedStateMachine], *, examples: int, length: int) -> None:
    """`length`: the most steps of an example."""
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=length,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        ),
    )
