# SPDX-License-Identifier: MPL-2.0
"""Waits for conditions. No test waits for a time."""

import time

# The limit in seconds for any wait, enough for a slow and busy machine. A wait ends as soon as its condition is true.
PATIENCE = 180.0


class TimedOut(AssertionError):
    pass


def until(condition, what, timeout=PATIENCE, every=0.03):
    """Polls until condition() is true and returns its result; `what` describes the missing event for the error. The longer
    it has waited, the longer it sleeps, because polls take the processor from what they wait for."""
    start = time.monotonic()
    while True:
        result = condition()
        if result:
            return result
        waited = time.monotonic() - start
        if waited > timeout:
            raise TimedOut(f"after {timeout:g} s still not: {what() if callable(what) else what}")
        time.sleep(max(every, min(waited / 20, 0.2)))
