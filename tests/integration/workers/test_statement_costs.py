# SPDX-License-Identifier: MPL-2.0
"""What PostgreSQL reads for a worker's request does not depend on the number of workers, jobs and runs."""

import re

import psycopg
import pytest

from support.api import Api
from support.fake_worker import FakeWorker

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
MANY = 150
MAX_BLOCKS = 100

# Words of each statement.
STATEMENTS = {"heartbeat": "beat as (update workers", "wait": "with me as", "claim": "with recursive me as", "contents": "bounded where total"}


@pytest.fixture
def explained(database):
    """The database, whose server logs the plan of each statement and the blocks that it has read."""
    settings = {"session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": 0, "auto_explain.log_analyze": "on", "auto_explain.log_buffers": "on",
                "auto_explain.log_timing": "off"}
    name = database.rpartition("/")[2]
    with psycopg.connect(database, autocommit=True) as connection:
        for setting, value in settings.items():
            connection.execute(f"alter database {name} set {setting} = '{value}'")
    return database


def blocks_read(log, words):
    """The blocks that each statement with these words has read."""
    entries = re.split(r"\n(?=\d{4}-\d\d-\d\d )", log)
    found = [re.search(r"Buffers: shared hit=(\d+)", entry) for entry in entries if words in entry and "Query Text:" in entry]
    return [int(blocks[1]) for blocks in found if blocks]


def test_statements_that_were_planned_when_tables_were_empty_read_few_rows_later(explained, scheduler, tokens, postgres):
    first = scheduler(http_threads=1)
    api = Api(first.url, tokens["token"])
    workspace = api.workspace()
    configuration = api.upload(workspace, ONE, speculative=True)
    worker = FakeWorker(first.url, tokens["agent-token"], slots=4)

    def use_all_statements():
        api.run(workspace, configuration)
        assert worker.wait()
        (job,) = worker.claim()
        assert "configuration" in job["contents"]
        assert worker.lease(job) == (True, "none")
        assert worker.announced(job["job"]).json["not-waiting"] == [job["job"]]

    for _ in range(5):
        use_all_statements()
    second = scheduler()
    other = FakeWorker(second.url, tokens["agent-token"], slots=256)
    elsewhere = Api(second.url, tokens["token"])
    for number in range(MANY):
        FakeWorker(second.url, tokens["agent-token"], name=f"idle-{number}")
        elsewhere.run(workspace, configuration)
    while other.claim(64):
        pass
    before = len(postgres.process.log())
    use_all_statements()
    log = postgres.process.log()[before:]
    read = {name: blocks_read(log, words) for name, words in STATEMENTS.items()}
    assert all(read.values()), read
    assert max(max(blocks) for blocks in read.values()) < MAX_BLOCKS, read
