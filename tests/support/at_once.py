# SPDX-License-Identifier: MPL-2.0
"""Scenarios that run side by side in one test."""

from concurrent.futures import ThreadPoolExecutor


def at_once(scenario, cases):
    """Calls scenario(case) for each case in a thread, and raises the first error after all have ended. Most of a scenario's time
    is waiting for the processes' intervals, which all of them share."""
    cases = list(cases)
    with ThreadPoolExecutor(len(cases)) as pool:
        ended = [pool.submit(scenario, case) for case in cases]
    for case, each in zip(cases, ended):
        error = each.exception()
        if error:
            error.add_note(f"in the scenario of {getattr(case, '__name__', case)}")
            raise error
