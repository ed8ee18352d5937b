# SPDX-License-Identifier: MPL-2.0
# label: extended
"""What a hostile tenant reaches through the operator's hooks, in the sandbox and outside of it. The hooks' programs are
shells, Python and git, which read many variables. Planted files of the configuration touch a canary."""

import io
import json
import tarfile
from pathlib import Path

import pytest

from support.host_snapshot import HostSnapshot, changes
from support.process import give_to_workers
from support.wait import until

KINDS = ("pre-plan", "post-plan", "pre-apply", "post-apply")
FACTS = {"TFC_RUN_ID", "TFC_WORKSPACE_NAME", "TFC_WORKSPACE_ID", "TFC_WORKSPACE_SLUG", "TFC_PROJECT_NAME", "TFC_CONFIGURATION_VERSION_GIT_BRANCH",
         "TFC_CONFIGURATION_VERSION_GIT_COMMIT_SHA", "TFC_CONFIGURATION_VERSION_GIT_TAG"}
OWN = {"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "TZ"}
CLEAN = FACTS | OWN | {"PATH", "LANG", "PYTHONSAFEPATH", "TFC_AGENT_ENV", "PWD", "OLDPWD", "SHLVL", "_"}

PLANTED = "/tmp/runyard-planted"  # outside of each sandbox

# "." is the folder of the configuration, in which hooks run.
HOSTILE = {
    "LD_PRELOAD": "./planted.so", "LD_LIBRARY_PATH": ".", "LD_AUDIT": "./planted.so", "BASH_ENV": "./planted.sh", "ENV": "./planted.sh", "SHELLOPTS": "xtrace", "PS4": "$(./planted.sh)",
    "PROMPT_COMMAND": "./planted.sh", "IFS": "/", "CDPATH": "/", "PATH": ".", "HOME": ".", "TMPDIR": ".", "PYTHONPATH": ".", "PYTHONHOME": ".", "PYTHONSTARTUP": "planted.py", "PERL5LIB": ".",
    "PERL5OPT": "-Mplanted", "GIT_DIR": ".", "GIT_EXEC_PATH": ".", "GIT_SSH_COMMAND": "./planted.sh", "GIT_PAGER": "./planted.sh", "GIT_EXTERNAL_DIFF": "./planted.sh", "GIT_TRACE": PLANTED,
    "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_CONFIG_VALUE_0": "./planted.sh", "GIT_CONFIG_GLOBAL": "planted.gitconfig",
    "TF_CLI_CONFIG_FILE": "planted", "TF_CLI_ARGS": "-chdir=/", "TF_DATA_DIR": "/providers", "TF_PLUGIN_CACHE_DIR": "/providers", "TF_REATTACH_PROVIDERS": "{}", "TF_ENCRYPTION": "key_provider {",
    "TF_LOG_PATH": PLANTED, "TF_TOKEN_example_com": "planted", "SSL_CERT_FILE": "planted.pem", "SSL_CERT_DIR": ".", "HTTPS_PROXY": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9",
    "CURL_HOME": ".", "NODE_OPTIONS": "--require ./planted", "JAVA_TOOL_OPTIONS": "-javaagent:planted", "TFC_AGENT_ENV": PLANTED, "TFC_RUN_ID": "run-planted",
    "TFC_WORKLOAD_IDENTITY_TOKEN": "planted", "TFC_WORKSPACE_NAME": "planted", "RUNYARD_AGENT_TOKEN": "planted"}

# The variables whose effect on the engine itself is none.
HARMLESS = {key: value for key, value in HOSTILE.items() if key not in ("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "PATH", "TMPDIR", "TF_ENCRYPTION", "HTTPS_PROXY", "https_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_DIR")}


class Place:
    """A site whose worker has hooks, and the canary that planted programs touch."""

    def __init__(self, site, trusted):
        self.site, self.api, self.trusted = site, site.api, trusted
        self.canaries, self.record, self.programs = (site.folder / f"{name}-{trusted}" for name in ("canaries", "record", "programs"))
        for folder in (self.canaries, self.record, self.programs):
            folder.mkdir()
        self.canaries.chmod(0o777)
        give_to_workers(self.record)
        self.snapshot = HostSnapshot(site, self.canaries)
        for kind in KINDS:
            path = self.programs / f"terraform-{kind}"
            path.write_text(self.program(kind))
            path.chmod(0o755)

    def program(self, kind):
        note = f'env -0 >"{self.record}/{kind}.env"; readlink -f . >"{self.record}/{kind}.folder"; ls /proc/$$/fd >"{self.record}/{kind}.fds"\n' if self.trusted else ""
        return (f"#!/bin/bash\n{note}ls >/dev/null\nbash -c true\nsh -c true\npython3 -c 'import json'\ngit version >/dev/null\n"
                f"echo {kind} has ended; exit 0\n")

    def files(self, main):
        """A configuration with planted programs."""
        touch = f"touch {self.canaries}/reached"
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz") as packed:
            for name, text in {"main.tf": main, **{name: f"#!/bin/sh\n{touch}\n" for name in ("planted.sh", "ls", "bash", "sh", "python3", "git", "env", "readlink", "planted.so")},
                               "sub/main.tf": main, "json.py": f"import os\nos.system('{touch}')\n", "planted.gitconfig": "[core]\n\tfsmonitor = ./planted.sh\n"}.items():
                member = tarfile.TarInfo(name)
                member.size, member.mode = len(text), 0o755
                packed.addfile(member, io.BytesIO(text.encode()))
        return out.getvalue()

    def folders(self):
        return set((self.snapshot.data / "jobs").iterdir())

    def run(self, main, variables, **attributes):
        """(attributes, log) of the run. Nothing outside of its job has changed, but what trusted hooks note."""
        for path in self.record.iterdir():
            path.unlink()
        before, folders = self.snapshot.taken(), self.folders()
        workspace = self.api.workspace(auto_apply=True, **attributes)
        for key, value in variables.items():
            self.api.variable(workspace, key, value, category="env")
        run = self.api.run_files(workspace, self.files(main))
        attributes = self.api.wait_status(run, {"applied", "errored", "planned_and_finished"})
        until(lambda: self.folders() == folders, "the job's folder is removed")
        changed = changes(before, self.snapshot.taken())
        assert not changed, "\n".join(changed)
        assert list(self.canaries.iterdir()) == [] and not Path(PLANTED).exists()
        return {**attributes, "id": run}, self.api.log(run, "plan") + self.api.log(run, "apply")

    def environment(self, kind):
        path = self.record / f"{kind}.env"
        return dict(item.split("=", 1) for item in path.read_text().split("\0") if item) if path.exists() else None


    def use(self):
        """Restarts the worker with these hooks, if it has others."""
        if self.site.worker.options.get("hooks_dir") != self.programs:
            self.site.worker.stop()
            self.site.worker.options.update(hooks_dir=self.programs, hooks_trusted=self.trusted)
            self.site.worker.start()
            self.run(ONE, {})  # files that the first job makes
        return self


ONE = 'resource "terraform_data" "one" {}\n'


@pytest.fixture(scope="module")
def places(site):
    return [Place(site, trusted) for trusted in (0, 1)]


@pytest.fixture
def trusted(places):
    return places[1].use()


@pytest.fixture
def sandboxed(places, sandbox):
    if sandbox != "bwrap":
        pytest.skip("without a sandbox a hook can do what the worker's account may")
    return places[0].use()


def test_a_trusted_hook_has_none_of_the_tenants_variables(trusted):
    attributes, log = trusted.run(ONE, HARMLESS)
    assert attributes["status"] == "applied", (attributes, log)
    for kind in KINDS:
        env = trusted.environment(kind)
        assert set(env) <= CLEAN and FACTS <= set(env), sorted(set(env) - CLEAN)
        assert env["TFC_RUN_ID"] == attributes["id"] and "planted" not in json.dumps(env)
        assert f"{kind} has ended" in log
        fds = set((trusted.record / f"{kind}.fds").read_text().split()) - {"255"}  # bash's copy of the script
        assert fds <= {"0", "1", "2", "3"}, fds


@pytest.mark.parametrize("key", sorted(set(HOSTILE) - set(HARMLESS)))
def test_a_variable_that_disturbs_the_engine_does_not_reach_a_trusted_hook(trusted, key):
    trusted.run(ONE, {key: HOSTILE[key]})
    env = trusted.environment("pre-plan")
    assert env and env.get(key) != HOSTILE[key] and set(env) <= CLEAN


@pytest.mark.parametrize("key", sorted(HOSTILE))
def test_a_variable_affects_a_sandboxed_hook_in_its_sandbox_only(sandboxed, key):
    attributes, log = sandboxed.run(ONE, {key: HOSTILE[key]})
    assert "Executing pre-plan hook...\n" in log and attributes["status"] in ("applied", "errored")


@pytest.mark.parametrize("target", ["/", "/etc", "../../.."])
def test_a_trusted_hook_does_not_follow_a_link_in_the_place_of_its_folder(trusted, target):
    """The apply's code replaces the working directory."""
    main = f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "cd .. && mv sub moved && ln -s {target} sub"\n  }}\n}}\n'
    attributes, log = trusted.run(main, {}, working_directory="sub")
    assert attributes["status"] == "errored" and "The post-apply hook can't be started: " in log, log
    assert trusted.environment("pre-apply") and trusted.environment("post-apply") is None


PLANTS = {"a file": "echo PLANTED=1 >FILE", "a link": "ln -s /etc/passwd FILE", "a pipe": "mkfifo FILE", "a folder": "mkdir -p FILE/below"}


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("kind", ["trusted", "sandboxed"])
def test_what_a_job_puts_in_the_place_of_the_variables_file_is_not_read(request, kind, plant):
    """The apply's code knows where the file of a sandboxed hook is."""
    place = request.getfixturevalue(kind)
    command = PLANTS[plant].replace("FILE", "../hook-env")
    main = f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "rm -rf ../hook-env; {command}"\n  }}\n}}\n'
    attributes, log = place.run(main, {})
    assert attributes["status"] == "applied" and "post-apply has ended" in log, (attributes, log)


def test_a_job_sees_nothing_of_a_trusted_hook(trusted):
    """Neither the folder of hooks nor the file of their variables, which is outside of its root."""
    absent = ["/hooks", trusted.programs, "../hook-env", "../../hook-env"]
    main = f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "ls -d {" ".join(map(str, absent))}; true"\n  }}\n}}\n'
    _, log = trusted.run(main, {})
    assert all(f"cannot access '{path}': No such file or directory" in log for path in absent), log
