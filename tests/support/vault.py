# SPDX-License-Identifier: MPL-2.0
"""A real Vault on 127.0.0.1 with everything in memory, for extended/: tests/tools/go builds it once, in minutes."""

import json
import os
import shutil
import subprocess
import urllib.error
import urllib.request

from support.chart import built
from support.process import Process, clean_environment, free_port
from support.wait import PATIENCE

ROOT_TOKEN = "root-of-the-tests"
# The rights of a run's token over itself, as in HCP Terraform's documentation.
OWN_TOKEN = """
path "auth/token/lookup-self" { capabilities = ["read"] }
path "auth/token/renew-self" { capabilities = ["update"] }
path "auth/token/revoke-self" { capabilities = ["update"] }
"""


class Refused(AssertionError):
    """Vault answered with an error."""

    def __init__(self, method, path, status, text):
        super().__init__(f"{method} {path}: {status} {text}")
        self.status, self.text = status, text


class Vault:
    """One server, whose audit log has all requests with their secrets."""

    def __init__(self, folder):
        self.folder = folder / "vault"
        self.folder.mkdir()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.audit = self.folder / "audit.log"
        plugins = self.folder / "plugins"  # all programs in it are plugins
        plugins.mkdir()
        shutil.copy(built("vault") / "aws", plugins / "aws")
        self.program = built("vault") / "vault"
        self.process = Process("vault", [self.program, "server", "-dev", f"-dev-root-token-id={ROOT_TOKEN}", f"-dev-listen-address=127.0.0.1:{self.port}",
                                         "-dev-no-store-token", f"-dev-plugin-dir={plugins}"], folder, env=clean_environment(HOME=self.folder))

    def start(self):
        self.process.launch()
        self.process.wait_until(self._answers, "answers")
        self.call("PUT", "sys/audit/file", {"type": "file", "options": {"file_path": str(self.audit), "log_raw": "true"}})
        return self

    def release(self):
        self.process.stop()

    def _answers(self):
        try:
            return self.call("GET", "sys/health")["initialized"]
        except (OSError, Refused):
            return False

    def call(self, method, path, body=None, token=ROOT_TOKEN):
        """The answer's document, or None; an error raises Refused."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/v1/{path}", data, {"X-Vault-Token": token}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            raise Refused(method, path, error.code, error.read().decode()) from None
        return json.loads(text) if text else None

    def policy(self, name, rules=""):
        self.call("PUT", f"sys/policies/acl/{name}", {"policy": OWN_TOKEN + rules})
        return name

    def shell(self, text):
        """Runs commands with `vault` in PATH, as an administrator does."""
        environment = clean_environment(HOME=self.folder, VAULT_ADDR=self.url, VAULT_TOKEN=ROOT_TOKEN, PATH=f"{self.program.parent}:{os.environ['PATH']}")
        done = subprocess.run(["sh", "-ec", text], capture_output=True, text=True, env=environment)
        assert done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}"

    # ---- logins with JWTs ----

    def trust(self, issuer, **more):
        """Logins with tokens of that issuer."""
        self.call("POST", "sys/auth/jwt", {"type": "jwt"})
        self.call("POST", "auth/jwt/config", {"oidc_discovery_url": issuer, "bound_issuer": issuer, **more})

    def distrust(self):
        self.call("DELETE", "sys/auth/jwt")

    def role(self, name, subject, policy, **more):
        """A role for the runs whose subjects match, as HCP Terraform's documentation has it."""
        self.call("POST", f"auth/jwt/role/{name}", {
            "role_type": "jwt", "policies": [policy], "bound_audiences": ["vault.workload.identity"], "bound_claims_type": "glob", "bound_claims": {"sub": subject},
            "user_claim": "terraform_full_workspace", "token_ttl": "20m", **more})
        return name

    def login(self, role, jwt):
        return self.call("POST", "auth/jwt/login", {"role": role, "jwt": jwt})["auth"]

    # ---- what was asked ----

    def answered(self, path):
        """The audit log's lines about answers to requests of that path."""
        lines = [json.loads(line) for line in self.audit.read_text().splitlines(keepends=True) if line.endswith("\n")]
        return [line for line in lines if line["type"] == "response" and line["request"]["path"] == path]

    def logins(self, role):
        """[(JWT, token)] of the logins with a role that succeeded."""
        return [(line["request"]["data"]["jwt"], line["response"]["auth"]["client_token"]) for line in self.answered("auth/jwt/login")
                if line["request"]["data"]["role"] == role and "auth" in line.get("response", {})]

    def valid(self, token):
        try:
            return bool(self.call("GET", "auth/token/lookup-self", token=token))
        except Refused as refused:
            assert refused.status == 403, refused
            return False
