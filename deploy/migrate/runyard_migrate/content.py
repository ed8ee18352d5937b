# SPDX-License-Identifier: MPL-2.0
"""Contents: states, configurations, modules and providers. They pass through temporary files, not through memory."""

import base64
import hashlib
import json
import re
import tempfile
import time
import urllib.parse

from .client import Failure, Unclear
from .inventory import quoted

INLINE = 1 << 20  # larger states are uploaded after they were announced
FILE = "application/octet-stream"
MEMBER = re.compile(rb'\s*[{,]\s*"(\w+)"\s*:\s*("(?:[^"\\]|\\.)*"|\d+)(?=\s*[,}])')


def temporary():
    return tempfile.TemporaryFile(prefix="runyard-migrate-")


def digest(file):
    """MD5, SHA-256 and size of a file."""
    md5, sha, size = hashlib.md5(), hashlib.sha256(), 0
    file.seek(0)
    for chunk in iter(lambda: file.read(1 << 20), b""):
        md5.update(chunk)
        sha.update(chunk)
        size += len(chunk)
    return md5.hexdigest(), sha.hexdigest(), size


def state_head(file):
    """Serial and lineage of a state. Terraform writes them before the resources, so a large state need not be parsed."""
    file.seek(0)
    head, found, at = file.read(4096), {}, 0
    match = MEMBER.match(head)
    while match:
        found[match.group(1).decode()] = json.loads(match.group(2))
        at = match.end()
        match = MEMBER.match(head, at)
    if "serial" not in found or "lineage" not in found:
        file.seek(0)
        found = json.load(file)
    return int(found.get("serial") or 0), found.get("lineage")


def replaces(head, previous):
    """Whether a state takes the place of the one before it only by force. Both are heads; `previous` may be None."""
    return previous is not None and (previous[1] != head[1] or previous[0] >= head[0])


def same_state(one, other):
    """Whether two states of the inventories are the same. Without the digests of both, their keys say so."""
    md5s = [state.facts.get("md5") for state in (one, other)]
    return one.attributes["serial"] == other.attributes["serial"] and (md5s[0] == md5s[1] if all(md5s) else one.key == other.key)


# ---- reading by the API ----

class ApiContent:
    """Fetches contents from a server of TFE's API."""

    def __init__(self, client, organization):
        self.client, self.organization = client, organization

    def fetch(self, item, file):
        getattr(self, item.kind.content.replace("-", "_"))(item, file)

    def state(self, item, file):
        self.client.call("GET", item.facts["url"], to=file)

    def configuration(self, item, file):
        self.client.call("GET", f"configuration-versions/{item.id}/download", to=file)

    def registry(self, protocol, path):
        base = urllib.parse.urlsplit(self.client.url)
        return f"{base.scheme}://{base.netloc}/api/registry/v1/{protocol}/{path}"

    def module_version(self, item, file):
        _, _, path = item.path.partition("/")  # without the registry's name
        url = self.registry("modules", path + "/download")
        self.client.call("GET", url)
        target = (self.client.local.headers.get("X-Terraform-Get") or "").partition("?archive=")[0]
        if not target or "::" in target.split("?")[0]:
            raise Failure("GET", url, 0, "does not lead to an archive")
        self.client.call("GET", urllib.parse.urljoin(url, target), to=file)

    def provider_file(self, item, name, to):
        """Links are signed for minutes, so each is read just before its use."""
        path = f"organizations/{quoted(self.organization)}/registry-providers/{item.path}"
        url = (self.client.get(path)["data"].get("links") or {}).get(name + "-download")
        if not url:
            raise Failure("GET", path, 0, f"has no link to the {name}")
        self.client.call("GET", urllib.parse.urljoin(self.client.url, url), to=to)

    def provider_version(self, item, file):
        """SHA256SUMS and its signature, as one document."""
        parts = {}
        for name in ("shasums", "shasums-sig"):
            with temporary() as part:
                self.provider_file(item, name, part)
                part.seek(0)
                parts[name] = base64.b64encode(part.read()).decode()
        file.write(json.dumps(parts).encode())

    def provider_platform(self, item, file):
        self.provider_file(item, "provider-binary", file)


# ---- writing at the target ----

class Uploads:
    def __init__(self, target, journal):
        self.target, self.journal = target, journal

    def put(self, url, file):
        """Uploads to a signed link. A repeated upload may find that the first one had arrived."""
        try:
            self.target.call("PUT", urllib.parse.urljoin(self.target.url, url), file, media=FILE)
        except Failure as why:
            if why.status != 409:
                raise

    def state(self, workspace_id, file, previous):
        """Writes a state. `previous` is the head of the one before it, or None. Returns its head and digest."""
        md5, _, size = digest(file)
        serial, lineage = state_head(file)
        attributes = {"serial": serial, "md5": md5}
        if lineage:
            attributes["lineage"] = lineage
        if replaces((serial, lineage), previous):
            attributes["force"] = True
        if size <= INLINE:
            file.seek(0)
            attributes["state"] = base64.b64encode(file.read()).decode()
        for attempt in range(6):
            try:
                made = self.target.call("POST", f"workspaces/{workspace_id}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}})
                break
            except Unclear:
                time.sleep(min(8, 0.5 * 2 ** attempt))
                made = self.written(workspace_id, serial, md5)
                if made:
                    break
        else:
            raise Failure("POST", "state-versions", 0, "got no answer")
        if size > INLINE and made["data"]["attributes"].get("status") == "pending":
            self.put(made["data"]["attributes"]["hosted-state-upload-url"], file)
            shown = self.target.get(f"state-versions/{made['data']['id']}")["data"]["attributes"]
            if shown.get("status") != "finalized":
                raise Failure("PUT", "state-versions", 0, f"the state is {shown.get('status')}")
        return (serial, lineage), md5, size

    def written(self, workspace_id, serial, md5):
        """The state whose creation was not answered, if it is the current one now."""
        try:
            current = self.target.get(f"workspaces/{workspace_id}/current-state-version")
        except Failure as why:
            if why.status == 404:
                return None
            raise
        attributes = current["data"]["attributes"]
        return current if attributes["serial"] == serial and attributes.get("md5") in (None, md5) else None

    def configuration(self, workspace_id, file):
        body = {"data": {"type": "configuration-versions", "attributes": {"auto-queue-runs": False}}}
        made = self.target.call("POST", f"workspaces/{workspace_id}/configuration-versions", body, repeat=True)["data"]
        self.put(made["attributes"]["upload-url"], file)
        return made["id"]
