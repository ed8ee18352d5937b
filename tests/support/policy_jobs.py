# SPDX-License-Identifier: MPL-2.0
"""Policy sets as a scheduler sends them to a worker, and their results."""

import base64
import json

from support.api import tar_gz
from support.wait import until


def policy_set(*policies, number=1, archive=None, parameters=None, **more):
    """`archive`: the files by their paths."""
    return {"id": f"polset-AAAAAAAAAAAAAAA{number}", "name": f"set-{number}", "description": "", "overridable": True, "tool-version": None,
            "parameters": [{"key": key, "value": value} for key, value in (parameters or {}).items()],
            "archive": None if archive is None else base64.b64encode(tar_gz(archive)).decode(), "policies": list(policies), **more}


def wait_for_results(job):
    """The job's result and the policies' results. A stage of policies writes no log."""
    until(lambda: job.result, f"a result of {job.stage}")
    assert "log" not in job.sent
    return job.result, json.loads(job.sent["policy-results"])


def printed(outcome):
    return "\n".join(entry["print"] for entry in outcome["output"])
