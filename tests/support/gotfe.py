# SPDX-License-Identifier: MPL-2.0
"""gotfe [NAME...]: runs go-tfe's own tests against a stack of real processes; tests/gotfe compiles and starts them.

Without names, it runs the tests that gotfe.txt lists. A NAME is a regular expression, found anywhere in a test's
name. It fails if a test fails for which gotfe.txt gives no reason after its name.
"""

import argparse
import re
import shutil
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support.api import Api
from support.documents import document
from support.gitea import Gitea
from support.modules import Modules
from support.process import clean_environment
from support.runyard import KEYS, Scheduler
from support.servers import ROOT, Broker, Postgres, Redis
from support.site import FullSite, new_folder, release_all, sandbox_kind
from support.vcs_fakes import GitHub
from support.wait import until

LIST = ROOT / "tests/gotfe.txt"
# These tests set environment variables that all others read (each other's, too), or expect their objects on the first
# page of a list.
ALONE = re.compile(r"^(TestClient_|TestOrganizationsList$|TestAdminSettings_General_Update$)")
# Versions that some tests expect every installation to list.
LISTED = {"terraform": "1.0.4", "opa": "0.59.0", "sentinel": "0.22.1"}
ENTERPRISE = re.compile(r"^TestAdmin(Runs|Users|Organizations|Settings|Workspaces|TerraformVersions|OPAVersions|SentinelVersions|SCIMGroups|SCIMGroupMappings|SCIMTokens)_")
# These tests run only for an API with features in beta, which some others refuse.
BETA = re.compile(r"_Beta_|_Beta$|RegistryNoCodeModule|RegistryModules?Update|RegistryModulesListCommit$|RegistryModulesCreateMonorepo|^TestTestRuns|CreateForRegistryModule|WithTesting$|RegistryModulesCreateWithVCSConnection_|TokenTTLPolicies|AuditConfiguration|TagSelectors|RunTasks$|RegistryModulesShowVersion|RegistryModulesCreateBranchBasedWithVCSConnection$|AddPolicyOverrides|^TestProviderSets|MultipleTokens")
NOW = re.compile(r"^=== (?:RUN|CONT|NAME|PAUSE) +(\S+)")
RESULT = re.compile(r"^ *--- (PASS|FAIL|SKIP): (\S+) ")
OWNER = "acme"
REPOSITORY = f"{OWNER}/policies"  # at the fake of GitHub, or at Gitea
MODULE = f"{OWNER}/terraform-null-network"
NO_CODE = f"{OWNER}/terraform-null-service"
VARIABLE = 'variable "word" {\n  default = "hello"\n}\n'
USER = "admin-security-maintenance"  # whom a test searches
ROLES = ("SITE_ADMIN", "CONFIGURATION", "PROVISION_LICENSES", "SUBSCRIPTION", "SUPPORT", "SECURITY_MAINTENANCE", "VERSION_MAINTENANCE")


class Echo(BaseHTTPRequestHandler):
    """The destination of the tests' run tasks and notifications: it acknowledges everything."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


# The environment of a test. Tests of site admins' API run only for Terraform Enterprise, which some others refuse.
OF_ENTERPRISE, OF_BETA = {"ENABLE_TFE": "1", "ENABLE_BETA": "1"}, {"ENABLE_BETA": "1"}


def kind_of(name):
    if ENTERPRISE.match(name):
        return OF_ENTERPRISE
    return OF_BETA if BETA.search(name) else {}


class Suite:
    """The results of the tests, and their output."""

    def __init__(self, program, environment, options):
        self.program = program
        self.environment = environment
        self.options = options
        self.results = {}
        self.output_of = {}

    def names(self):
        listed = subprocess.run([self.program, "-test.list", "."], cwd=self.program.parent, capture_output=True, text=True, check=True)
        return [line for line in listed.stdout.split() if line.startswith("Test")]

    def run(self, names):
        """A panic ends the program, so the remaining tests are run again without the test that panicked."""
        left = list(names)
        while left:
            output, code = self.run_once(left)
            before = len(left)
            left = [name for name in left if name not in self.results]
            if left and len(left) == before:
                self.give_up(left, f"the program ended with {code}:\n{output[-3000:]}")
                return

    def give_up(self, names, why):
        for name in names:
            self.results[name] = "FAIL"
            self.output_of[name] = [why]

    def run_once(self, names):
        """All of one kind."""
        command = [self.program, "-test.v", "-test.run", f"^({'|'.join(names)})$", "-test.parallel", str(self.options.parallel),
                   "-test.timeout", f"{self.options.timeout}s"]
        done = subprocess.run(command, cwd=self.program.parent, env={**self.environment, **kind_of(names[0])}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              errors="replace")
        self.read(done.stdout)
        return done.stdout, done.returncode

    def read(self, output):
        """The preceding lines determine the test of each line."""
        now = ""
        for line in output.splitlines():
            result = RESULT.match(line)
            if NOW.match(line):
                now = NOW.match(line).group(1)
                continue
            if result:
                now = result.group(2)
                if "/" not in now:
                    self.results[now] = result.group(1)
            self.output_of.setdefault(now.split("/")[0], []).append(line)
        for name in re.findall(r"^\t(Test\w+)(?:/\S*)? \(", output.partition("panic: test timed out")[2], re.M):
            self.results.setdefault(name, "FAIL")


class Stack:
    def __init__(self, slots, gitea=False):
        """gitea: the repositories are those of a real Gitea."""
        self.folder = new_folder("gotfe")
        self.echo = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
        threading.Thread(target=self.echo.serve_forever, daemon=True).start()
        self.servers = [Postgres().start(), Redis(self.folder).start(), Broker(self.folder).start()]
        postgres, redis, bus = self.servers
        self.site = FullSite(self.folder, bus, postgres, sandbox_kind(), redis)
        self.site.worker.options["slots"] = slots
        self.provider, self.host = ("gitea", Gitea(self.folder).start()) if gitea else ("github", GitHub(self.folder))
        if gitea:
            self.host.organization(OWNER)
        self.policies()
        self.module()

    def repository(self, identifier, files):
        if self.provider == "github":
            return self.host.repository(identifier, files)
        return self.host.repository(identifier.partition("/")[2], files, OWNER)

    def policies(self):
        """The repository of the tests' policy sets and workspaces."""
        repository = self.repository(REPOSITORY, {"main.tf": 'resource "terraform_data" "foo" {}\n'})
        repository.copy.git("checkout", "--quiet", "-b", "policies")
        policies = {f"policy-sets/{name}/sentinel.hcl": 'policy "one" {\n  source = "./one.sentinel"\n}\n' for name in ("foo", "bar")}
        sources = {f"policy-sets/{name}/one.sentinel": "main = rule { true }\n" for name in ("foo", "bar")}
        repository.copy.commit_and_push({**policies, **sources})

    def module(self):
        """The repository of the tests' modules."""
        self.repository(MODULE, {"main.tf": 'resource "terraform_data" "foo" {}\n'})
        copy = self.repository(NO_CODE, {"main.tf": VARIABLE}).copy
        for tag in ("v1.0.0", "v1.0.1"):
            copy.commit_and_push()
            copy.tag(tag)

    def no_code(self):
        """A no-code module with a variable. Returns its id."""
        org = Api(self.site.api.url, self.site.api.token, self.site.api.post("organizations", document("organizations", {"name": "no-code", "email": "no-code@example.com"})).data["id"])
        modules = Modules(org)
        modules.publish("words", "1.0.0", {"main.tf": VARIABLE})
        module = modules.read("words")["id"]
        made = org.post(f"organizations/{org.organization}/no-code-modules", document(
            "no-code-modules", {"version-pin": "1.0.0"}, **{"registry-module": {"data": {"type": "registry-modules", "id": module}}})).data["id"]
        until(lambda: org.call("GET", f"no-code-modules/{made}/versions/1.0.0/module-variables").status == 200, "the module is inspected")
        return made

    def start(self):
        self.site.start()
        Scheduler.run_command("add-user", USER, f"{USER}@example.com", database_url=self.site.database, keys=KEYS)
        for tool, version in LISTED.items():
            self.site.api.post(f"admin/{tool}-versions", {"data": {"type": f"{tool}-versions", "attributes": {
                "version": version, "url": "https://example.com/program.zip", "sha": "0" * 64, "official": True}}})
        return self

    def restore(self):
        """Switches cost estimates on again, which one of Enterprise's tests leaves off."""
        self.site.api.patch("admin/cost-estimation-settings", {"data": {"type": "cost-estimation-settings", "attributes": {"enabled": True}}})

    def environment(self):
        token = self.site.api.token
        roles = {f"TFE_ADMIN_{role}_TOKEN": token for role in ROLES}
        github = {"GITHUB_URL": self.host.url, "GITHUB_API_URL": self.host.api_url, "VCS_PROVIDER": self.provider,
                  "OAUTH_CLIENT_GITHUB_TOKEN": "good-token" if self.provider == "github" else self.host.token, "GITHUB_POLICY_SET_IDENTIFIER": REPOSITORY,
                  "GITHUB_REGISTRY_MODULE_IDENTIFIER": MODULE, "GITHUB_REGISTRY_NO_CODE_MODULE_IDENTIFIER": NO_CODE, "NO_CODE_MODULE_ID": self.no_code()}
        return clean_environment(TFE_ADDRESS=self.site.scheduler.url, TFE_TOKEN=token, TFC_RUN_TASK_URL=f"http://127.0.0.1:{self.echo.server_port}/", **roles, **github)

    def release(self):
        site = self.site
        try:
            release_all([*self.servers, site.scheduler, site.worker, site.notifier, site.receiver])
        finally:
            self.echo.shutdown()
            self.host.release()
        if self.provider == "github":
            self.host.check()


def listed():
    """{name: the reason for which it may fail, or ""}."""
    lines = (line.partition("#") for line in LIST.read_text().splitlines())
    return {name.strip(): why.strip() for name, _, why in lines if name.strip()}


def chosen(suite, options):
    known = suite.names()
    if options.all:
        return known
    if options.names:
        return [name for name in known if any(re.search(pattern, name) for pattern in options.names)]
    strange = [name for name in listed() if name not in known]
    assert not strange, f"go-tfe has no such tests: {strange}"
    return list(listed())


def report(suite, names, options):
    """Prints the results. Returns whether all are as expected."""
    excuses = listed()
    for name in names:
        if suite.results[name] == "FAIL" or options.verbose:
            print(f"\n===== {name}\n" + "\n".join(suite.output_of.get(name, [])))
    print()
    by = {result: [name for name in names if suite.results[name] == result] for result in ("PASS", "SKIP", "FAIL")}
    for result, those in by.items():
        for name in those:
            print(result, name, *([f"# {excuses[name]}"] if excuses.get(name) else []))
    print(f"{len(by['PASS'])} of {len(names)} passed, {len(by['SKIP'])} skipped themselves, {len(by['FAIL'])} failed")
    return not [name for name in by["FAIL"] if not excuses.get(name)]


def arguments():
    parser = argparse.ArgumentParser(prog="gotfe", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--all", action="store_true", help="all tests of go-tfe, not only the listed ones")
    parser.add_argument("--gitea", action="store_true", help="with the repositories of a real Gitea instead of a fake of GitHub")
    parser.add_argument("--verbose", action="store_true", help="the output of every test, not only of those that failed")
    parser.add_argument("--parallel", type=int, default=8, help="how many tests run at once")
    parser.add_argument("--timeout", type=int, default=1700, help="how many seconds they all may take")
    parser.add_argument("--keep-logs", metavar="FOLDER", type=Path, help="where the processes' logs are to go")
    parser.add_argument("--suite", type=Path, required=True, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    began = time.monotonic()
    stack = Stack(slots=4, gitea=options.gitea)
    try:
        suite = Suite(options.suite.resolve(), stack.start().environment(), options)
        names = chosen(suite, options)
        for name in filter(ALONE.match, names):
            suite.run([name])
        together = [name for name in names if not ALONE.match(name)]
        for kind in (OF_ENTERPRISE, OF_BETA, {}):  # one of Enterprise's requires that nothing was applied before
            suite.run([name for name in together if kind_of(name) == kind])
            if kind == OF_ENTERPRISE:
                stack.restore()
        well = report(suite, names, options)
        print(f"{time.monotonic() - began:.0f} s")
    finally:
        try:
            stack.release()
        finally:
            if options.keep_logs:
                shutil.copytree(stack.folder, options.keep_logs, ignore=lambda folder, names: [n for n in names if not n.endswith(".log")], dirs_exist_ok=True)
            shutil.rmtree(stack.folder, ignore_errors=True)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
