# SPDX-License-Identifier: MPL-2.0
"""A user of `terraform login` or `tofu login`, whose desktop opens URLs by writing them to a file."""

import json
import os

from support.process import clean_environment
from support.terminal import Terminal
from support.wait import until

OPENER = """#!/bin/sh
echo "$1" > "$HOME/address.part"
mv "$HOME/address.part" "$HOME/address"
"""


class User:
    """With an empty home directory. The server is a scheduler with TLS."""

    def __init__(self, folder, server, authority, engine, name="localhost"):
        self.server, self.engine, self.home = server, engine, folder / "home"
        self.host = f"{name}:{server.port}"
        (self.home / ".terraform.d").mkdir(parents=True)
        programs = folder / "programs"
        programs.mkdir()
        for name in ("xdg-open", "x-www-browser", "www-browser"):
            (programs / name).write_text(OPENER)
            (programs / name).chmod(0o755)
        self.environment = clean_environment(HOME=self.home, CHECKPOINT_DISABLE=1, SSL_CERT_FILE=authority.file,
                                             PATH=f"{programs}:{os.environ['PATH']}")

    def run(self, *arguments):
        """The engine on a terminal."""
        return Terminal([self.engine.path, *arguments], self.home, self.environment)

    def login(self):
        """Begins the login, up to the URL in the browser."""
        login = self.run("login", self.host)
        login.expect("Only 'yes' will be accepted").type("yes")
        return login

    def opened_url(self):
        """The URL that the engine has opened."""
        address = self.home / "address"
        until(address.exists, "the engine opens the browser")
        return address.read_text().strip()

    def credentials(self):
        file = self.home / ".terraform.d" / "credentials.tfrc.json"
        return json.loads(file.read_text())["credentials"].get(self.host, {}).get("token") if file.exists() else None
