# SPDX-License-Identifier: MPL-2.0
"""A mail server in the test's own process. It accepts mails, or refuses them as configured."""

import base64
import email
import email.policy
import socketserver
import threading

from support.wait import until


class Mail:
    def __init__(self, sender, recipients, data):
        self.sender = sender
        self.recipients = recipients
        self.message = email.message_from_bytes(data, policy=email.policy.default)

    @property
    def subject(self):
        return self.message["Subject"]

    @property
    def text(self):
        return self.message.get_content()


class Handler(socketserver.StreamRequestHandler):
    def say(self, text):
        self.wfile.write(text.encode() + b"\r\n")

    def handle(self):
        self.mail_server = self.server.mail_server
        self.sender, self.recipients = None, []
        self.say("220 mail_server ESMTP")
        while line := self.rfile.readline():
            verb, _, rest = line.decode(errors="replace").strip().partition(" ")
            self.mail_server.said.append(verb)
            answer = getattr(self, f"do_{verb.lower()}", lambda _: self.say("502 no such thing"))
            if answer(rest) == "end":
                return

    def do_ehlo(self, _):
        offers_tls = self.mail_server.context and self.connection is self.request
        lines = ["mail_server", *(["STARTTLS"] if offers_tls else []), *(["AUTH PLAIN"] if self.mail_server.login else [])]
        for line in lines[:-1]:
            self.say(f"250-{line}")
        self.say(f"250 {lines[-1]}")

    def do_starttls(self, _):
        self.say("220 go on")
        self.connection = self.mail_server.context.wrap_socket(self.request, server_side=True)
        self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)

    def do_auth(self, rest):
        _, _, response = rest.partition(" ")
        if not response:
            self.say("334 ")
            response = self.rfile.readline().decode().strip()
        _, user, password = base64.b64decode(response).decode().split("\0")
        self.say("235 welcome" if (user, password) == self.mail_server.login else "535 who is that")

    def do_mail(self, rest):
        self.sender = rest.partition("<")[2].partition(">")[0]
        self.recipients = []
        self.say("250 ok")

    def do_rcpt(self, rest):
        recipient = rest.partition("<")[2].partition(">")[0]
        refusal = self.mail_server.refusal(recipient)
        if not refusal:
            self.recipients.append(recipient)
        self.say(refusal or "250 ok")

    def do_data(self, _):
        self.say("354 go on")
        data = b""
        for line in self.rfile:
            if line == b".\r\n":
                break
            data += line[1:] if line.startswith(b".") else line
        self.mail_server.mails.append(Mail(self.sender, self.recipients, data))
        self.say("250 2.0.0 taken")

    def do_rset(self, _):
        self.say("250 ok")

    def do_quit(self, _):
        self.say("221 bye")
        return "end"


class MailServer:
    """`refusals` are the answers to the next recipients: {"a@example.com": ["451 later"]}. With a `context` it offers
    TLS, with a `login` (user, password) it requires one."""

    def __init__(self):
        self.mails = []
        self.said = []  # the received commands
        self.context = None
        self.login = None
        self.refusals = {}
        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a client that disconnected
        self.server.mail_server = self
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self):
        return f"smtp://127.0.0.1:{self.server.server_address[1]}"

    def refusal(self, recipient):
        answers = self.refusals.get(recipient)
        return answers.pop(0) if answers else None

    def got(self, count=1):
        until(lambda: len(self.mails) >= count, lambda: f"{len(self.mails)} mails of {count} came; {self.said}")
        return self.mails[count - 1]

    def release(self):
        self.server.shutdown()
        self.server.server_close()
