# SPDX-License-Identifier: MPL-2.0
"""Query runs for which a fake worker finds resources: no engine runs."""

import json

from support.wait import until

CAPABILITIES = ["terraform 1.14.8", "query", "opa", "sentinel", "cost"]


def line(type, message, level="info", **more):
    """A line as the engine writes it, without blanks between its members."""
    event = {"@level": level, "@message": message, "@timestamp": "2026-11-28T21:00:00.000000Z", "type": type, **more}
    return json.dumps(event, separators=(",", ":")) + "\n"


def found(*names, config="", say=str):
    """The log of a query that has found a file of each name."""
    address = "list.folder_file.all"
    lines = [line("list_start", f"{address}: Starting query...", list_start={"address": address, "resource_type": "folder_file"})]
    for name in names:
        result = {"address": address, "display_name": say(name), "identity": {"path": say(f"/srv/{name}"), "region": "eu"}, "resource_type": "folder_file"}
        lines.append(line("list_resource_found", f"{address}: Result found", list_resource_found={**result, **({"config": config} if config else {})}))
    return "".join([*lines, line("list_complete", f"{address}: List complete", list_complete={"address": address, "total": len(names)})])


class Queries:
    """Queries of the workspaces of an organization, for which one worker of the test claims jobs."""

    def __init__(self, api, worker):
        self.api, self.worker = api, worker

    def begin(self, workspace, configuration=None, **attributes):
        """The query, which waits for a worker."""
        relations = {"workspace": {"data": {"type": "workspaces", "id": workspace}}}
        if configuration:
            relations["configuration-version"] = {"data": {"type": "configuration-versions", "id": configuration}}
        body = {"data": {"type": "queries", "attributes": {"source": "tfe-api", "terraform-version": "1.14.8", **attributes}, "relationships": relations}}
        return self.api.post("queries", body).data["id"]

    def take(self, query):
        """The claimed job of the query."""
        known, self.worker.capable = self.worker.capable, {"capabilities": CAPABILITIES}
        job = self.worker.take(query.replace("query-", "run-"), "plan")
        self.worker.capable = known
        return job

    def write(self, job, log):
        self.worker.on(job, "PUT", "log?offset=0", log.encode())

    def end(self, query, job, wanted="finished", **more):
        self.worker.end(job, {"finished": "passed", "errored": "failed"}.get(wanted, "canceled"), **more)
        until(lambda: self.api.get(f"queries/{query}").data["attributes"]["status"] == wanted, f"the query is {wanted}")

    def finished(self, workspace, log, wanted="finished", error="", **attributes):
        """A query that has ended, with this log."""
        query = self.begin(workspace, **attributes)
        job = self.take(query)
        self.write(job, log)
        self.end(query, job, wanted, error=error)
        return query
