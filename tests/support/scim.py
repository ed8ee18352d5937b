# SPDX-License-Identifier: MPL-2.0
"""An identity provider that provisions people and groups by SCIM."""

import uuid
from urllib.parse import urlencode

from support.api import Api

CORE = "urn:ietf:params:scim:schemas:core:2.0"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"


def settings(api, **attributes):
    """Changes the site's SCIM settings, by the client of a site admin."""
    body = {"data": {"type": "scim-settings", "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}}}
    return api.patch("admin/scim-settings", body).data["attributes"]


def provider(api_site):
    """A provider by which people can sign in, which SCIM needs."""
    api_site.change("""insert into identity_providers (id, kind, name, issuer) values ('idp-scim', 'oidc', 'scim-test', 'https://idp.example.com')
                       on conflict do nothing""")


def enabled(api_site):
    """SCIM is enabled. Returns a client with a new token."""
    admin = Api(api_site.scheduler.url, api_site.tokens["token"])
    provider(api_site)
    settings(admin, enabled=True, paused=False)
    token = admin.post("admin/scim-tokens", {"data": {"type": "authentication-tokens", "attributes": {"description": "tests"}}}).data["attributes"]["token"]
    return Scim(api_site.scheduler.url, token)


class Scim:
    def __init__(self, url, token):
        self.api, self.token = Api(url, token), token

    def call(self, method, path, body=None, **options):
        answer = self.api.call(method, f"{self.api.url}/scim/v2/{path}", body, {"Content-Type": "application/scim+json", "Accept": "application/scim+json"}, **options)
        if answer.status != 204:
            assert answer.headers["Content-Type"] == "application/scim+json", (answer.status, answer.text)
        if answer.status >= 400:
            assert answer.json["schemas"] == [ERROR] and answer.json["status"] == str(answer.status), answer.text
        return answer

    def ask(self, method, path, body=None, status=200):
        answer = self.call(method, path, body)
        assert answer.status == status, f"{method} {path}: {answer.status} {answer.text[:1000]}"
        return answer.json if answer.body else None

    def refused(self, method, path, body, status, kind=None):
        answer = self.call(method, path, body)
        assert (answer.status, answer.json.get("scimType")) == (status, kind), answer.text
        return answer.json["detail"]

    def user(self, user_name=None, /, **attributes):
        user_name = user_name or f"p{uuid.uuid4().hex[:10]}@example.com"
        email = user_name if "@" in user_name else f"{user_name}@example.com"
        return self.ask("POST", "Users", {"schemas": [f"{CORE}:User"], "userName": user_name, "emails": [{"value": email, "primary": True}], **attributes}, 201)

    def group(self, *members, name=None, **attributes):
        body = {"schemas": [f"{CORE}:Group"], "displayName": name or f"g-{uuid.uuid4().hex[:10]}", "members": [{"value": member} for member in members], **attributes}
        return self.ask("POST", "Groups", body, 201)

    def patch(self, path, *operations, status=200):
        return self.ask("PATCH", path, {"schemas": [PATCH], "Operations": list(operations)}, status)

    def members(self, group):
        return sorted(member["value"] for member in self.ask("GET", f"Groups/{group}")["members"])

    def found(self, kind, **query):
        return self.ask("GET", f"{kind}?{urlencode(query)}")


def operation(op, value=None, path=None):
    return {"op": op, **({"path": path} if path else {}), **({"value": value} if value is not None else {})}

