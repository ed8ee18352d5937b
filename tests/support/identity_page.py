# SPDX-License-Identifier: MPL-2.0
"""What the web UI's page of a workspace's identity says to paste: the text of the page's own module, made by node."""

import json
import subprocess

from support.servers import ROOT

PAGE = ROOT / "scheduler/ui/web/src/pages/workspace_settings/identity_clouds.ts"
SHOW = """
import { clouds, audienceOf, variablesOf } from "{page}";
const { kind, identity } = JSON.parse(process.argv[2]);
const cloud = clouds.find((row) => row.kind === kind);
const trust = { ...identity, audience: audienceOf(cloud), tag: "" };
console.log(JSON.stringify({ snippets: cloud.snippets(trust), variables: variablesOf(cloud, trust) }));
"""


def web_packages():
    """The folder of the web UI's packages: the build directory's setting."""
    for line in (ROOT / "build/test/CMakeCache.txt").read_text().splitlines():
        if line.startswith("RUNYARD_UI:"):
            return line.partition("=")[2]
    raise AssertionError("build/test has no RUNYARD_UI")


def pasted(folder, kind, identity):
    """({title: text}, {variable: value}) for a cloud. identity: the attributes that the API shows of a workspace, with its `id`, its `organization`."""
    script, bundle = folder / "show.ts", folder / "show.mjs"
    script.write_text(SHOW.replace("{page}", str(PAGE)))
    subprocess.run([f"{web_packages()}/node_modules/.bin/esbuild", script, "--bundle", "--format=esm", "--platform=node", f"--outfile={bundle}", "--log-level=error"], check=True)
    trust = {"id": identity["id"], "issuer": identity["issuer"], "organization": identity["organization"],
             "subjects": {phase: identity[f"{phase}-subject"] for phase in ("plan", "apply")}}
    done = subprocess.run(["node", bundle, json.dumps({"kind": kind, "identity": trust})], capture_output=True, text=True, check=True)
    shown = json.loads(done.stdout)
    return {row["title"]: row["text"] for row in shown["snippets"]}, {row["name"]: row["value"] for row in shown["variables"]}
