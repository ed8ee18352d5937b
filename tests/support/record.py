# SPDX-License-Identifier: MPL-2.0
"""The append-only record that the resources themselves write, and its invariants, which hold after any faults."""

import socketserver
import threading
from collections import Counter, namedtuple

Line = namedtuple("Line", "word run workspace resource")  # word: begin, created, destroyed, end; resource: its id, or None


# ---- the configuration that writes it ----


def resource(name, after, command, when="create"):
    """A resource that is created anew for every value of `turn`, and records this."""
    return f"""
resource "terraform_data" "{name}" {{
  triggers_replace = var.turn
  depends_on       = [{after and 'terraform_data.' + after}]
  provisioner "local-exec" {{
    when        = {when}
    interpreter = ["/bin/bash", "-c"]
    command     = "{command}"
  }}
}}
"""


def configuration(port, size=3, pause=0.3):
    """`size` resources, one after the other. Each resource records that the one before it was created: by then
    terraform has written that one to its state, and it must not be lost from then on."""

    def record_command(word):
        line = f"echo {word} $TFC_RUN_ID $TFC_WORKSPACE_ID"
        return f"exec 3<>/dev/tcp/127.0.0.1/{port}; {line} >&3; read -r answer <&3; test $answer = written"

    parts = ['variable "turn" {}\n', resource("begin", "", record_command("begin -"))]
    before = "begin"
    for number in range(size):
        made, recorder = f"made_{number}", f"recorded_{number}"
        parts.append(resource(made, before, record_command("destroyed ${self.id}"), "destroy"))
        parts.append(resource(recorder, made, f"sleep {pause}; " + record_command(f"created ${{terraform_data.{made}.id}}")))
        before = recorder
    parts.append(resource("end", before, record_command("end -")))
    return {"main.tf": "".join(parts)}


# ---- the record ----


class Record:
    """Accepts lines on a port of this machine. Each is in the file before it is acknowledged."""

    def __init__(self, path):
        self.path = path
        self.lines = []
        self.lock = threading.Lock()
        record = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                line = self.rfile.readline().decode()
                if line.endswith("\n"):
                    record.write(line)
                    self.wfile.write(b"written\n")

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def write(self, line):
        word, resource, run, workspace = line.split()
        with self.lock, open(self.path, "a") as file:
            file.write(line)
            self.lines.append(Line(word, run, workspace, None if resource == "-" else resource))

    def release(self):
        self.server.shutdown()
        self.server.server_close()


# ---- invariants ----


def overlaps(lines):
    """Applies of a workspace do not overlap: the lines of a run are consecutive."""
    last, over, wrong = {}, set(), []
    for line in lines:
        before = last.get(line.workspace, line.run)
        if before != line.run:
            over.add(before)
        if line.run in over:
            wrong.append(f"{line.run} went on in {line.workspace} after {before} had begun")
        last[line.workspace] = line.run
    return wrong


def applied_twice(lines):
    begun = Counter(line.run for line in lines if line.word == "begin")
    return [f"{run} was applied {count} times" for run, count in begun.items() if count > 1]


def alive(lines, workspace):
    """The resources that were created and not recorded as destroyed."""
    mine = [line for line in lines if line.workspace == workspace]
    return {line.resource for line in mine if line.word == "created"} - {line.resource for line in mine if line.word == "destroyed"}


def ended(lines):
    """The runs whose apply reached its end."""
    return {line.run for line in lines if line.word == "end"}
