# SPDX-License-Identifier: MPL-2.0
"""Users, members and teams of a test's organization."""

import hashlib
import itertools

import psycopg

from support.api import Api


class Member(Api):
    """A client with a member's own token."""

    def __init__(self, api, token, membership):
        super().__init__(api.url, token, api.organization)
        self.membership = membership


class People:
    ids = itertools.count(1)

    def __init__(self, api, database):
        self.api = api
        self.database = database

    def user(self, name):
        """A user with a token, who belongs to nothing; the token."""
        user, token = f"user-{name}{next(self.ids)}", f"token-of-{name}-{next(self.ids)}"
        digest = hashlib.sha256(token.encode()).hexdigest()
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute("insert into users (id, username, email) values (%s, %s, %s)", [user, name, f"{name}@example.com"])
            connection.execute("insert into tokens (id, hash, user_id) values (%s, %s, %s)", [f"at-{user}", digest, user])
        return token

    def member(self, name, *teams):
        """A new user who is a member, and in these teams."""
        token = self.user(name)
        body = {"data": {"type": "organization-memberships", "attributes": {"email": f"{name}@example.com"}, "relationships": {
            "teams": {"data": [{"type": "teams", "id": team} for team in teams]}}}}
        made = self.api.post(f"organizations/{self.api.organization}/organization-memberships", body).data
        return Member(self.api, token, made["id"])

    def team(self, name, **access):
        """A new team; its id. Flags are written with underscores: manage_workspaces=True."""
        attributes = {"name": name, "organization-access": {flag.replace("_", "-"): value for flag, value in access.items()}}
        body = {"data": {"type": "teams", "attributes": attributes}}
        return self.api.post(f"organizations/{self.api.organization}/teams", body).data["id"]

    def owners(self):
        teams = self.api.get(f"organizations/{self.api.organization}/teams", **{"filter[names]": "owners"}).data
        return teams[0]["id"]

    def project(self, name):
        body = {"data": {"type": "projects", "attributes": {"name": f"{name}-project"}}}
        return self.api.post(f"organizations/{self.api.organization}/projects", body).data["id"]

    def give(self, team, kind, place, access, **detail):
        """Gives a team access to a `workspace` or a `project`; the id of that."""
        attributes = {"access": access, **{name.replace("_", "-"): value for name, value in detail.items()}}
        relations = {"team": {"data": {"type": "teams", "id": team}}, kind: {"data": {"type": kind + "s", "id": place}}}
        body = {"data": {"type": f"team-{kind}s", "attributes": attributes, "relationships": relations}}
        return self.api.post(f"team-{kind}s", body).data["id"]
