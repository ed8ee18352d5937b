# SPDX-License-Identifier: MPL-2.0
"""Random faults while runs with the real engine are in progress: the record of the resources agrees with every state.
`fault/soak` runs any number of rounds with any seed. RUNYARD_SEED is the seed of the first round."""

import os
import time

from support.chaos import Chaos

ROUNDS, SECONDS = 4, 25  # no round begins later than that
SEED = int(os.environ.get("RUNYARD_SEED", 600))


def run_rounds(folder, rounds, **options):
    report = [f"RUNYARD_SEED={SEED}"]
    with Chaos(folder, SEED, report.append, **options) as chaos:
        end = time.monotonic() + SECONDS
        while len(chaos.rounds) < rounds and time.monotonic() < end:
            assert not chaos.round().wrong, "\n".join(report)
        assert not chaos.quiet_round().wrong, "\n".join(report)
        applied = chaos.stack.rows("select workspace_id from runs where status = 'applied' group by 1")
        assert {workspace for (workspace,) in applied} == set(chaos.work.workspaces), "\n".join(report)


def test_random_faults_lose_and_duplicate_nothing(folder):
    run_rounds(folder, ROUNDS)


def test_the_loss_of_the_brokers_memory_loses_nothing(folder):
    run_rounds(folder, 1, kinds=("broker",), embedded=True)
