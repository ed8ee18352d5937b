# SPDX-License-Identifier: MPL-2.0
"""Users, members and teams of a test's organization."""

import hashlib
import itertools
import json
import random
import uuid

import psycopg

from support.api import Api
from support.browser import Browser
from support.runyard import KEYS, Scheduler


class Owner:
    """The owner of an organization, who is not a site admin. Both have the same name."""

    def __init__(self, api_site):
        self.name = f"u-{uuid.uuid4().hex[:12]}"
        created = api_site.bootstrap(self.name, self.name)
        api_site.change("update users set is_site_admin = false where username = %s", self.name)
        self.api_site, self.password = api_site, created["password"]
        self.address = f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(256)}"
        self.api = Api(api_site.scheduler.url, created["token"], self.name)

    def browser(self):
        """A browser in which the owner is signed in."""
        browser = Browser(self.api_site.scheduler.url, address=self.address).sign_in(self.name, self.password)
        assert browser.status == 200, browser.text
        return browser


class Member(Api):
    """A client with a member's own token."""

    def __init__(self, api, token, membership):
        super().__init__(api.url, token, api.organization)
        self.membership = membership

    def accept(self):
        self.ask("POST", f"account/invitations/{self.membership}/actions/accept")


class People:
    ids = itertools.count(1)

    def __init__(self, api, database):
        self.api = api
        self.database = database

    def user(self, name):
        """A user with a token and no memberships. Returns the token."""
        user = f"user-{name}{next(self.ids)}"
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute("insert into users (id, username, email) values (%s, %s, %s)", [user, name, f"{name}@example.com"])
        return self.token(user)

    def token(self, user):
        """A new token of an existing user."""
        token = f"token-of-{user}-{next(self.ids)}"
        digest = hashlib.sha256(token.encode()).hexdigest()
        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute("insert into tokens (id, hash, user_id) values (%s, %s, %s)", [f"at-{token}", digest, user])
        return token

    def member(self, name, *teams):
        """A new member of these teams."""
        return self.join(name, self.user(name), *teams)

    def join(self, name, token, *teams):
        """The user of that name and token becomes a member of these teams."""
        body = {"data": {"type": "organization-memberships", "attributes": {"email": f"{name}@example.com"}, "relationships": {
            "teams": {"data": [{"type": "teams", "id": team} for team in teams]}}}}
        made = self.api.post(f"organizations/{self.api.organization}/organization-memberships", body).data
        member = Member(self.api, token, made["id"])
        member.accept()
        return member

    def with_password(self, name, *teams):
        """The name and password of a new member of these teams, who can sign in."""
        made = json.loads(Scheduler.run_command("add-user", name, f"{name}@example.com", database_url=self.database, keys=KEYS).stdout)
        self.join(name, self.token(made["id"]), *teams)
        return name, made["password"]

    def team(self, name, **access):
        """A new team. Returns its id. Flags are written with underscores: manage_workspaces=True."""
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
        """Gives a team access to a `workspace` or a `project`. Returns the id of the access."""
        attributes = {"access": access, **{name.replace("_", "-"): value for name, value in detail.items()}}
        relations = {"team": {"data": {"type": "teams", "id": team}}, kind: {"data": {"type": kind + "s", "id": place}}}
        body = {"data": {"type": f"team-{kind}s", "attributes": attributes, "relationships": relations}}
        return self.api.post(f"team-{kind}s", body).data["id"]
