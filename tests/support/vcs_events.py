# SPDX-License-Identifier: MPL-2.0
"""Events of repositories and their outcomes as rows, for tests of what follows from them."""

import json
import secrets

from support.runyard import Notifier
from support.vcs_connections import connect
from support.wait import until


def new_id(prefix):
    return f"{prefix}-{secrets.token_hex(8)}"


class Watched:
    """A repository of a fake provider, connected to an organization and its workspaces."""

    def __init__(self, api_site, org, fake, identifier, relations=None, **changes):
        self.api_site, self.org, self.fake, self.identifier = api_site, org, fake, identifier
        self.repository = fake.repository(identifier, {"main.tf": ""})
        self.connection, self.token = connect(org, {"service-provider": fake.dialect, "http-url": fake.url, "api-url": fake.api_url, "oauth-token-string": "good-token", **changes}, relations)
        self.workspaces = {}
        self.id = None

    def workspace(self, name, **attributes):
        """A workspace that uses the repository."""
        made = self.org.workspace(name, **attributes)
        document = {"data": {"type": "workspaces", "attributes": {"vcs-repo": {"identifier": self.identifier, "oauth-token-id": self.token}}}}
        answer = self.org.call("PATCH", f"workspaces/{made}", document)
        assert answer.status == 200, answer.text
        self.workspaces[name] = made
        ((self.id,),) = self.api_site.ask("select repository_id from workspace_repositories where workspace_id = %s", made)
        return made

    def event(self, runs=(), kind="push", sha=None, number=None, state="done", detail=None):
        """An event of a commit with these runs as its outcomes; its id. Statuses follow."""
        event, sha = new_id("ve"), sha or self.repository.sha("main")
        ((organization,),) = self.api_site.ask("select organization_id from vcs_repositories where id = %s", self.id)
        self.api_site.change("insert into vcs_events (id, organization_id, connection_id, repository_id, kind, ref, sha, pull_request, state, detail) "
                             "values (%s, %s, %s, %s, %s, 'refs/heads/main', %s, %s, %s, %s)",
                             event, organization, self.connection, self.id, kind, sha, number, state, json.dumps(detail or {}))
        for run in runs:
            self.api_site.change("insert into vcs_outcomes (event_id, subject_id, reason, run_id) select %s, workspace_id, 'started', id from runs where id = %s", event, run)
        self.note(event)
        return event

    def note(self, event):
        """What the scheduler does with the event's transaction."""
        self.api_site.change("insert into vcs_notes (event_id) values (%s)", event)

    def run(self, workspace, **attributes):
        """A run of a workspace that is not connected yet: its configuration is uploaded."""
        return self.org.run(workspace, self.org.upload(workspace, {"main.tf": ""}), **attributes)

    def quiet(self):
        """Waits until the provider has been told everything."""
        def left():
            return self.api_site.ask("select (select count(*) from vcs_calls where repository_id = v.id), (select count(*) from vcs_notes), "
                                     "(select count(*) from vcs_reports where repository_id = v.id and sent_version < version), "
                                     "(select count(*) from vcs_comments where repository_id = v.id and sent_version < version) from vcs_repositories v where id = %s", self.id)

        until(lambda: left() == [(0, 0, 0, 0)], lambda: f"calls, notes, statuses and comments have been sent: {left()}")


def start_notifier(api_site, redis, name="notifier-1", **options):
    settings = {"notifier_token": api_site.tokens["notifier-token"], "scheduler_url": api_site.scheduler.url, "redis_url": redis.url, "name": name, "allow": "127.0.0.1",
                **api_site.bus.options, **options}
    return Notifier(name, api_site.folder, **settings).start()
