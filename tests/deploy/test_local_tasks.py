# SPDX-License-Identifier: MPL-2.0
"""A script of deploy/local that ends with an error leaves nothing that works on its folder."""

import subprocess

from support.release import ROOT

SCRIPT = """
source deploy/local/lib.sh
exec 9>"$1"
flock 9
slow() { bash -c 'trap "sleep 1; exit" TERM; touch "$0"; while :; do sleep 0.05; done' "$1"; true; }
task_start slow slow "$1.begun"
until [[ -e $1.begun ]]; do sleep 0.05; done
die "this is a failure"
"""


def test_a_failed_script_has_released_its_lock_when_it_ends(tmp_path):
    lock, said = tmp_path / "lock", tmp_path / "said"
    with open(said, "w") as output:  # a pipe would be open until all processes have ended
        done = subprocess.run(["bash", "-euc", SCRIPT, "bash", lock], cwd=ROOT, stdout=output, stderr=output)
    assert done.returncode == 1 and "this is a failure" in said.read_text()
    assert subprocess.run(["flock", "--nonblock", lock, "true"]).returncode == 0
