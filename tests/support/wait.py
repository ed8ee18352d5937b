# SPDX-License-Identifier: MPL-2.0
"""Waiting for conditions. Nothing in the tests waits for a time."""

import time

# How many seconds anything may take on a machine that is slow and has much else to do. What comes does not wait for it.
PATIENCE = 180.0


class TimedOut(AssertionError):
    pass


def until(condition, what, timeout=PATIENCE, every=0.03):
    """Polls until condition() is true and returns what it gave; `what` says what did not come."""
    end = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise TimedOut(f"after {timeout:g} s still not: {what() if callable(what) else what}")
        time.sleep(every)
