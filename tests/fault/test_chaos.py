# SPDX-License-Identifier: MPL-2.0
"""Random faults while runs with the real engine are in progress: the record of the resources agrees with every state.
`fault/soak` runs any number of rounds with any seed. RUNYARD_SEED is the seed of the first round."""

import os
import time

from support.chaos import Chaos

ROUNDS, SECONDS = 4, 25  # no round begins later than that
SEED = int(os.environ.get("RUNYARD_SEED", 600))


def play(folder, rounds, **options):
    told = [f"RUNYARD_SEED={SEED}"]
    with Chaos(folder, SEED, told.append, **options) as chaos:
        end = time.monotonic() + SECONDS
        while len(chaos.rounds) < rounds and time.monotonic() < end:
            assert not chaos.round().wrong, "\n".join(told)
        assert not chaos.calm().wrong, "\n".join(told)
        applied = chaos.stack.rows("select workspace_id from runs where status = 'applied' group by 1")
        assert {workspace for (workspace,) in applied} == set(chaos.work.workspaces), "\n".join(told)


def test_whatever_breaks_nothing_is_lost_and_nothing_doubled(folder):
    play(folder, ROUNDS)


def test_a_broker_that_forgets_everything(folder):
    play(folder, 1, kinds=("broker",), embedded=True)
