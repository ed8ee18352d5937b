# SPDX-License-Identifier: MPL-2.0
"""/healthz and /readyz of a scheduler while its servers are away, and after its schema was taken over by a newer program."""

import signal

from support.wait import until


def test_health_does_not_depend_on_servers(scheduler, bus, postgres):
    one = scheduler()
    assert one.get("/healthz") == (200, "ok\n") and one.get("/readyz")[0] == 200
    bus.release()
    assert one.get("/healthz") == (200, "ok\n") and one.get("/readyz")[0] == 200
    postgres.stop(signal.SIGQUIT)
    try:
        until(lambda: one.get("/readyz")[0] == 503, "it is not ready")
        assert one.get("/healthz") == (200, "ok\n")
    finally:
        postgres.start()
    until(one.ready, "it is ready again")


def test_a_scheduler_is_not_ready_on_a_schema_that_refuses_it(scheduler, ask):
    one = scheduler()
    ask("update schema_migrations set oldest = 9999 where name = (select max(name) from schema_migrations)")
    status, why = one.get("/readyz")
    assert status == 503 and "9999" in why and one.get("/healthz")[0] == 200
    ask("update schema_migrations set oldest = null")
    until(one.ready, "it is ready again")
