# SPDX-License-Identifier: MPL-2.0
"""Runs from commits through a whole stack: connected workspaces, the runs that commits make in them, and why."""

from support.vcs_connections import connect
from support.wait import until

OPERATIONS = "plan_only,plan_and_apply,save_plan,refresh_only,destroy,empty_apply"
# A configuration that tells which commit it came from. A change of `word` is a change of the plan.
TELLING = """
variable "TFC_CONFIGURATION_VERSION_GIT_BRANCH" {{}}
variable "TFC_CONFIGURATION_VERSION_GIT_COMMIT_SHA" {{}}
variable "TFC_CONFIGURATION_VERSION_GIT_TAG" {{}}
resource "terraform_data" "one" {{
  input = "{word}"
}}
output "commit" {{
  value = join(" ", [var.TFC_CONFIGURATION_VERSION_GIT_BRANCH, var.TFC_CONFIGURATION_VERSION_GIT_COMMIT_SHA, var.TFC_CONFIGURATION_VERSION_GIT_TAG])
}}
"""


def telling(word="one"):
    return {"main.tf": TELLING.format(word=word)}


class Repo:
    """One repository as workspaces of an organization use it. `api` is a client; `identifier` is on the connection's server."""

    def __init__(self, api, identifier, base, relations=None, **changes):
        self.api = api
        self.identifier = identifier
        self.connection, self.token = connect(api, {**base, **changes}, relations)

    def link(self, **more):
        return {"identifier": self.identifier, "oauth-token-id": self.token, **{name.replace("_", "-"): value for name, value in more.items()}}

    def workspace(self, name=None, repo=None, **attributes):
        """A workspace that is connected from its creation. `repo`: more members of vcs-repo."""
        return self.api.workspace(name, vcs_repo=self.link(**(repo or {})), **attributes)

    def ready(self, workspace, **attributes):
        """A workspace whose repository was looked at once, so that every later change is an event."""
        made = self.workspace(workspace, queue_all_runs=True, **attributes)
        until(lambda: self.runs(made), "connecting makes the first run")
        return made

    def check(self, workspace):
        """Looks for missed pushes now."""
        return self.api.post(f"workspaces/{workspace}/actions/vcs-check", {})

    def runs(self, workspace, sha=None):
        """The runs of a workspace, plans included, the newest first; `sha`: those of a commit."""
        return self.api.get(f"workspaces/{workspace}/runs", **{"filter[operation]": OPERATIONS, "page[size]": 100, **({"search[commit]": sha} if sha else {})}).data

    def run(self, workspace, sha, plan_only=None, count=1):
        """Waits for the only run of a commit (of that kind), and returns its id; count: how many there shall be, the newest is returned."""
        def found():
            runs = [each["id"] for each in self.runs(workspace, sha) if plan_only in (None, each["attributes"]["plan-only"])]
            return runs[0] if len(runs) == count else None

        return until(found, lambda: f"{sha} has {count} runs in {workspace}: {self.runs(workspace)} {self.events()}")

    def ingress(self, run):
        """The ingress attributes of a run's configuration version."""
        version = self.api.get(f"runs/{run}").data["relationships"]["configuration-version"]["data"]["id"]
        return self.api.attributes(f"configuration-versions/{version}/ingress-attributes")

    def events(self):
        """The messages of the organization's VCS events, the newest first."""
        return [each["attributes"]["message"] for each in self.api.get(f"organizations/{self.api.organization}/vcs-events").data]

    def settled(self, ask):
        """Waits until everything that was delivered or found is done."""
        def left():
            return ask("select (select count(*) from vcs_deliveries where state = 'waiting'), (select count(*) from vcs_events where state in ('waiting', 'looking', 'comparing')), "
                       "(select count(*) from git_jobs)")[0]

        until(lambda: left() == (0, 0, 0), lambda: f"no delivery, event or git job is left: {left()}")
