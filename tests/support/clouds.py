# SPDX-License-Identifier: MPL-2.0
"""The official SDKs of clouds, and moto, a server with AWS's API, in a virtual environment of their own: pip installs it once, in a minute."""

import fcntl
import hashlib
import json
import shutil
import subprocess
import threading
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from integration.identity.test_workload_identity import verified
from support.process import Process, clean_environment, free_port
from support.servers import DEPS, ROOT

REQUIREMENTS = ROOT / "tests/tools/clouds/requirements.txt"
PYTHON = "/usr/bin/python3"  # which the programs of a run can execute


def prepared():
    """The folder of the environment, made once for each requirements.txt."""
    tools = DEPS / "tools"
    tools.mkdir(parents=True, exist_ok=True)
    made = tools / f"clouds-{hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:16]}"
    with open(tools / "clouds.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (made / "complete").exists():
            shutil.rmtree(made, ignore_errors=True)
            for command in ([PYTHON, "-m", "venv", made], [made / "bin/pip", "install", "-q", "-r", REQUIREMENTS]):
                done = subprocess.run(command, capture_output=True, text=True)
                assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
            (made / "complete").touch()
    return made


class Moto:
    """AWS's API on 127.0.0.1, for all regions."""

    def __init__(self, folder):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        tools = prepared()
        self.process = Process("moto", [tools / "bin/python", tools / "bin/moto_server", "-H", "127.0.0.1", "-p", self.port], folder, env=clean_environment())

    def start(self):
        self.process.launch()
        self.process.wait_until(self._answers, "answers")
        return self

    def _answers(self):
        try:
            with urllib.request.urlopen(f"{self.url}/moto-api/data.json", timeout=30) as answer:
                return answer.status == 200
        except OSError:
            return False

    def release(self):
        self.process.stop()


class TokenServer:
    """The token endpoints of Google and Microsoft, which check an identity as those do. `seen`: (path, form or document, claims of the identity) of each request."""

    def __init__(self):
        self.scheduler = None
        self.seen = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_):
                pass

            def do_GET(self):
                self.reply(server.configuration(self.path))

            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.reply(server.answer(self.path, text, self.headers))

            def reply(self, document):
                text = json.dumps(document).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def release(self):
        self.server.shutdown()
        self.server.server_close()

    @staticmethod
    def configuration(path):
        """Of a tenant at Microsoft."""
        tenant = "https://login.microsoftonline.com" + path.partition("/v2.0/")[0]
        return {"issuer": f"{tenant}/v2.0", "authorization_endpoint": f"{tenant}/oauth2/v2.0/authorize", "token_endpoint": f"{tenant}/oauth2/v2.0/token"}

    def answer(self, path, text, headers):
        if path.endswith(":generateAccessToken"):
            self.seen.append((path, json.loads(text), headers["Authorization"]))
            return {"accessToken": "token-of-the-account", "expireTime": "2100-01-01T00:00:00Z"}
        form = dict(urllib.parse.parse_qsl(text))
        identity = form.get("subject_token") or form["client_assertion"]
        self.seen.append((path, form, verified(self.scheduler, identity)))
        return {"access_token": "token-of-the-identity", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token", "token_type": "Bearer", "expires_in": 3600}
