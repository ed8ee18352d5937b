# SPDX-License-Identifier: MPL-2.0
"""Provider packages in the format of registries and mirrors, and forged ones."""

import base64
import hashlib
import io
import stat
import zipfile

from support.engine import ENGINES, time_provider

ADDRESS = f"{ENGINES[0].registry}/hashicorp/time"


def version_and_platform():
    return time_provider().parts[-3:-1]


def packed(name, content):
    """A package of one program: the bytes of a zip."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as package:
        info = zipfile.ZipInfo(name)
        info.external_attr = (stat.S_IFREG | 0o755) << 16
        package.writestr(info, content)
    return out.getvalue()


def h1(files):
    """The lock file's hash of a package, {name: bytes}."""
    lines = "".join(f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in sorted(files))
    return "h1:" + base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()


def lock(version, *hashes):
    listed = "".join(f'    "{text}",\n' for text in hashes)
    return f'provider "{ADDRESS}" {{\n  version     = "{version}"\n  constraints = "{version}"\n  hashes = [\n{listed}  ]\n}}\n'
