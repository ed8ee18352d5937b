"""Calls the API with the token that the run finds in its own configuration of the engine."""
import json
import os
import re
import urllib.error
import urllib.request

text = open(os.environ["TF_CLI_CONFIG_FILE"]).read()
token, api = re.search(r'token = "([^"]+)"', text)[1], os.environ["API"]
run, workspace = os.environ["TFC_RUN_ID"], os.environ["TFC_WORKSPACE_ID"]


def ask(method, path, body=None):
    request = urllib.request.Request(api + path, json.dumps(body).encode() if body else None, {"Authorization": f"Bearer {token}", "Content-Type": "application/vnd.api+json"}, method=method)
    try:
        return urllib.request.urlopen(request, timeout=20).status
    except urllib.error.HTTPError as error:
        return error.code


new_run = {"data": {"type": "runs", "relationships": {"workspace": {"data": {"type": "workspaces", "id": workspace}}}}}
for method, path, body in (("GET", "/api/v2/organizations", None), ("GET", "/api/v2/account/details", None), ("POST", "/api/v2/runs", new_run), ("GET", f"/api/v2/workspaces/{workspace}/vars", None),
                           ("PATCH", f"/api/v2/workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"auto-apply": True}}}), ("POST", f"/api/v2/runs/{run}/actions/cancel", {}),
                           ("DELETE", f"/api/v2/workspaces/{workspace}", None), ("GET", f"/api/v2/workspaces/{os.environ['OTHER_WORKSPACE']}", None), ("GET", f"/api/v2/runs/{os.environ['OTHER_RUN']}", None),
                           ("GET", f"/api/v2/workspaces/{os.environ['OTHER_WORKSPACE']}/current-state-version", None), ("POST", "/api/worker/v1/claim", {"worker": "x", "slots": 9}),
                           ("POST", "/api/worker/v1/register", {"name": "forged", "slots": 1, "version": "1"}), ("POST", "/api/notifier/v1/claim", {"notifier": "x", "callback-url": "x", "max": 1, "ids": []})):
    if ask(method, path, body) < 400:
        print("ESCAPED:", method, path)
if ask("GET", f"/api/v2/runs/{run}") == 200:
    print("PROBED")
