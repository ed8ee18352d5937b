# SPDX-License-Identifier: MPL-2.0
"""Workers register while the broker does not answer: the scheduler answers them and all others."""

import signal
import time

from support.fake_worker import FakeWorker

POOLS = 15
ASK_SECONDS = 2  # how long the scheduler asks the broker for one topic


def test_a_silent_broker_delays_registrations_once_and_not_for_each_pool(scheduler, api, broker):
    tokens = [api.pool(f"pool-{number}")[1] for number in range(POOLS)]
    broker.process.send(signal.SIGSTOP)
    try:
        began = time.monotonic()
        workers = [FakeWorker(scheduler.all[0].url, token) for token in tokens]
        spent = time.monotonic() - began
    finally:
        broker.process.send(signal.SIGCONT)
    assert len({worker.id for worker in workers}) == POOLS
    assert spent < POOLS * ASK_SECONDS / 2
