# SPDX-License-Identifier: MPL-2.0
"""Connections to VCS providers, made by the API. Their hosts are never called by these tests."""

import subprocess
import tempfile
from pathlib import Path

GITEA = {"service-provider": "gitea", "http-url": "https://gitea.example.com", "api-url": "https://gitea.example.com/api/v1", "oauth-token-string": "secret-token-of-gitea"}
GIT = {"service-provider": "git", "http-url": "https://git.example.com", "key": "bot", "oauth-token-string": "secret-password-of-git"}
DATA_CENTER = {"service-provider": "bitbucket_data_center", "http-url": "https://bb.example.com", "api-url": "https://bb.example.com/rest/api/1.0"}


def client_document(relations=None, **attributes):
    data = {"type": "oauth-clients", "attributes": attributes}
    if relations:
        data["relationships"] = {name: {"data": link} for name, link in relations.items()}
    return {"data": data}


def create_client(api, base=GITEA, relations=None, **changes):
    """The answer to the creation of a connection. Changes are written with underscores; None leaves an attribute out."""
    attributes = {**base, **{name.replace("_", "-"): value for name, value in changes.items()}}
    attributes = {name: value for name, value in attributes.items() if value is not None}
    return api.call("POST", f"organizations/{api.organization}/oauth-clients", client_document(relations, **attributes))


def connect(api, base=GITEA, relations=None, **changes):
    """A new connection, and the id of its token (None: it has none)."""
    answer = create_client(api, base, relations, **changes)
    assert answer.status == 201, answer.text
    tokens = answer.data["relationships"]["oauth-tokens"]["data"]
    return answer.data["id"], tokens[0]["id"] if tokens else None


def ssh_key(*options):
    """A new private key: the options are ssh-keygen's."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "key"
        subprocess.run(["ssh-keygen", "-q", "-N", "", *options, "-f", path], check=True)
        return path.read_text()
