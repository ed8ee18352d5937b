# SPDX-License-Identifier: MPL-2.0
"""A real Keycloak on 127.0.0.1 with TLS, for extended/. Its distribution comes from Maven Central, and is prepared once."""

import fcntl
import hashlib
import json
import os
import shutil
import ssl
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from pathlib import Path

from support.authority import openssl
from support.process import Process, clean_environment, free_port
from support.servers import DEPS, ROOT
from support.wait import PATIENCE

POM = ROOT / "tests/tools/keycloak/pom.xml"
ADMIN, PASSWORD = "admin", "Password-of-the-tests-1"
BUILD = ("build", "--db=dev-file", "--health-enabled=true")
START = ("start", "--optimized", "--cache=local", "--http-host=127.0.0.1", "--hostname-strict=false")
JAVA = "-XX:TieredStopAtLevel=1"  # it runs for minutes
# Folders of the distribution to which a home has links. `data` is its own.
LENT = "conf", "lib", "providers", "themes"
FIRST_START = 600  # seconds: it makes its database


class Refused(AssertionError):
    """Keycloak answered with an error."""

    def __init__(self, method, path, status, body):
        super().__init__(f"{method} {path}: {status} {body}")
        self.status = status


def fetched(folder):
    """Fetches the distribution from Maven Central. Returns its folder."""
    done = subprocess.run(["mvn", "-B", "-q", "-f", POM, "dependency:copy-dependencies", "-DincludeTypes=zip", f"-DoutputDirectory={folder}"], capture_output=True, text=True)
    assert done.returncode == 0, f"Keycloak could not be fetched from Maven Central:\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
    (archive,) = folder.glob("*.zip")
    shutil.unpack_archive(archive, folder)
    archive.unlink()
    (distribution,) = folder.glob("keycloak-*")
    os.chmod(distribution / "bin/kc.sh", 0o755)
    return distribution.rename(folder / "keycloak")


def prepared():
    """The folder with the distribution, `keycloak`, and with a home whose database has the administrator, `home`. It is made once for each pom.xml."""
    tools = DEPS / "tools"
    tools.mkdir(parents=True, exist_ok=True)
    made = tools / f"keycloak-{hashlib.sha256(POM.read_bytes()).hexdigest()[:16]}"
    with open(tools / "keycloak.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            new = made.with_suffix(".new")
            shutil.rmtree(new, ignore_errors=True)
            new.mkdir()
            distribution = fetched(new)
            done = subprocess.run([distribution / "bin/kc.sh", *BUILD], capture_output=True, text=True, env=clean_environment(JAVA_OPTS_APPEND=JAVA))
            assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
            first = Keycloak(new, new / "home", distribution)
            first.start()
            first.stop()
            first.process.log_path.unlink()
            new.rename(made)
    return made


class Keycloak:
    """One server. stop() and start() restart it with its data. With an authority it serves TLS, and trusts only that authority's certificates."""

    def __init__(self, folder, home=None, distribution=None, authority=None):
        folder = Path(folder)
        if not distribution:
            made = prepared()
            distribution, home = made / "keycloak", folder / "keycloak"
            shutil.copytree(made / "home/data", home / "data")
        home.mkdir(exist_ok=True)
        for name in LENT:
            (home / name).unlink(missing_ok=True)
            (home / name).symlink_to(distribution / name)
        self.port, self.management = free_port(), free_port()
        self.url = f"{'https' if authority else 'http'}://127.0.0.1:{self.port}"
        self.trust = authority.context() if authority else None
        argv = [distribution / "bin/kc.sh", *START, f"-Dkc.home.dir={home}", f"--http-management-port={self.management}", *self._listening(authority, home)]
        environment = clean_environment(JAVA_OPTS_APPEND=JAVA, KC_BOOTSTRAP_ADMIN_USERNAME=ADMIN, KC_BOOTSTRAP_ADMIN_PASSWORD=PASSWORD)
        self.process = Process("keycloak", argv, folder, env=environment)
        self.token, self.token_until = None, 0

    def _listening(self, authority, home):
        if not authority:
            return ["--http-enabled=true", f"--http-port={self.port}"]
        certificate, key = authority.issue("keycloak")
        own = home / "key.pem"
        openssl("pkcs8", "-topk8", "-nocrypt", "-in", key, "-out", own)
        return [f"--https-port={self.port}", f"--https-certificate-file={certificate}", f"--https-certificate-key-file={own}", f"--truststore-paths={authority.file}"]

    # ---- the server ----

    def start(self):
        self.process.launch()
        self.process.wait_until(self._answers, "answers", FIRST_START)
        return self

    def stop(self):
        self.process.stop()

    def release(self):
        if self.process.alive():
            self.process.stop()

    def _answers(self):
        try:
            return self.call("GET", "")
        except (urllib.error.URLError, ConnectionError, TimeoutError, ssl.SSLError, Refused):
            return False

    # ---- its API ----

    def _send(self, method, url, data=None, headers=None):
        request = urllib.request.Request(url, data=data, method=method, headers=headers or {})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE, context=self.trust) as answer:
                return answer.read(), answer.headers
        except urllib.error.HTTPError as error:
            raise Refused(method, url, error.code, error.read().decode(errors="replace")) from None

    def _bearer(self):
        if time.monotonic() > self.token_until:
            form = {"grant_type": "password", "client_id": "admin-cli", "username": ADMIN, "password": PASSWORD}
            answer, _ = self._send("POST", f"{self.url}/realms/master/protocol/openid-connect/token", urllib.parse.urlencode(form).encode())
            self.token, self.token_until = json.loads(answer)["access_token"], time.monotonic() + 30
        return f"Bearer {self.token}"

    def call(self, method, path, body=None):
        """A request below /admin/realms with a JSON document, or with a text. Returns the answer's document, or the id of what was created, or None."""
        headers = {"Authorization": self._bearer(), "Content-Type": "text/plain" if isinstance(body, str) else "application/json"}
        data = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
        text, headers = self._send(method, f"{self.url}/admin/realms{path}", data, headers)
        if text:
            return json.loads(text)
        return headers["Location"].rpartition("/")[2] if headers.get("Location") else None

    def realm(self, name=None):
        return Realm(self, name or f"realm-{uuid.uuid4().hex[:8]}")


class Realm:
    """A realm with its people, groups and keys. deploy/identity/keycloak.md has the same steps for its pages."""

    def __init__(self, keycloak, name):
        self.keycloak, self.name = keycloak, name
        keycloak.call("POST", "", {"realm": name, "enabled": True})
        self.issuer = f"{keycloak.url}/realms/{name}"
        self.people, self.groups = {}, {}

    def call(self, method, path, body=None):
        return self.keycloak.call(method, f"/{self.name}{path}", body)

    # ---- people ----

    def group(self, name):
        self.groups[name] = self.call("POST", "/groups", {"name": name})
        return name

    def person(self, name, *groups, **more):
        """A person with the password of the tests, who is in the groups."""
        self.people[name] = self.call("POST", "/users", {"username": name, "email": f"{name}@example.com", "emailVerified": True, "firstName": name, "lastName": "Tester", "enabled": True,
                                                         "credentials": [{"type": "password", "value": PASSWORD, "temporary": False}], **more})
        for group in groups:
            self.join(name, group)
        return name

    def join(self, name, group):
        self.call("PUT", f"/users/{self.people[name]}/groups/{self.groups[group]}")

    def leave(self, name, group):
        self.call("DELETE", f"/users/{self.people[name]}/groups/{self.groups[group]}")

    def disable(self, name):
        """The person can't sign in any more. Their sessions stay: Keycloak ends them by log_out."""
        self.call("PUT", f"/users/{self.people[name]}", {**self.call("GET", f"/users/{self.people[name]}"), "enabled": False})

    def sessions(self, name):
        """The ids of the person's sessions, the oldest first."""
        return [each["id"] for each in sorted(self.call("GET", f"/users/{self.people[name]}/sessions"), key=lambda each: each["start"])]

    def end_session(self, session):
        self.call("DELETE", f"/sessions/{session}")

    def log_out(self, name):
        """The button "Logout all sessions" of the person's page. Of several sessions, Keycloak 26.0 notifies clients of the first only."""
        self.call("POST", f"/users/{self.people[name]}/logout")

    # ---- clients ----

    def oidc_client(self, redirect_uri, logout_url, home, by_session=False):
        """Registers an OpenID client. Returns its id and its secret. by_session: logouts name the session."""
        name = "runyard"
        mapper = {"name": "groups", "protocol": "openid-connect", "protocolMapper": "oidc-group-membership-mapper",
                  "config": {"claim.name": "groups", "full.path": "false", "id.token.claim": "true", "access.token.claim": "false", "userinfo.token.claim": "true"}}
        made = self.call("POST", "/clients", {"clientId": name, "protocol": "openid-connect", "publicClient": False, "standardFlowEnabled": True, "directAccessGrantsEnabled": False,
                                              "redirectUris": [redirect_uri], "protocolMappers": [mapper],
                                              "attributes": {"backchannel.logout.url": logout_url, "backchannel.logout.session.required": str(by_session).lower(), "pkce.code.challenge.method": "S256",
                                                             "post.logout.redirect.uris": home}})
        return name, self.call("GET", f"/clients/{made}/client-secret")["value"]

    def saml_client(self, metadata):
        """Imports a SAML client from the metadata of the service. Logouts are sent by Keycloak itself, and not by the browser."""
        client = self.call("POST", "/client-description-converter", metadata)
        text = {"attribute.nameformat": "Basic"}
        mappers = [{"name": "Username", "protocol": "saml", "protocolMapper": "saml-user-property-mapper", "config": {"user.attribute": "username", "attribute.name": "Username", **text}},
                   {"name": "email", "protocol": "saml", "protocolMapper": "saml-user-property-mapper", "config": {"user.attribute": "email", "attribute.name": "email", **text}},
                   {"name": "MemberOf", "protocol": "saml", "protocolMapper": "saml-group-membership-mapper",
                    "config": {"attribute.name": "MemberOf", "single": "true", "full.path": "false", **text}}]
        attributes = {**client["attributes"], "saml.assertion.signature": "true", "saml_name_id_format": "persistent", "saml_force_name_id_format": "true"}
        self.call("POST", "/clients", {**client, "enabled": True, "frontchannelLogout": False, "protocolMappers": mappers, "attributes": attributes})

    @property
    def saml_metadata(self):
        return f"{self.issuer}/protocol/saml/descriptor"

    # ---- keys ----

    def new_key(self, active=True):
        """A new RSA key, which signs from now on if it is active. The old ones stay published."""
        priority = 1000 + len(self.call("GET", "/components?type=org.keycloak.keys.KeyProvider"))
        parent = self.call("GET", "")["id"]
        return self.call("POST", "/components", {"name": f"rsa-{priority}", "providerId": "rsa-generated", "providerType": "org.keycloak.keys.KeyProvider", "parentId": parent,
                                                 "config": {"priority": [str(priority)], "enabled": ["true"], "active": [str(active).lower()], "algorithm": ["RS256"], "keySize": ["2048"]}})

    def activate_key(self, key):
        component = self.call("GET", f"/components/{key}")
        self.call("PUT", f"/components/{key}", {**component, "config": {**component["config"], "active": ["true"]}})

    def delete_old_keys(self, kept):
        """Deletes all RSA keys for signatures but one."""
        for component in self.call("GET", "/components?type=org.keycloak.keys.KeyProvider"):
            if component["providerId"] == "rsa-generated" and component["id"] != kept:
                self.call("DELETE", f"/components/{component['id']}")
