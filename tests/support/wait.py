# SPDX-License-Identifier: MPL-2.0
"""Waits for conditions. No test waits for a time."""

import time

# The limit in seconds for any wait, enough for a slow and busy machine. A wait ends as soon as its condition is true.
PATIENCE = 180.0


class TimedOut(AssertionError):
    pass


def until(condition, what, timeout=PATIENCE, every=0.03):
    """Polls until condition() is true and returns its result; `what` describes the missing event for the error."""
    end = time.monotonic() + timeout
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > end:
            raise TimedOut(f"after {timeout:g} s still not: {what() if callable(what) else what}")
        time.sleep(every)
