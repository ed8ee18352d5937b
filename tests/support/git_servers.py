# SPDX-License-Identifier: MPL-2.0
"""Real git servers on 127.0.0.1: lighttpd with git http-backend, git daemon, sshd. And repositories for them."""

import os
import pwd
import shutil
import subprocess
from pathlib import Path

from support.process import Process, answers, clean_environment, free_port

HTTP = """
server.port = {port}
server.bind = "127.0.0.1"
server.document-root = "{folder}/documents"
server.errorlog = "{folder}/lighttpd.errors"
server.pid-file = "{folder}/lighttpd.pid"
server.stream-response-body = 2
server.modules = ("mod_auth", "mod_authn_file", "mod_redirect", "mod_alias", "mod_setenv", "mod_cgi", "mod_accesslog")
accesslog.filename = "{folder}/lighttpd.requests"
accesslog.format = "%r %s %{{Authorization}}i"
{auth}
{tls}
{more}
$HTTP["url"] =~ "^/git" {{
	setenv.add-environment = ("GIT_PROJECT_ROOT" => "{root}", "GIT_HTTP_EXPORT_ALL" => "1", "GIT_CONFIG_GLOBAL" => "{folder}/gitconfig")
	alias.url = ("/git" => "{backend}")
	cgi.assign = ("" => "")
}}
"""
AUTH = """
auth.backend = "plain"
auth.backend.plain.userfile = "{folder}/passwords"
auth.require = ("/git/" => ("method" => "basic", "realm" => "git", "require" => "valid-user"))
"""
TLS = """
server.modules += ("mod_openssl")
ssl.engine = "enable"
ssl.pemfile = "{0}"
ssl.privkey = "{1}"
"""


def git(folder, *arguments, **environment):
    """Runs git with settings of its own, and returns its output."""
    names = {"GIT_AUTHOR_NAME": "Ada Author", "GIT_AUTHOR_EMAIL": "ada@example.com", "GIT_COMMITTER_NAME": "Ada Author",
             "GIT_COMMITTER_EMAIL": "ada@example.com", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", **environment}
    return subprocess.run(["git", "-c", "protocol.file.allow=always", *arguments], cwd=folder, env={**clean_environment(), **names}, check=True,
                          capture_output=True, text=True).stdout.strip()


class Repository:
    """A bare repository that servers show, and a working copy. files: {path: text}; None deletes."""

    def __init__(self, root, name):
        self.name = name
        self.bare = Path(root) / f"{name}.git"
        self.work = Path(root).parent / "work" / name
        self.bare.parent.mkdir(parents=True, exist_ok=True)
        git(self.bare.parent, "init", "-q", "--bare", "-b", "main", str(self.bare))
        git(self.bare, "config", "uploadpack.allowFilter", "true")
        (self.bare / "git-daemon-export-ok").touch()
        self.work.mkdir(parents=True)
        git(self.work, "init", "-q", "-b", "main")
        git(self.work, "remote", "add", "origin", str(self.bare))

    def git(self, *arguments, **environment):
        return git(self.work, *arguments, **environment)

    def commit(self, files=None, message="A commit", push=True, date="2026-01-02T03:04:05Z"):
        """Commits the files on the current branch, pushes it, and returns the commit's name."""
        for path, text in (files or {}).items():
            place = self.work / path
            if text is None:
                self.git("rm", "-q", path)
                continue
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, GIT_AUTHOR_DATE=date, GIT_COMMITTER_DATE=date)
        if push:
            self.push()
        return self.git("rev-parse", "HEAD")

    def push(self, *refs):
        self.git("push", "-q", "-f", "origin", *(refs or ["HEAD"]))

    def branch(self, name):
        self.git("checkout", "-q", "-B", name)


class GitServer:
    """What the servers share. Repositories are below `root`; their identifiers are their names."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.root = self.folder / "repositories"
        self.root.mkdir(exist_ok=True)
        self.port = free_port()
        self.process = None
        (self.folder / "gitconfig").write_text("[safe]\n\tdirectory = *\n[uploadpack]\n\tallowFilter = true\n")

    def repository(self, name="acme/network"):
        return Repository(self.root, name)

    def release(self):
        if self.process:
            self.process.stop()


class HttpServer(GitServer):
    """Basic authentication with the given user and password, or none. more: lines of lighttpd's configuration.
    certificate: its file and that of its key (Authority.issue), for https."""

    def __init__(self, folder, user="ada", password="secret-of-ada-1", more="", certificate=None):
        super().__init__(folder)
        self.user, self.password, self.more, self.certificate = user, password, more, certificate

    @property
    def url(self):
        return f"{'https' if self.certificate else 'http'}://127.0.0.1:{self.port}/git"

    def start(self):
        documents = self.folder / "documents"
        documents.mkdir(exist_ok=True)
        script = self.folder / "backend"
        script.write_text(f"#!/bin/sh\nexec {git(self.folder, '--exec-path')}/git-http-backend\n")
        script.chmod(0o755)
        (self.folder / "passwords").write_text(f"{self.user}:{self.password}\n")
        settings = self.folder / "lighttpd.conf"
        auth = AUTH.format(folder=self.folder) if self.user else ""
        settings.write_text(HTTP.format(port=self.port, folder=self.folder, root=self.root, backend=script, auth=auth, more=self.more,
                                        tls=TLS.format(*self.certificate) if self.certificate else ""))
        lighttpd = shutil.which("lighttpd", path=os.environ["PATH"] + ":/usr/sbin")
        self.process = Process(f"lighttpd-{self.port}", [lighttpd, "-D", "-f", settings], self.folder, env=clean_environment())
        self.process.launch()
        self.process.wait_until(lambda: answers(self.port), "listens")
        return self

    def requests(self):
        """Ends the server, which writes its log late, and returns the log's lines: request, status, header Authorization."""
        self.process.stop()
        path = self.folder / "lighttpd.requests"
        return path.read_text().splitlines() if path.exists() else []


class Daemon(GitServer):
    """git daemon: the git:// protocol, without any login."""

    @property
    def url(self):
        return f"git://127.0.0.1:{self.port}"

    def start(self):
        argv = [shutil.which("git"), "daemon", "--reuseaddr", "--listen=127.0.0.1", f"--port={self.port}", f"--base-path={self.root}", "--verbose"]
        self.process = Process(f"git-daemon-{self.port}", argv, self.folder, env=clean_environment(GIT_CONFIG_GLOBAL=self.folder / "gitconfig"))
        self.process.launch()
        self.process.wait_until(lambda: answers(self.port), "listens")
        return self


SSHD = """
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
AuthorizedKeysFile {folder}/authorized_keys
PidFile {folder}/sshd.pid
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
SetEnv GIT_CONFIG_GLOBAL={folder}/gitconfig
"""


def new_key(path):
    """Makes a key pair without a passphrase, and returns the private key."""
    Path(path).unlink(missing_ok=True)
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", path], check=True)
    return Path(path).read_text()


class SshServer(GitServer):
    """sshd for the account that runs the tests. `key` is the private key that it takes. Identifiers are paths below the
    root of the file system."""

    def __init__(self, folder):
        super().__init__(folder)
        self.key = new_key(self.folder / "client_key")
        shutil.copy(self.folder / "client_key.pub", self.folder / "authorized_keys")
        new_key(self.folder / "host_key")
        self.user = pwd.getpwuid(os.geteuid()).pw_name

    @property
    def url(self):
        return f"ssh://{self.user}@127.0.0.1:{self.port}{self.root}"

    @property
    def host_keys(self):
        """The line that pins its host key."""
        kind, key = (self.folder / "host_key.pub").read_text().split()[:2]
        return f"[127.0.0.1]:{self.port} {kind} {key}\n"

    def start(self):
        settings = self.folder / "sshd_config"
        settings.write_text(SSHD.format(port=self.port, folder=self.folder))
        Path("/run/sshd").mkdir(exist_ok=True)
        sshd = shutil.which("sshd", path=os.environ["PATH"] + ":/usr/sbin")
        self.process = Process(f"sshd-{self.port}", [sshd, "-D", "-e", "-f", settings], self.folder, env=clean_environment())
        self.process.launch()
        self.process.wait_until(lambda: answers(self.port), "listens")
        return self
