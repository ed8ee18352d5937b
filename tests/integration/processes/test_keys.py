# SPDX-License-Identifier: MPL-2.0
"""The commands keys and rotate-keys, keys that are missing at the start, and keys that SIGHUP reads again."""

import base64
import hashlib
import json
import signal

import psycopg
import pytest

from support.api import Api
from support.fake_worker import FakeWorker
from support.process import free_port
from support.receiver import acknowledges
from support.runyard import KEYS, Scheduler
from support.vcs_connections import ssh_key
from support.wait import until

OLD, NEW = KEYS, "2:" + "6b" * 32
BOTH, TURNED = f"{OLD},{NEW}", f"{NEW},{OLD}"
PAGE_ROWS = 1000  # of a rotation


def command(database, keys, *words, check=True):
    return Scheduler.run_command(*words, check=check, database_url=database, keys=keys, listen=f"127.0.0.1:{free_port()}")


def report(database, keys):
    """What `keys --json` prints, by the numbers of the keys."""
    return {key["number"]: key for key in map(json.loads, command(database, keys, "keys", "--json").stdout.splitlines())}


def why(done):
    assert done.returncode == 1, done
    return json.loads(done.stderr.splitlines()[-1])["why"]


def post(api, path, kind, **attributes):
    return api.post(path, {"data": {"type": kind, "attributes": attributes}}).data["id"]


def push_state(api, workspace):
    state = json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "a", "resources": [],
                        "outputs": {"o": {"value": "v", "type": "string", "sensitive": True}}}).encode()
    api.post(f"workspaces/{workspace}/actions/lock", {"reason": "test"})
    post(api, f"workspaces/{workspace}/state-versions", "state-versions",
         serial=1, lineage="a", md5=hashlib.md5(state).hexdigest(), state=base64.b64encode(state).decode())


def seal_everything(api, fake, receiver):
    """Rows of every kind that the API can make without an engine."""
    organization = f"organizations/{api.organization}"
    workspace = api.workspace()
    api.variable(workspace, "secret", "of the workspace", sensitive=True)
    post(api, f"{organization}/ssh-keys", "ssh-keys", name="git", value="-----BEGIN X-----")
    client = post(api, f"{organization}/oauth-clients", "oauth-clients",
                  **{"service-provider": "ado_server", "http-url": "https://ado.example.com", "api-url": "https://ado.example.com", "secret": "s", "private-key": "p", "oauth-token-string": "t"})
    token = api.get(f"oauth-clients/{client}/oauth-tokens").data[0]["id"]
    api.patch(f"oauth-tokens/{token}", {"data": {"type": "oauth-tokens", "attributes": {"ssh-key": ssh_key("-t", "ed25519")}}})
    post(api, f"workspaces/{workspace}/notification-configurations", "notification-configurations",
         **{"name": "n", "destination-type": "generic", "url": "https://127.0.0.1/hook", "token": "t", "enabled": False})
    policies = api.policy_set("opa", [api.policy("opa", "advisory", "package p\n")], workspace)
    body = {"data": {"type": "vars", "attributes": {"key": "limit", "value": "7" * 90, "category": "policy-set"}}}
    api.post(f"policy-sets/{policies}/parameters", body)
    api.attach(workspace, api.task(receiver.service(acknowledges)), "pre_apply")
    run = api.run_files(workspace, {"main.tf": 'variable "secret" {}\n'})
    (job,) = until(fake.claim, "the job is handed out")
    fake.on(job, "PUT", "log?offset=0", b"a line of the log\n" * 100)
    push_state(api, api.workspace())
    return run, job


@pytest.fixture
def sealed(scheduler, tokens, receiver):
    one = scheduler(keys=OLD)
    api, fake = Api(one.url, tokens["token"]), FakeWorker(one.url, tokens["agent-token"])
    run, job = seal_everything(api, fake, receiver)
    return one, api, fake, run, job


def rekey(one, keys):
    one.options["keys"] = keys
    one.restart()


def left(database, number):
    """The columns that have values of the key, by what PostgreSQL says."""
    found = {}
    with psycopg.connect(database) as connection:
        for table, column in connection.execute("select table_name, column_name from information_schema.columns where column_name like '%\\_sealed'").fetchall():
            (count,) = connection.execute(f"select count(*) from {table} where substring({column} from 1 for 4) = int4send(%s)", (number,)).fetchone()
            if count:
                found[f"{table}.{column}"] = count
    return found


def test_the_keys_command_counts_every_encrypted_column(scheduler, database):
    scheduler()
    with psycopg.connect(database) as connection:
        columns = {f"{table}.{column}" for table, column in connection.execute(
            "select table_name, column_name from information_schema.columns where column_name like '%\\_sealed' and table_schema = 'public'")}
    assert set(report(database, OLD)[1]["rows"]) == columns | {"policy_evaluations.bundle"}


def test_a_rotation_encrypts_every_row_again(sealed, database, ask, tokens):
    one, api, fake, run, job = sealed
    before = left(database, 1)
    assert len(before) >= 11, before
    keys = report(database, OLD)
    assert {name: count for name, count in keys[1]["rows"].items() if count} == {**before, "policy_evaluations.bundle": 1}
    assert keys[1]["place"] == 0 and keys[1]["in-use"] and keys[1]["seals"] and not keys[1]["can-go"]

    rekey(one, TURNED)
    printed = command(database, TURNED, "rotate-keys").stdout
    assert int(printed.split()[0]) == sum(before.values()) + 1
    assert left(database, 1) == {} and sum(left(database, 2).values()) == sum(before.values())
    assert command(database, TURNED, "rotate-keys").stdout.startswith("0 values")
    keys = report(database, TURNED)
    assert keys[2]["place"] == 0 and keys[2]["seals"] and keys[2]["rows"]["policy_evaluations.bundle"] == 1
    assert not keys[1]["seals"] and not keys[1]["in-use"] and keys[1]["links-until"] and not keys[1]["can-go"]
    ask("update sealing_keys set last_used_at = now() - interval '3 days' where number = 1")
    assert report(database, TURNED)[1]["can-go"]

    rekey(one, NEW)
    assert api.log(run).strip("\x02\x03").startswith("a line of the log")
    assert fake.on(job, "GET", "configuration").status == 200
    assert api.attributes(f"runs/{run}")["status"] == "planning"
    assert fake.result(job, "passed", **{"has-changes": True}).status == 204
    until(lambda: [job for job in fake.claim() if job["stage"] == "opa" and fake.on(job, "GET", "policies").json["sets"][0]["parameters"][0]["value"] == "7" * 90],
          "the policies' parameters can be opened")


def test_a_rotation_reads_tables_page_by_page(sealed, database, ask):
    """Also those whose key has several columns, or is a number."""
    one, _, fake, _, job = sealed
    offset = 100 * len(b"a line of the log\n")
    for line in range(PAGE_ROWS + 50):
        if line % 100 == 0:
            fake.heartbeat(job)
        fake.on(job, "PUT", f"log?offset={offset}", b"%d\n" % line)
        offset += len(b"%d\n" % line)
    ((chunks,),) = ask("select count(*) from log_chunks")
    assert chunks > PAGE_ROWS
    rekey(one, TURNED)
    assert int(command(database, TURNED, "rotate-keys").stdout.split()[0]) > chunks
    assert left(database, 1) == {}


def test_a_rotation_is_refused_while_rows_use_an_unexpected_key(sealed, database, ask):
    one, *_ = sealed
    rekey(one, TURNED)
    ask("insert into variables (id, workspace_id, key, value_sealed, category, version_id) select 'var-z' || id, workspace_id, key || 'z', "
        "'\\x00000007' || substring(value_sealed from 5), category, version_id from variables")
    assert "sealed with key 7" in why(command(database, TURNED, "rotate-keys", check=False))
    assert not report(database, TURNED)[7]["can-go"] and report(database, TURNED)[7]["place"] is None


def test_a_start_without_a_key_in_use_is_refused(sealed, database):
    one, *_ = sealed
    command(database, BOTH, "migrate")  # key 2 is known and has sealed nothing
    assert command(database, OLD, "migrate").returncode == 0
    for words in ((), ("migrate",)):
        assert "--keys lacks key 1, and content is sealed with it" in why(command(database, NEW, *words, check=False))
    assert report(database, NEW)[1]["place"] is None
    rekey(one, TURNED)
    assert "--keys lacks key 2" in why(command(database, OLD, "migrate", check=False))
    command(database, TURNED, "rotate-keys")
    assert command(database, NEW, "migrate").returncode == 0


def test_sighup_reloads_the_keys(scheduler, tokens, folder, database, ask):
    path = folder / "keys"
    path.write_text(OLD)
    one = scheduler(keys=None, environment={"RUNYARD_KEYS_FILE": str(path)})
    api = Api(one.url, tokens["token"])
    workspace = api.workspace()
    api.variable(workspace, "first", "1")
    until(lambda: ask("select 1 from workload_keys"), "the first key for identities, which a scheduler makes after its start")

    def reread(keys, said):
        before = len([line for line in one.log_lines() if line["msg"].startswith(said)])
        path.write_text(keys + "\n")
        one.process.send(signal.SIGHUP)
        until(lambda: len([line for line in one.log_lines() if line["msg"].startswith(said)]) > before, said)

    reread(TURNED, "the keys were read again")
    api.variable(workspace, "second", "2")
    assert left(database, 2) == {"variables.value_sealed": 1}
    for wrong in (NEW, "2:" + "7c" * 32 + "," + OLD, "", "nonsense"):
        reread(wrong, "the keys stay as they were")
    assert {v["attributes"]["key"]: v["attributes"]["value"] for v in api.get(f"workspaces/{workspace}/vars").data} == {"first": "1", "second": "2"}
    command(database, TURNED, "rotate-keys")
    reread(NEW, "the keys were read again")
    assert len(api.get(f"workspaces/{workspace}/vars").data) == 2
