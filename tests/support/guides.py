# SPDX-License-Identifier: MPL-2.0
"""The fenced blocks of the guides, and a shell that runs them in their order as a reader does.

The word after ``` is the language. What follows it says what a test does with the block:

    sh                a reader runs it: it must succeed
    sh fails          it must fail
    sh answer=yes     it gets this line as its input
    LANG file=NAME    a reader writes it to the file NAME, also below folders
    text output       what the block before it printed, from its first line to its last; "..." stands for any text
    LANG skip: WHY    it is not run here, for this reason
"""

import os
import re
import signal
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path

from support.servers import ROOT
from support.wait import until

FOLDER = ROOT / "deploy/docs"
FENCE = re.compile(r"^( *)```(\S*) *([^\n]*)\n(.*?)^\1```$", re.M | re.S)
COLORS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class Block:
    guide: str
    line: int
    language: str
    words: str
    text: str

    @property
    def place(self):
        return f"{self.guide}:{self.line}"

    @property
    def skip(self):
        """The reason why it is not run, or None."""
        return self.words.removeprefix("skip: ") if self.words.startswith("skip: ") else None

    @property
    def file(self):
        found = re.search(r"\bfile=(\S+)", self.words)
        return found and found[1]

    @property
    def is_output(self):
        return (self.language, self.words) == ("text", "output")

    @property
    def is_known(self):
        """Whether a test knows what to do with it."""
        return bool(self.skip or self.file or self.is_output) or (self.language == "sh" and re.fullmatch(r"(fails)?|answer=\S+", self.words) is not None)


def blocks_of(path):
    text = path.read_text()
    return [Block(path.name, text[:found.start()].count("\n") + 1, found[2], found[3], textwrap.dedent(found[4])) for found in FENCE.finditer(text)]


def guides():
    return sorted(FOLDER.glob("*.md"))


def lines_of(text):
    return "\n".join(line.rstrip() for line in COLORS.sub("", text).splitlines() if line.strip())


def shows(shown, printed):
    """Whether the printed text is what the guide shows. Empty lines do not count: engines write others on a terminal."""
    wanted = ".*?".join(re.escape(part.strip("\n")) for part in lines_of(shown).split("..."))
    return re.fullmatch(r"\s*" + wanted + r"\s*", lines_of(printed), re.S) is not None


class Shell:
    """One bash of a reader in a folder. replaced: texts of the guides, such as addresses, and what they are here."""

    def __init__(self, folder, environment, replaced):
        self.folder, self.replaced = Path(folder), replaced
        self.work = self.folder / "work"
        self.work.mkdir()
        self.printed, self.count = "", 0
        self.process = subprocess.Popen(["bash", "-e", "-o", "pipefail"], cwd=self.work, env=environment, stdin=subprocess.PIPE,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True, start_new_session=True)

    def here(self, text):
        for theirs, own in self.replaced.items():
            text = text.replace(theirs, own)
        return text

    def do(self, block):
        """Runs, writes or compares the block."""
        if block.file:
            path = self.work / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.here(block.text))
        elif block.is_output:
            shown = self.here(block.text)
            assert shows(shown, self.printed), f"{block.place} shows\n{shown}\nand the block before it printed\n{self.printed}"
        else:
            self.run(block)

    def run(self, block):
        self.count += 1
        script, output, status = (self.folder / f"{self.count}.{end}" for end in ("sh", "out", "status"))
        script.write_text(self.here(block.text))
        answer = block.words.removeprefix("answer=") if block.words.startswith("answer=") else ""
        given = self.folder / f"{self.count}.in"
        given.write_text(answer + "\n")
        # A block that must fail runs in a shell of its own. All others share variables, functions and folders.
        call = f"( source {script} )" if block.words == "fails" else f"source {script}"
        once = f"set +e; {call}; echo $? >{status}.new; set -e" if block.words == "fails" else f"{call}; echo 0 >{status}.new"
        self.process.stdin.write(f"{{ {once}; }} <{given} >{output} 2>&1; mv {status}.new {status}\n")
        self.process.stdin.flush()
        failed = self.wait(status)
        self.printed = output.read_text(errors="replace")
        wanted = block.words == "fails"
        assert bool(failed) == wanted, f"{block.place} {'succeeded' if wanted else 'failed'}:\n{script.read_text()}\n{self.printed[-6000:]}"

    def wait(self, status):
        """The status of the block, or 1 if the shell ended in it."""
        until(lambda: status.exists() or self.process.poll() is not None, lambda: f"the end of {status.stem}: {status.with_suffix('.out').read_text()[-4000:]}")
        return int(status.read_text()) if status.exists() else 1

    def release(self):
        """Ends the shell and what it left running."""
        self.process.stdin.close()
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                pass
            try:
                self.process.wait(10)
                break
            except subprocess.TimeoutExpired:
                continue


def listed():
    """One line for each block that no test runs."""
    return [f"{block.place}: {block.language}: {block.skip}" for guide in guides() for block in blocks_of(guide) if block.skip]
