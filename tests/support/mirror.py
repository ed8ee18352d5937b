# SPDX-License-Identifier: MPL-2.0
"""A mirror: serves the files of a folder."""

import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer


class Mirror:
    """Requests below /moved are redirected, as vendors' sites redirect to storage. `requested` has all paths."""

    def __init__(self, folder):
        requested = self.requested = []

        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *arguments, **more):
                super().__init__(*arguments, directory=str(folder), **more)

            def do_GET(self):
                requested.append(self.path)
                if not self.path.startswith("/moved/"):
                    return super().do_GET()
                self.send_response(302)
                self.send_header("Location", self.path.removeprefix("/moved"))
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def release(self):
        self.server.shutdown()
        self.server.server_close()
