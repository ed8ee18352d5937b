# SPDX-License-Identifier: MPL-2.0
"""An apply leaves an unreadable file in place of its state: the workspace is held, and the file is kept for a user."""

from pathlib import Path

import pytest

from support.wait import until

MEBIBYTE = 1 << 20

# The command that writes the file to the path at which the engine leaves a state that it could not save, a part of the
# error, and the kept file's size.
LEFT = {
    "part of a state": ("printf '{' > errored.tfstate", "no whole state", 1),
    "a pipe": ("rm -f errored.tfstate; mkfifo errored.tfstate", "no whole state", 0),
    "larger than the limit": ("truncate -s 257M errored.tfstate", "larger than 256 MiB", 257 * MEBIBYTE),
}


@pytest.mark.parametrize("left", LEFT)
def test_an_unreadable_state_holds_the_workspace_and_is_kept(api, worker, left):
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
    until(lambda: one.metric("runyard_worker_states_pending") == 0, "the worker has no unsent state")
    assert api.attributes(f"workspaces/{workspace}")["locked-reason"].startswith(f"Held after {run}") and api.status(after) == "pending"
    # A user has examined it.
    api.post(f"workspaces/{workspace}/actions/force-unlock", {})
    api.wait_status(after, "planned_and_finished")
