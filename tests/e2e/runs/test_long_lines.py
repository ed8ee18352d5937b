# SPDX-License-Identifier: MPL-2.0
"""An engine's event of several megabytes is one line of the log, and one JSON text."""

import json

MEBIBYTE = 1 << 20
LARGE = 'output "large" {\n  value = join("", [for i in range(1024) : join("", [for j in range(320) : "0123456789abcdef"])])\n}\n'


def events(api, run, kind):
    """The log's events, below the lines that the worker writes before them."""
    lines = api.log(run, kind).splitlines()
    return [json.loads(line) for line in lines[next(n for n, line in enumerate(lines) if line.startswith("{")):]]


def test_an_output_of_five_mebibytes_is_one_event_of_the_log(api, worker):
    worker()
    run = api.run_files(api.workspace(auto_apply=True), {"main.tf": LARGE})
    api.wait_status(run, "applied")
    (outputs,) = [event for event in events(api, run, "apply") if event["type"] == "outputs" and "large" in event["outputs"]]
    assert len(outputs["outputs"]["large"]["value"]) == 5 * MEBIBYTE
    # The last events after it are not lost: the worker counted the plan's changes.
    assert any(event["type"] == "change_summary" for event in events(api, run, "plan"))
