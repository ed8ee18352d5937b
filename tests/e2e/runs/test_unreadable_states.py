# SPDX-License-Identifier: MPL-2.0
"""An apply leaves something unreadable in place of its state: the workspace is held, and the file is kept for a user."""

from pathlib import Path

import pytest

from support.wait import until

MEBIBYTE = 1 << 20

# The command that leaves it where the engine leaves a state that it could not save, a part of the error, and the kept
# file's size.
LEFT = {
    "the half of a state": ("printf '{' > errored.tfstate", "no whole state", 1),
    "a pipe": ("rm -f errored.tfstate; mkfifo errored.tfstate", "no whole state", 0),
    "more than a state may have": ("truncate -s 257M errored.tfstate", "larger than 256 MiB", 257 * MEBIBYTE),
}


@pytest.mark.parametrize("left", LEFT)
def test_a_state_that_can_not_be_read_is_owed(api, worker, left):
    command, words, size = LEFT[left]
    one = worker()
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, {"main.tf": f"""
resource "terraform_data" "one" {{
  provisioner "local-exec" {{
    command = "{command}"
  }}
}}
"""})
    after = api.run(workspace)
    error = api.wait_status(run, "errored")["error"]
    assert words in error and "unsent/" in error, error
    unsent = Path(one.options["data_dir"]) / "unsent"
    until(lambda: list(unsent.glob("*.refused")), "the file is kept")
    (kept,) = unsent.glob("*.refused")
    assert kept.stat().st_size == size
    until(lambda: one.metric("runyard_worker_states_pending") == 0, "nothing is left to be told")
    assert api.attributes(f"workspaces/{workspace}")["locked-reason"].startswith(f"Held after {run}") and api.status(after) == "pending"
    # A user has examined it.
    api.post(f"workspaces/{workspace}/actions/force-unlock", {})
    api.wait_status(after, "planned_and_finished")
