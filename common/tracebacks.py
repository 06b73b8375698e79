"""Cuts exceptions off from what was at work when they were raised."""


def let_go(raised: BaseException) -> None:
    """Forget the frames that the exception, and those which led to it, have come through: they hold whatever was being
    read, megabytes of a body, say, and often the exception itself. Whoever wants to log them has done so."""
    waiting: list[BaseException | None] = [raised]
    while waiting:
        if (error := waiting.pop()) is not None:
            waiting += [error.__cause__, error.__context__]
            error.__cause__ = error.__context__ = error.__traceback__ = None
