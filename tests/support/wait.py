# SPDX-License-Identifier: MPL-2.0
"""Waiting for conditions. Nothing in the tests waits for a time."""

import time


class TimedOut(AssertionError):
    pass


def until(condition, what, timeout=30.0, every=0.03):
    """Polls until condition() is true and returns what it gave; `what` says what did not come."""
    end = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise TimedOut(f"after {timeout:g} s still not: {what() if callable(what) else what}")
        time.sleep(every)
