# SPDX-License-Identifier: MPL-2.0
"""A clone in which a test commits and pushes, with git's program and no configuration of the machine."""

import itertools
import os
import subprocess
from pathlib import Path

NAME, MAIL = "Ann Author", "ann@example.com"


def git(folder, *words, input=None, check=True):
    """Runs git in a folder and returns what it prints. A failure raises AssertionError with git's words."""
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": NAME, "GIT_AUTHOR_EMAIL": MAIL, "GIT_COMMITTER_NAME": NAME, "GIT_COMMITTER_EMAIL": MAIL,
    }
    done = subprocess.run(["git", *map(str, words)], cwd=folder, env=environment, capture_output=True, text=True, input=input)
    assert done.returncode == 0 or not check, f"git {' '.join(map(str, words))}: {done.stderr}"
    return done.stdout.strip()


class WorkCopy:
    """Pushes to `url`, which may hold a user and a password. Its first branch is main."""

    def __init__(self, folder, url):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        self.numbers = itertools.count(1)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("remote", "add", "origin", url)

    def git(self, *words, **options):
        return git(self.folder, *words, **options)

    @property
    def head(self):
        """The SHA of the checked out commit."""
        return self.git("rev-parse", "HEAD")

    def commit(self, files=None, message=None, remove=()):
        """Commits files {path: text or bytes}, by default a change of a file that no configuration has. Returns the SHA."""
        number = next(self.numbers)
        for path, content in ({"notes.txt": f"{number}\n"} if files is None else files).items():
            place = self.folder / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content if isinstance(content, bytes) else content.encode())
        for path in remove:
            (self.folder / path).unlink()
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--file=-", input=message or f"Change {number}")
        return self.head

    def push(self, branch=None, force=False):
        """Pushes the checked out commit to a branch, by default to that of its own name."""
        self.git("push", "--quiet", *(["--force"] if force else []), "origin", f"HEAD:refs/heads/{branch}" if branch else "HEAD")
        return self.head

    def commit_and_push(self, files=None, message=None, branch=None):
        self.commit(files, message)
        return self.push(branch)

    def branch(self, name, start="HEAD"):
        """Checks out a branch, which is made at `start` if there is none."""
        if self.git("branch", "--list", name):
            self.git("checkout", "--quiet", name)
        else:
            self.git("checkout", "--quiet", "-b", name, start)

    def tag(self, name, message=None):
        """Makes and pushes a tag, with a message an annotated one."""
        self.git("tag", *(["--annotate", f"--message={message}"] if message else []), name)
        self.git("push", "--quiet", "origin", f"refs/tags/{name}")

    def delete(self, ref):
        """Deletes refs/heads/... or refs/tags/... on the server."""
        self.git("push", "--quiet", "origin", f":{ref}")
