# SPDX-License-Identifier: MPL-2.0
"""Connections, repositories, contents and git jobs that tests write as rows, for real workers."""

import itertools
import json

from support.runyard import KEYS
from support.sealing import seal
from support.wait import until

KEY = KEYS.split(":")[1]
KEEP = ("create or replace function keep() returns trigger language plpgsql as 'begin return null; end'",
        "create or replace trigger keep before update on vcs_contents for each row "
        "when (old.state = 'stored' and new.state = 'absent' and starts_with(new.id, 'vc-test')) execute function keep()")
numbers = itertools.count(1)  # of rows, in all organizations


class GitRows:
    """Of one organization, by its id. No configuration version has their contents: a trigger keeps the sweep from archiving
    them before a test has read them."""

    def __init__(self, ask, organization):
        self.ask, self.organization = ask, organization
        self.pool = None  # of new connections
        for statement in KEEP:
            ask(statement)

    def id(self, prefix):
        return f"{prefix}-test{next(numbers):012d}"

    def connection(self, url, key="ada", password="secret-of-ada-1", ssh_key=None, host_keys="", provider="git", pool=None):
        connection, token = self.id("oc"), self.id("ot")
        self.ask("insert into vcs_connections (id, organization_id, provider, http_url, api_url, key, callback_id, pool_id) "
                 "values (%s, %s, %s, %s, %s, %s, %s, %s)", connection, self.organization, provider, url, url, key, connection, pool or self.pool)
        self.ask("insert into vcs_tokens (id, connection_id, token_sealed, ssh_key_sealed, host_keys) values (%s, %s, %s, %s, %s)", token, connection,
                 password and seal(KEY, f"vcs-token:{token}", password.encode()), ssh_key and seal(KEY, f"vcs-ssh-key:{token}", ssh_key.encode()), host_keys)
        return connection

    def repository(self, connection, identifier="acme/network.git"):
        id = self.id("vr")
        self.ask("insert into vcs_repositories (id, organization_id, connection_id, identifier, look_due) values (%s, %s, %s, %s, now() + interval '1 day')",
                 id, self.organization, connection, identifier)
        return id

    def host_keys(self, repository):
        """Those that are pinned for the repository's connection."""
        return self.ask("select host_keys from vcs_tokens t, vcs_repositories r where r.id = %s and t.connection_id = r.connection_id", repository)[0][0]

    def job(self, kind, repository, **columns):
        names, values = ["id", "kind", "organization_id", "repository_id", *columns], [self.id("gj"), kind, self.organization, repository, *columns.values()]
        pool = "coalesce((select c.pool_id from vcs_connections c, vcs_repositories r where r.id = %s and c.id = r.connection_id), " \
               "(select id from agent_pools where organization_id is null))"
        self.ask(f"insert into git_jobs ({', '.join(names)}, pool_id) values ({', '.join(['%s'] * len(names))}, {pool})", *values, repository)
        return values[0]

    def fetch(self, repository, sha, submodules=False, directory=""):
        """A content that a policy set waits for, and its job. Returns the content's id."""
        content, policy_set, version = self.id("vc"), self.id("polset"), self.id("polsetver")
        self.ask("insert into vcs_contents (id, repository_id, sha, submodules, directory, state) values (%s, %s, %s, %s, %s, 'fetching')", content, repository, sha, submodules, directory)
        self.ask("insert into policy_sets (id, organization_id, name, kind) values (%s, %s, %s, 'opa')", policy_set, self.organization, policy_set)
        self.ask("insert into policy_set_versions (id, policy_set_id, status) values (%s, %s, 'ingressing')", version, policy_set)
        self.ask("insert into policy_set_version_commits (policy_set_version_id, content_id, sha) values (%s, %s, %s)", version, content, sha)
        self.job("fetch", repository, content_id=content)
        return content

    def content(self, id):
        return dict(zip(("state", "hash", "size", "error", "blob_id"),
                        self.ask("select state, hash, size, error, blob_id from vcs_contents where id = %s", id)[0]))

    def fetched(self, id):
        """Waits for the content's end."""
        until(lambda: self.content(id)["state"] in ("stored", "errored"), lambda: f"the fetch ends: {self.content(id)} {self.jobs()}")
        return self.content(id)

    def look(self, repository):
        """Looks at the repository, and returns its refs."""
        before = self.ask("select looked_at from vcs_repositories where id = %s", repository)
        self.job("look", repository)
        until(lambda: not self.jobs() and self.ask("select looked_at from vcs_repositories where id = %s", repository) != before, lambda: f"the look ends: {self.jobs()}")
        return dict(self.ask("select name, sha from vcs_refs where repository_id = %s", repository))

    def event(self, repository, kind="push", ref="refs/heads/main", before="", sha="", pull_request=None, base=None):
        id = self.id("ve")
        self.ask("insert into vcs_events (id, organization_id, repository_id, kind, ref, before_sha, sha, pull_request, detail, state, due_at) values "
                 "(%s, %s, %s, %s, %s, %s, %s, %s, %s, 'comparing', now() + interval '1 day')", id, self.organization, repository, kind, ref, before, sha,
                 pull_request, json.dumps({"base": base} if base else {}))
        return id

    def diff(self, repository, **event):
        """Compares an event's commits, and returns the changed files, or why they are not known."""
        id = self.event(repository, **event)
        job = self.job("diff", repository, event_id=id)
        until(lambda: not self.ask("select 1 from git_jobs where id = %s", job), lambda: f"the diff ends: {self.jobs()}")
        return self.ask("select coalesce(files, to_jsonb(files_note)) from vcs_events where id = %s", id)[0][0]

    def jobs(self):
        return self.ask("select kind, state, tries, error from git_jobs where organization_id = %s", self.organization)

    def release(self):
        self.ask("delete from git_jobs where organization_id = %s", self.organization)
