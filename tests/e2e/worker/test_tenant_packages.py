# SPDX-License-Identifier: MPL-2.0
# label: extended
"""Two organizations on one worker: a provider that one of them plants never runs in a job of the other."""

import http.server
import io
import json
import ssl
import subprocess
import tarfile
import threading
import uuid

import pytest

from support import packages
from support.api import Api
from support.authority import Authority
from support.engine import ENGINES, time_provider
from support.wait import until

MARK = b"planted-by-a-tenant"
VERSION, PLATFORM = packages.version_and_platform()
PROGRAM = f"terraform-provider-time_v{VERSION}"
PLANTED = {PROGRAM: b"#!/bin/sh\n# " + MARK + b"\nexit 1\n"}
TIME = f"""
terraform {{
  required_providers {{
    time = {{
      source  = "hashicorp/time"
      version = "{VERSION}"
    }}
  }}
}}

resource "time_static" "now" {{}}
"""
MODULE = 'module "m" {\n  source = "git::ssh://git@example.invalid/m.git"\n}\n'
LOCK = packages.lock(VERSION, packages.h1(PLANTED))

# A tenant's code plants a package of a version that others use, and a lock file that matches it.
PLANT = f"""
here=$(cd "$(dirname "$0")" && pwd)
place=$here/.terraform/providers/{packages.ADDRESS}/{VERSION}/{PLATFORM}
mkdir -p "$place" && cp "$here/planted" "$place/{PROGRAM}" && chmod 755 "$place/{PROGRAM}"
cp "$here/planted.lock" "$here/.terraform.lock.hcl"
"""
FILES = {"planted": PLANTED[PROGRAM], "planted.lock": LOCK, "plant.sh": PLANT}


@pytest.fixture
def other(api):
    """A client of a second organization."""
    other = Api(api.url, api.token, f"o-{uuid.uuid4()}")
    attributes = {"name": other.organization, "email": "admin@example.com"}
    other.post("organizations", {"data": {"type": "organizations", "attributes": attributes}})
    return other


@pytest.fixture
def mirror(folder):
    """A folder of zips, which must be installed before use."""
    place = folder / "mirror" / packages.ADDRESS
    place.mkdir(parents=True)
    (place / f"terraform-provider-time_{VERSION}_{PLATFORM}.zip").write_bytes(packages.packed(PROGRAM, time_provider().read_bytes()))
    return folder / "mirror"


@pytest.fixture
def planting(folder):
    """The options of a worker whose engine's init runs the configuration's plant.sh first. This represents all ways to
    run code there, known or not."""
    program = folder / "engine"
    program.write_text(f'#!/bin/sh\nif [ "$1" = init ] && [ -f plant.sh ]; then sh ./plant.sh; fi\nexec {ENGINES[0].path} "$@"\n')
    program.chmod(0o755)
    return {"engine": program, "sandbox_bind": ENGINES[0].folder}


def archive(files):
    """A configuration's archive of {name: text or bytes}."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, content in files.items():
            content = content.encode() if isinstance(content, str) else content
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(content), 0o755
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def run(api, files, wanted, **variables):
    workspace = api.workspace(auto_apply=True)
    for key, value in variables.items():
        api.variable(workspace, key, value, category="env")
    run = api.run(workspace, api.upload(workspace, archive(files)))
    api.wait_status(run, wanted)
    return run


ENDED = {"applied", "errored", "planned_and_finished"}


def shared(worker):
    """The programs in the store that all jobs share."""
    return [path.read_bytes() for path in (worker.options["data_dir"] / "providers").rglob(PROGRAM) if path.is_file()]


def verified_count(worker):
    return worker.metric("runyard_worker_providers_adopted_total")


def other_organization_runs_genuine_package(worker, other):
    """The other organization gets the genuine package: with a lock file, without one, and even if its lock file
    permits the planted one."""
    true = packages.h1({PROGRAM: time_provider().read_bytes()})
    run(other, {"main.tf": TIME}, "applied")
    run(other, {"main.tf": TIME, ".terraform.lock.hcl": packages.lock(VERSION, true)}, "applied")
    run(other, {"main.tf": TIME, ".terraform.lock.hcl": packages.lock(VERSION, packages.h1(PLANTED), true)}, "applied")
    until(lambda: verified_count(worker) == 1, "the true package is verified")
    assert shared(worker) and not any(MARK in program for program in shared(worker))
    run(other, {"main.tf": TIME}, "applied")


# ---- ways to plant one ----


def test_a_package_planted_by_code_in_init(api, other, worker, mirror, planting):
    one = worker(provider_mirror=mirror, **planting)
    run(api, {**FILES, "main.tf": TIME}, "errored")  # a script is not a provider
    other_organization_runs_genuine_package(one, other)
    assert MARK in b"".join(path.read_bytes() for path in one.options["data_dir"].glob(f"organization-packages/*/*/{PROGRAM}")), "it was planted"


def bare_repository(folder):
    """An archive whose root is a bare repository: `git ls-remote` in it runs the script that its settings name. The
    script makes `git clone` run it, too, and serves a repository."""
    work = folder / "module"
    work.mkdir()
    (work / "main.tf").write_text("")
    git = ["git", "-C", work, "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "m"]):
        subprocess.run([*git, *command], check=True)
    subprocess.run(["git", "clone", "-q", "--bare", work, folder / "bare"], check=True)
    files = {str(path.relative_to(folder / "bare")): path.read_bytes() for path in (folder / "bare").rglob("*") if path.is_file() and path.suffix != ".sample"}
    script = PLANT + 'git config --global core.sshCommand "sh $here/plant.sh"\nexec git-upload-pack --no-strict "$here"\n'
    settings = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tsshCommand = sh /job/config/plant.sh\n\tfsmonitor = sh /job/config/plant.sh\n"
    return {**files, **FILES, "plant.sh": script, "config": settings, "refs/.keep": ""}


JSON = {
    "main.tf.json": json.dumps({"terraform": {"required_providers": {"time": {"source": "hashicorp/time", "version": VERSION}}}, "resource": {"time_static": {"now": {}}},
                                "module": {"m": {"source": "git::ssh://git@example.invalid/m.git"}}}).replace('"module"', '"\\u006dodule"'),
}


@pytest.mark.parametrize("kind", ["native", "json"])
def test_a_package_planted_by_a_bare_repository_in_the_configuration(api, other, worker, mirror, folder, sandbox, kind):
    if sandbox != "bwrap":
        pytest.skip("its script names the job's folder as jobs see it in a sandbox")
    one = worker(provider_mirror=mirror)
    files = bare_repository(folder)
    run(api, {**files, **(JSON if kind == "json" else {"main.tf": TIME + MODULE})}, ENDED, **({"SOME": "variable"} if kind == "json" else {}))
    assert not any(MARK in program for program in shared(one))
    assert not list(one.options["data_dir"].glob("organization-packages/*/*")), "git ran the repository's command"
    other_organization_runs_genuine_package(one, other)


def test_a_package_planted_by_a_variable_for_git(api, other, worker, mirror, sandbox):
    if sandbox != "bwrap":
        pytest.skip("its script names the job's folder as jobs see it in a sandbox")
    one = worker(provider_mirror=mirror)
    run(api, {**FILES, "main.tf": TIME + MODULE}, ENDED, GIT_SSH_COMMAND="sh /job/config/plant.sh")
    other_organization_runs_genuine_package(one, other)


# ---- packages of one organization ----


def test_packages_are_reused_only_in_their_organization(api, other, worker, mirror, planting):
    """Its lock file finds the package again, also for an init of its own without the code. The other organization's
    lock file does not."""
    one = worker(provider_mirror=mirror, **planting)
    kept = one.options["data_dir"] / "organization-packages"
    run(api, {**FILES, "main.tf": TIME}, "errored")
    until(lambda: any(kept.glob("*/*")), "the package is kept")  # after the result was sent
    mine = run(api, {"main.tf": TIME, ".terraform.lock.hcl": LOCK}, "errored")
    theirs = run(other, {"main.tf": TIME, ".terraform.lock.hcl": LOCK}, "errored")
    assert "checksum" not in api.log(mine) and "checksum" in other.log(theirs)
    folders = list(kept.iterdir())
    assert [folder for folder in folders if list(folder.iterdir())] == folders and len(folders) == 1
    other_organization_runs_genuine_package(one, other)


def test_inits_are_reused_only_in_their_organization(api, other, worker, mirror):
    one = worker(provider_mirror=mirror)
    run(api, {"main.tf": TIME}, "applied")
    run(other, {"main.tf": TIME}, "applied")
    assert one.metric("runyard_worker_inits_reused_total", stage="plan") == 0
    run(api, {"main.tf": TIME}, "applied")
    run(other, {"main.tf": TIME}, "applied")
    assert one.metric("runyard_worker_inits_reused_total", stage="plan") == 2


def test_a_job_sees_no_package_of_another_organization(api, other, worker, mirror, planting, sandbox):
    if sandbox != "bwrap":
        pytest.skip("without a sandbox a job sees what the worker sees")
    one = worker(provider_mirror=mirror, **planting)
    run(api, {**FILES, "main.tf": TIME}, "errored")
    script = "ls -d /organization-packages/* 2>&1 | head; echo x 2>&1 >/organization-packages/x; find / -xdev -name '%s' 2>/dev/null; echo looked\n" % PROGRAM
    looks = {"main.tf": 'resource "terraform_data" "looks" {\n  provisioner "local-exec" {\n    command = "sh ${path.root}/script.sh 2>&1"\n  }\n}\n', "script.sh": script}
    there, here = run(other, looks, "applied"), run(api, looks, "applied")
    assert "looked" in other.log(there, "apply") and PROGRAM not in other.log(there, "apply") and "Read-only" in other.log(there, "apply")
    packages_here = list(one.options["data_dir"].glob(f"organization-packages/*/*/{PROGRAM}"))
    assert len(packages_here) == 1 and packages_here[0].parent.name in api.log(here, "apply")
    assert packages_here[0].parent.name not in other.log(there, "apply")


# ---- verification ----


class NetworkMirror:
    """A network mirror for one version; its index names `hashes`."""

    def __init__(self, folder, content, hashes):
        zipped = packages.packed(PROGRAM, content)
        place = f"/{packages.ADDRESS}"
        self.answers = {
            f"{place}/index.json": json.dumps({"versions": {VERSION: {}}}).encode(),
            f"{place}/{VERSION}.json": json.dumps({"archives": {PLATFORM: {"url": "p.zip", "hashes": hashes}}}).encode(),
            f"{place}/p.zip": zipped,
        }
        self.authority = Authority(folder)
        answers = self.answers

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                body = answers.get(self.path)
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", "application/zip" if self.path.endswith(".zip") else "application/json")
                self.send_header("Content-Length", str(len(body or b"")))
                self.end_headers()
                self.wfile.write(body or b"")

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.authority.issue())
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"https://127.0.0.1:{self.server.server_port}/"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def network_mirror(folder):
    mirrors = []

    def make(hashes):
        mirrors.append(NetworkMirror(folder, time_provider().read_bytes(), hashes))
        return mirrors[-1]

    yield make
    for mirror in mirrors:
        mirror.close()


def test_packages_are_verified_with_a_network_mirror(api, other, worker, network_mirror, planting):
    mirror = network_mirror([packages.h1({PROGRAM: time_provider().read_bytes()})])
    one = worker(provider_mirror=mirror.url, ca_file=mirror.authority.file, **planting)
    run(api, {**FILES, "main.tf": TIME}, "errored")
    other_organization_runs_genuine_package(one, other)
    mirror.answers.clear()
    run(other, {"main.tf": TIME.replace("now", "later"), ".terraform.lock.hcl": packages.lock(VERSION, packages.h1({PROGRAM: time_provider().read_bytes()}))}, "applied")


def test_a_failed_verification_is_not_repeated_at_once(api, worker, network_mirror, planting):
    """The mirror has lost the package, or its index names another hash."""
    mirror = network_mirror([packages.h1(PLANTED)])
    one = worker(provider_mirror=mirror.url, ca_file=mirror.authority.file, **planting)
    for _ in range(3):
        run(api, {**FILES, "main.tf": TIME + f"# {uuid.uuid4()}\n"}, "errored")
    until(lambda: one.metric("runyard_worker_providers_unverified_total", reason="failed") == 1, "the verification failed")
    run(api, {**FILES, "main.tf": TIME}, "errored")
    assert one.metric("runyard_worker_providers_unverified_total", reason="failed") == 1
    assert verified_count(one) == 0 and not shared(one)
