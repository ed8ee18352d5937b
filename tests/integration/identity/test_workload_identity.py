# SPDX-License-Identifier: MPL-2.0
"""Identities of runs: the issuer, its keys, and the tokens that jobs get."""

import base64
import json
import time
import urllib.request
import uuid

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from support.api import Api
from support.fake_worker import FakeWorker
from support.runyard import KEYS, Scheduler
from support.wait import until

AUDIENCE, TOKEN = "TFC_WORKLOAD_IDENTITY_AUDIENCE", "TFC_WORKLOAD_IDENTITY_TOKEN"


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def fetched(scheduler, path):
    with urllib.request.urlopen(scheduler.url + path) as answer:
        assert answer.headers["Content-Type"] == "application/json" and "max-age=600" in answer.headers["Cache-Control"]
        return json.loads(answer.read())


def published(scheduler):
    return {key["kid"]: key for key in fetched(scheduler, "/.well-known/jwks")["keys"]}


def verified(scheduler, token):
    """The claims of a token, as a verifier reads them that knows the issuer alone."""
    issuer = fetched(scheduler, "/.well-known/openid-configuration")
    assert issuer["jwks_uri"] == f"{issuer['issuer']}/.well-known/jwks"
    head, claims, signature = token.split(".")
    header = json.loads(decoded(head))
    assert header["typ"] == "JWT" and header["alg"] == "RS256"
    key = published(scheduler)[header["kid"]]
    number = {name: int.from_bytes(decoded(key[name]), "big") for name in ("n", "e")}
    rsa.RSAPublicNumbers(number["e"], number["n"]).public_key().verify(decoded(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256())
    thumbprint = hashes.Hash(hashes.SHA256())
    thumbprint.update(json.dumps({"e": key["e"], "kty": "RSA", "n": key["n"]}, separators=(",", ":")).encode())
    assert decoded(key["kid"]) == thumbprint.finalize() and number["n"].bit_length() == 2048
    found = json.loads(decoded(claims))
    assert found["iss"] == issuer["issuer"]
    return found


@pytest.fixture
def place(api_site):
    """An organization with a pool and a worker of its own, and a workspace."""

    class Place:
        def __init__(self):
            self.api = api_site.organization()
            self.pool, token = self.api.pool()
            self.worker = api_site.fake_worker(token)
            self.workspace = self.api.workspace(**{"execution-mode": "agent", "agent-pool-id": self.pool})

        def variable(self, key, value, workspace=None, **more):
            self.api.variable(workspace or self.workspace, key, value, category="env", **more)

        def job(self, workspace=None, stage="plan"):
            run = self.api.run_files(workspace or self.workspace, {"main.tf": ""})
            return run, self.worker.take(run, stage)

    return Place()


def tokens_of(job):
    return {variable["key"]: variable for variable in job["variables"] if variable["key"].startswith(TOKEN)}


def test_a_plan_and_an_apply_have_different_identities(api_site, place):
    place.variable(AUDIENCE, "my-audience")
    place.variable(f"{AUDIENCE}_AWS", "aws.workload.identity")
    run, job = place.job()
    got = tokens_of(job)
    assert set(got) == {TOKEN, f"{TOKEN}_AWS"} and all(variable["sensitive"] and variable["category"] == "env" for variable in got.values())
    claims = verified(api_site.scheduler, got[TOKEN]["value"])
    now = time.time()
    workspace = place.api.get(f"workspaces/{place.workspace}").data
    name, project = workspace["attributes"]["name"], workspace["relationships"]["project"]["data"]["id"]
    full = f"organization:{place.api.organization}:project:Default Project:workspace:{name}"
    assert claims["iss"] == api_site.scheduler.url and claims["aud"] == "my-audience" and claims["sub"] == f"{full}:run_phase:plan"
    assert claims["iat"] - claims["nbf"] == 5 and abs(claims["iat"] - now) < 60 and claims["exp"] - claims["iat"] == 86400
    (organization,) = api_site.ask("select id from organizations where name = %s", place.api.organization)
    assert {key: value for key, value in claims.items() if key.startswith("terraform_")} == {
        "terraform_organization_id": organization[0], "terraform_organization_name": place.api.organization, "terraform_project_id": project, "terraform_project_name": "Default Project",
        "terraform_workspace_id": place.workspace, "terraform_workspace_name": name, "terraform_full_workspace": full, "terraform_run_id": run, "terraform_run_phase": "plan"}
    aws = verified(api_site.scheduler, got[f"{TOKEN}_AWS"]["value"])
    assert aws["aud"] == "aws.workload.identity" and aws["jti"] != claims["jti"]
    place.worker.end(job, **{"has-changes": True, "additions": 1})
    place.api.post(f"runs/{run}/actions/apply")
    apply = place.worker.take(run, "apply")
    assert verified(api_site.scheduler, tokens_of(apply)[TOKEN]["value"])["sub"] == f"{full}:run_phase:apply"


def test_tokens_are_in_the_audit_by_their_ids_and_nowhere_else(api_site, place):
    place.variable(AUDIENCE, "x")
    run, job = place.job()
    token = tokens_of(job)[TOKEN]["value"]
    claims = verified(api_site.scheduler, token)
    (event,) = api_site.ask("select action, resource_id, details from audit_events where actor_id = %s and resource_type = 'workload_identity_token'", run)
    assert event == ("issue", claims["jti"], {"audience": "x", "run": run, "phase": "plan", "attempt": 1})
    signature = token.rpartition(".")[2]
    for table, in api_site.ask("select tablename from pg_tables where schemaname = 'public'"):
        assert not api_site.ask(f"select 1 from {table} t where strpos(t::text, %s) > 0 limit 1", signature), table
    assert signature not in "".join(json.dumps(line) for line in api_site.scheduler.log_lines())


def test_without_an_audience_there_is_no_token(place):
    place.variable("TFC_WORKLOAD_IDENTITY_AUDIENCES", "x")
    place.variable(f"{AUDIENCE}_", "x")
    place.variable(f"{AUDIENCE}_a", "")
    place.api.variable(place.workspace, AUDIENCE, "x")  # of terraform, not of the environment
    assert tokens_of(place.job()[1]) == {}


def test_names_make_no_two_subjects_equal(place):
    """A subject has colons between its parts: no part may have one."""
    base = f"organizations/{place.api.organization}"
    for path, type in ((f"{base}/projects", "projects"), (f"{base}/workspaces", "workspaces"), ("organizations", "organizations")):
        refused = place.api.call("POST", path, {"data": {"type": type, "attributes": {"name": "a:workspace:b", "email": "a@example.com"}}})
        assert refused.status == 422 and "may only contain" in refused.text, refused.text


def test_the_code_of_a_fork_has_no_identity(api_site, place):
    place.variable(AUDIENCE, "x")
    configuration = place.api.upload(place.workspace, {"main.tf": ""})
    run = place.api.run(place.workspace, configuration)
    api_site.change("insert into configuration_commits (configuration_version_id, id, sha, detail) values (%s, %s, 'abc', '{\"from-fork\": true}')", configuration, f"ia-{uuid.uuid4().hex}")
    assert tokens_of(place.worker.take(run, "plan")) == {}


def command(api_site, *arguments):
    done = Scheduler.run_command("workload-keys", *arguments, "--json", database_url=api_site.database, keys=KEYS)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_keys_are_rotated_and_replaced(api_site, place):
    """The next key is published a day before it signs, the last one for a week longer. No token is refused meanwhile."""
    place.variable(AUDIENCE, "x")

    def signed(scheduler):
        """The key of a new job's token, which must verify."""
        _, job = place.job()
        token = tokens_of(job)[TOKEN]["value"]
        verified(api_site.scheduler, token)
        place.worker.end(job)
        return json.loads(decoded(token.partition(".")[0]))["kid"]

    first = signed(api_site.scheduler)
    states = {key["id"]: key["state"] for key in command(api_site, "rotate")}
    (second,) = set(states) - {first}
    assert states == {first: "signs", second: "next"} and set(published(api_site.scheduler)) == {first, second}
    assert Scheduler.run_command("workload-keys", "rotate", database_url=api_site.database, keys=KEYS, check=False).returncode != 0
    api_site.change("update workload_keys set signs_from = signs_from - interval '25 hours'")
    api_site.scheduler.restart()  # what it keeps in memory for a minute
    assert signed(api_site.scheduler) == second and set(published(api_site.scheduler)) == {first, second}
    api_site.change("update workload_keys set signs_from = signs_from - interval '8 days'")
    assert set(published(api_site.scheduler)) == {second}
    (third,) = command(api_site, "replace")
    assert third["state"] == "signs" and set(published(api_site.scheduler)) == {third["id"]}


def test_a_run_can_have_32_tokens_of_its_own(place):
    for number in range(33):
        place.variable(f"{AUDIENCE}_T{number}", "x")
    _, job = place.job()
    assert tokens_of(job) == {} and job["refusal"] == f"A run can have at most 32 variables {AUDIENCE}_TAG."


def test_a_restored_site_signs_with_another_key(scheduler, tokens, database):
    """Whoever has the backup has its key: what it signs must not pass for an identity of the restored site."""
    one = scheduler(lease_seconds=6)
    before = until(lambda: published(one), "the first key")
    one.stop()
    for command in (["restored", "--json"], ["maintenance", "off"]):
        Scheduler.run_command(*command, database_url=database, keys=KEYS)
    one.start()
    assert len(published(one)) == 1 and not set(published(one)) & set(before)
    api, worker = Api(one.url, tokens["token"]), FakeWorker(one.url, tokens["agent-token"])
    workspace = api.workspace()
    api.variable(workspace, AUDIENCE, "x", category="env")
    api.run_files(workspace, {"main.tf": ""})
    (job,) = until(worker.claim, "jobs are given again, a lease after the restore")
    assert verified(one, tokens_of(job)[TOKEN]["value"])["aud"] == "x"
