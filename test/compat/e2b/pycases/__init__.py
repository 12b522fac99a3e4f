"""The cases of drive.py, and what they share."""

import contextlib
import re
import time
import uuid

PATIENCE = 60.0


def fresh(prefix="compat"):
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


@contextlib.contextmanager
def raises(kinds, words=""):
    """The block must end so, with those words in the message; gives a list that has the error afterwards."""
    caught = []
    try:
        yield caught
    except kinds as error:
        assert re.search(words, str(error), re.I), f"{words!r} is not in: {error}"
        caught.append(error)
        return
    raise AssertionError(f"nothing was raised, {kinds} was expected")


def equal(found, wanted):
    assert found == wanted, f"{found!r} is not {wanted!r}"


async def until(kind, look):
    """Waits until look() gives something true, and gives that."""
    deadline = time.monotonic() + PATIENCE
    while True:
        found = await look()
        if found or time.monotonic() > deadline:
            assert found, f"not within {PATIENCE} s"
            return found
        await kind.pause(0.1)


async def pages(kind, paginator):
    found = []
    while paginator.has_next:
        found += await kind(paginator.next_items())
    return found
