# SPDX-License-Identifier: MPL-2.0
"""Assessments whose plan is in the object store."""

import json

from support.api_site import open_api_site
from support.assessed import Assessments, found
from support.servers import ObjectStore
from support.wait import until

ENGINE = ["terraform 1.11.4", "opa", "sentinel", "cost"]


def results(api, workspace):
    return [result["attributes"] for result in api.get(f"workspaces/{workspace}/assessment-results").data]


def offload(health, objects, ask, workspace):
    """A job of an assessment that found a drift, once its plan is in the object store; the plan's file there."""
    health.ask(workspace)
    job = health.job(workspace)
    health.worker.on(job, "PUT", "plan-json", json.dumps(found(["one"])).encode())
    blob = """select b.object_key from operation_blobs o join blobs b on b.id = o.blob_id join operations p on p.id = o.operation_id
              where p.run_id = %s and o.kind = 'json' and b.object_key is not null"""
    ((key,),) = until(lambda: ask(blob, job["run"]), "the plan is in the object store")
    (file,) = [file for file in objects.files("health") if str(file).endswith(key)]
    return job, file


def test_a_plan_in_the_object_store_is_evaluated_and_delays_no_other(postgres, tmp_path):
    objects = ObjectStore(tmp_path).start()
    try:
        with open_api_site(postgres, **objects.options("health"), object_store_from_bytes=1, object_store_after_seconds=0) as site:
            api = site.organization()
            health = Assessments(site, api, site.fake_worker(capabilities=ENGINE))
            first, second, lost = (health.workspace(name, "one") for name in ("first", "second", "lost"))
            job, _ = offload(health, objects, site.ask, first)
            unreadable, file = offload(health, objects, site.ask, lost)
            objects.stop()
            try:
                health.worker.end(job)
                assert not health.assess(second, {"format_version": "1.2"})["attributes"]["drifted"]
                assert results(api, first) == []
            finally:
                objects.start()
            (result,) = until(lambda: results(api, first), "the other plan is evaluated")
            assert result["drifted"] and result["resources-drifted"] == 1
            file.unlink()
            health.worker.end(unreadable)
            (result,) = until(lambda: results(api, lost), "the assessment ends without its plan")
            assert not result["succeeded"] and "lost the object" in result["error-msg"]
    finally:
        objects.release()
