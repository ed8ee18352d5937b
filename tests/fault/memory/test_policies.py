# SPDX-License-Identifier: MPL-2.0
"""runyard-policy as a whole, from its start to its exit, while one allocation fails: a policy that fails never passes.
(tests/alloc does the same with the commands alone, for most allocations.)"""

import os
import signal
import subprocess

import pytest

from support.alloc_faults import OUT_OF_MEMORY, AllocationFaults
from support.process import clean_environment, program

SEED = int(os.environ.get("RUNYARD_SEED", "1"))
DRAWN = int(os.environ.get("RUNYARD_ALLOCATIONS", "10"))  # per policy; 0 is all
EVERY = -(1 << 62)  # an allocation that is never reached: all are counted
# The sanitizer ends the process if it has no memory itself.
SANITIZERS_END = "AddressSanitizer: CHECK failed"
POLICIES = {
    "strings": 'import "strings"\nmain = strings.to_lower("\\u00c4") is "\\u00c4"\n',
    "regex": 'main = "a-1" not matches "^(\\\\pL|x)*-\\\\d+$"\n',
    "module": 'import "lib"\nmain = rule { lib.values[1] is 2 }\n',
}


def evaluate(folder, name, environment):
    return subprocess.run([program("runyard-policy"), "eval", "-trace", "-config=set.hcl", f"-policy={name}"], cwd=folder, check=False,
                          capture_output=True, text=True, env=clean_environment(**environment))


def is_valid_end(done):
    if done.returncode in (3, 9):
        return done.stderr != ""
    if done.returncode == -signal.SIGABRT:
        return OUT_OF_MEMORY in done.stderr.splitlines()[-1]
    return done.returncode == 1 or SANITIZERS_END in done.stderr


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_that_fails_never_passes(name, folder):
    (folder / "set.hcl").write_text('policy "strings" {}\npolicy "regex" {}\npolicy "module" {}\nimport "module" "lib" { source = "lib.sentinel" }\n')
    (folder / "lib.sentinel").write_text("values = [1, 3]\n")
    (folder / f"{name}.sentinel").write_text(POLICIES[name])
    faults = AllocationFaults(folder, SEED, "program libstdc++ libre2 libcrypto libc ld-linux-x86-64")
    faults.set(EVERY)
    assert evaluate(folder, name, faults.environment).returncode == 1
    calls = faults.calls
    assert calls > 5
    step = max(1, calls // DRAWN) if DRAWN else 1
    for number in range(1 + SEED % step, calls + 1, step):
        faults.set(0)
        faults.set(-number)
        done = evaluate(folder, name, faults.environment)
        assert is_valid_end(done), f"call {number} of {calls}: it ended with {done.returncode}:\n{done.stdout}{done.stderr}"
    print(f"{calls} calls")
