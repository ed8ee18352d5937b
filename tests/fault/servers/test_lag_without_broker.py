# SPDX-License-Identifier: MPL-2.0
"""The broker is killed and comes back while a scheduler measures lags: a lag that can't be measured has no series."""

from support.wait import until


def lags(service):
    return [series for series in service.metrics() if series.startswith(("runyard_kafka_topic_lag", "runyard_kafka_group_lag"))]


def test_a_broker_that_is_away(broker, scheduler, api):
    one = scheduler.all[0]
    until(lambda: lags(one), "lags are measured")
    before = one.metric("runyard_kafka_errors_total", kind="transport")
    broker.process.kill()
    until(lambda: one.metric("runyard_kafka_lag_failures_total") > 0 and not lags(one), "no lag is shown, and a counter says so")
    until(lambda: one.metric("runyard_kafka_errors_total", kind="transport") > before, "a counter counts the errors")
    until(lambda: one.metric("runyard_kafka_up", client="publisher") == 0, "the gauge says that no broker is there")
    until(one.ready, "the scheduler is ready without a broker")
    broker.start()
    until(lambda: lags(one), "lags are measured again")
    assert one.process.alive()
    until(one.ready, "the scheduler is still ready")
