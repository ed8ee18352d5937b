# SPDX-License-Identifier: MPL-2.0
# label: extended
"""Credentials that come from a Vault: logins, renewals, revocations, secrets engines, and Vaults that do not answer as they should."""

import base64
import io
import json
import tarfile
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from support.authority import Authority
from support.configurations import planning_at
from support.credential_jobs import Desk, decoded, jwt, log, printed, uploads
from support.engine import each_engine
from support.fake_vault import FakeVault
from support.gate import Gate
from support.proc import ancestors
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
KEY = json.dumps({"type": "service_account", "project_id": "project", "private_key": "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n"})
SECRETS = {
    "aws/creds/deploy": {"access_key": "AKIAOFIAMUSER", "secret_key": "secret/of+iam/user", "security_token": None},
    "aws/sts/deploy": {"access_key": "ASIAOFROLE", "secret_key": "secret/of+role", "security_token": "session//of+role=="},
    "clouds/azure/creds/deploy": {"client_id": "10000000-0000-0000-0000-000000000000", "client_secret": "secret~of-azure"},
    "gcp/roleset/deploy/token": {"token": "ya29.c.token-of-roleset", "expires_at_seconds": 1, "token_ttl": 3599},
    "gcp/static-account/deploy/token": {"token": "ya29.c.token-of-account"},
    "gcp/roleset/deploy/key": {"private_key_data": base64.b64encode(KEY.encode()).decode(), "key_algorithm": "TYPE_GOOGLE_CREDENTIALS_FILE"},
    "gcp/static-account/deploy/key": {"private_key_data": base64.b64encode(KEY.encode()).decode()},
}


@pytest.fixture(scope="module")
def authority(session_folder):
    (session_folder / "vaults").mkdir()
    return Authority(session_folder / "vaults")


@pytest.fixture(scope="module")
def vaults(authority):
    vaults = {"main": FakeVault(), "other": FakeVault(), "secure": FakeVault(authority.issue())}
    yield vaults
    for one in vaults.values():
        one.release()


@pytest.fixture(scope="module")
def gates(session_folder):
    folder = session_folder / "gates"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def gate(gates, request):
    gate = Gate(gates, f"gate-{abs(hash(request.node.name))}")
    yield gate
    gate.open()


@pytest.fixture(scope="module")
def desk(session_folder, sandbox, engine, vaults, gates):
    allowed = ",".join(f"127.0.0.1:{one.port}" for one in vaults.values())
    desk = Desk(session_folder, f"vault-{engine.program}", sandbox, engine=engine.option, job_network_allow=allowed, sandbox_bind=gates, job_stop_seconds=20).start()
    yield desk
    desk.release()


@pytest.fixture
def vault(vaults):
    """As new, and without a living token at the end."""
    for one in vaults.values():
        one.requests.clear()
        one.live.clear()
        one.special.clear()
        one.secrets.update(SECRETS)
        one.lease = 1200
    yield vaults["main"]
    for one in vaults.values():
        until(lambda: not one.live, f"all tokens are revoked: {one.live}")


def login(vault, tag="", **more):
    return {"kind": "vault", "tag": tag, "token": jwt(f"vault{tag}"), "address": vault.url, "namespace": "", "auth-path": "jwt", "role": "deploy", "encoded-ca-certificate": "", **more}


def backed(kind, tag="", **more):
    return {"kind": f"vault-backed-{kind}", "tag": tag, "vault": "", "mount-path": kind, "role": "deploy", "role-arn": "", "sleep-seconds": "", **more}


def looking(*variables):
    """A provisioner prints the environment, the values of the variables, and the files, so that redaction does not recognize them."""
    script = 'mkdir /tmp/seen; env -0 >/tmp/seen/env; cp -a "$HOME/../credentials" /tmp/seen/; printf %s "$VALUES" >/tmp/seen/values; echo "BEGIN$(tar -C /tmp/seen -cz . | base64 -w 0)"\n'
    values = "".join(f'{name} = var.tfc_{name}_dynamic_credentials\n' for name in variables)
    return {"look.sh": script, "main.tf": "".join(f'variable "tfc_{name}_dynamic_credentials" {{}}\n' for name in variables) + f"""
resource "terraform_data" "look" {{
  provisioner "local-exec" {{
    command     = "sh look.sh"
    environment = {{ VALUES = jsonencode({{ {values} }}) }}
  }}
}}
"""}


def plan_and_apply(desk, files, credentials, **facts):
    plan = desk.run("plan", dict(files), credentials, **facts)
    assert plan.result["outcome"] == "passed", (plan.result, log(plan)[-3000:])
    return plan, desk.run("apply", {**files, "plan": plan.sent["plan"]}, credentials, **facts)


def seen(job):
    environment, values, files = {}, {}, {}
    with tarfile.open(fileobj=io.BytesIO(decoded(job))) as packed:
        for member in packed:
            if not member.isfile():
                continue
            name, text = member.name.removeprefix("./"), packed.extractfile(member).read().decode()
            if name == "env":
                environment = dict(pair.split("=", 1) for pair in text.split("\0") if pair)
            elif name == "values":
                values = text
            else:
                assert member.mode & 0o777 == 0o600
                files[name.removeprefix("credentials/")] = text
    return environment, values, files


def errored(job, *words):
    assert job.result["outcome"] == "errored", (job.result, log(job))
    assert all(word in job.result["error"] for word in words), job.result["error"]
    assert job.result["error"] in log(job) and "plan" not in job.sent
    return job.result["error"]


# ---- tokens ----


@each_engine()
def test_a_run_has_a_token_of_vault_until_it_ends(desk, vault, vaults):
    plan, apply = plan_and_apply(desk, looking("vault"), [login(vault, namespace="admin/team"), login(vaults["other"], "B")])
    assert apply.result["outcome"] == "passed", (apply.result, log(apply))
    environment, _, files = seen(apply)
    token = files["vault/default/token"]
    assert {name: value for name, value in environment.items() if "VAULT" in name and not name.startswith("TF_VAR")} == {
        "VAULT_ADDR": vault.url, "VAULT_NAMESPACE": "admin/team", "VAULT_TOKEN": token, "TERRAFORM_VAULT_SKIP_CHILD_TOKEN": "true"}
    assert files.keys() == {"vault/default/token", "vault/aliases/B/token"} and files["vault/aliases/B/token"].endswith(f"-of-{vaults['other'].port}")

    logins, revocations = vault.of("auth/jwt/login"), vault.of("auth/token/revoke-self")
    assert [request.body for request in logins] == [{"role": "deploy", "jwt": jwt("vault")}] * 2 and len(revocations) == 2
    assert [request.path for request in vault.requests] == ["auth/jwt/login", "auth/token/revoke-self"] * 2
    assert {request.headers["X-Vault-Namespace"] for request in vault.requests} == {"admin/team"} and revocations[1].token == token
    assert all("X-Vault-Namespace" not in request.headers for request in vaults["other"].requests) and len(vaults["other"].of("revoke-self")) == 2


def test_the_input_variable_has_the_vault(desk, vault, authority, vaults):
    encoded = base64.b64encode(authority.file.read_bytes()).decode()
    files = {"main.tf": """
variable "tfc_vault_dynamic_credentials" {
  type = object({
    default = object({ token_filename = string, address = string, namespace = string, ca_cert_file = string })
    aliases = map(object({ token_filename = string, address = string, namespace = string, ca_cert_file = string }))
  })
}
output "seen" {
  value = [for one in [var.tfc_vault_dynamic_credentials.default, var.tfc_vault_dynamic_credentials.aliases["B"]] : [one.address, one.namespace, length(file(one.token_filename)) > 9, one.ca_cert_file == "" ? "" : sha1(file(one.ca_cert_file))]]
}
output "sha1" {
  value = sha1(base64decode("%s"))
}
""" % encoded}
    _, apply = plan_and_apply(desk, files, [login(vault), login(vaults["secure"], "B", namespace="x", **{"encoded-ca-certificate": encoded})])
    assert apply.result["outcome"] == "passed", log(apply)
    outputs = json.loads([body for name, body in apply.sent.items() if name.startswith("state")][-1])["outputs"]
    assert outputs["seen"]["value"] == [[vault.url, "", True, ""], [vaults["secure"].url, "x", True, outputs["sha1"]["value"]]]


def test_a_path_of_the_login_and_of_the_address_are_used(desk, vault):
    vault.special["/prefix"] = lambda handler: vault.reply(handler, 200, vault.auth("hvs.prefixed")) if handler.path.endswith("login") else vault.reply(handler, 204)
    job = desk.run("plan", dict(ONE), [login(vault, **{"address": f"{vault.url}/prefix/", "auth-path": "/team one/jwt/"})])
    assert job.result["outcome"] == "passed", job.result
    # FakeVault strips /v1/ only at the beginning.
    assert [request.path for request in vault.requests] == ["/prefix/v1/auth/team%20one/jwt/login", "/prefix/v1/auth/token/revoke-self"]


def test_a_token_is_renewed_while_the_run_goes_on(desk, vault, gate):
    """The lease is a second, and the plan takes as long as the test wants."""
    vault.lease = 1
    job = desk.offer("plan", planning_at(gate), [login(vault)])
    gate.wait()
    until(lambda: len(vault.of("auth/token/renew-self")) >= 3, "the token is renewed again and again")
    assert len({request.token for request in vault.of("renew-self")}) == 1 and len(vault.live) == 1 and job.result is None
    gate.open()
    until(lambda: job.result, "the result")
    assert job.result["outcome"] == "passed" and len(vault.of("revoke-self")) == 1


def test_a_token_that_can_not_be_renewed_is_left(desk, vault, gate):
    vault.lease = 1
    vault.special["auth/token/renew-self"] = lambda handler: vault.reply(handler, 403, {"errors": ["permission denied"]})
    job = desk.offer("plan", planning_at(gate), [login(vault)])
    gate.wait()
    lines = until(lambda: [line for line in desk.worker.log_lines() if line["msg"] == "a Vault token of a run" and line["run"] == job.run], "the worker's log has it")
    assert "is not renewed any more: permission denied (status 403)" in lines[0]["why"] and len(vault.of("renew-self")) == 1
    gate.open()
    until(lambda: job.result, "the result")
    assert job.result["outcome"] == "passed"


def test_tokens_are_revoked_after_a_failure(desk, vault):
    failing = {"main.tf": 'resource "terraform_data" "one" {\n  provisioner "local-exec" {\n    command = "exit 3"\n  }\n}\n'}
    plan, apply = plan_and_apply(desk, failing, [login(vault)])
    assert apply.result["outcome"] == "failed" and len(vault.of("revoke-self")) == 2
    job = desk.run("plan", {"main.tf": "what\n"}, [login(vault)])
    assert job.result["outcome"] == "failed" and len(vault.of("revoke-self")) == len(vault.of("login")) == 3


@pytest.mark.parametrize("how", ["cancel", "force"])
def test_tokens_are_revoked_after_a_cancel(desk, vault, gate, how):
    job = desk.offer("plan", planning_at(gate), [login(vault)])
    gate.wait()
    desk.scheduler.stop(job, how)
    gate.open()
    until(lambda: job.result, "the result")
    assert job.result["outcome"] == "canceled" and len(vault.of("revoke-self")) == 1


def test_a_canceled_apply_revokes_after_the_engine_has_ended(desk, vault, gate):
    files = {"main.tf": f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "trap : INT; {gate.command}; sleep 0.3; echo LEFT"\n  }}\n}}\n'}
    plan = desk.run("plan", dict(files), [login(vault)])
    job = desk.offer("apply", {**files, "plan": plan.sent["plan"]}, [login(vault)])
    gate.wait()
    desk.scheduler.stop(job)
    gate.open()
    until(lambda: job.result, "the result")
    assert job.result["outcome"] in ("canceled", "passed") and len(vault.of("revoke-self")) == 2


def test_a_revocation_that_fails_does_no_harm(desk, vault):
    vault.special["auth/token/revoke-self"] = lambda handler: vault.reply(handler, 500, {"errors": ["internal error"]})
    job = desk.run("plan", dict(ONE), [login(vault)])
    assert job.result["outcome"] == "passed" and "internal error" not in log(job)
    until(lambda: [line for line in desk.worker.log_lines() if "is not revoked: internal error" in line.get("why", "") and line["run"] == job.run], "the worker's log has it")
    vault.live.clear()


def helpers(desk):
    """The pids of the worker's Vault programs."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "comm").read_text() == "runyard-vault\n" and desk.worker.process.pid in ancestors(int(folder.name)):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def test_the_program_has_the_networks_of_the_job_and_none_of_its_files(desk, vault, gate, sandbox):
    if sandbox != "bwrap":
        pytest.skip("without a sandbox a program sees what the worker sees")
    job = desk.offer("plan", planning_at(gate), [login(vault)])
    gate.wait()
    (pid,) = helpers(desk)
    folder = Path(f"/proc/{pid}")
    assert not list((folder / "root/job").iterdir()) and not (folder / "root" / str(desk.worker.folder / "data").lstrip("/")).exists()
    for name in ("cmdline", "environ"):
        assert jwt("vault").encode() not in (folder / name).read_bytes() and b"hvs." not in (folder / name).read_bytes()
    gate.open()
    until(lambda: job.result, "the result")
    assert job.result["outcome"] == "passed" and helpers(desk) == []


def test_tokens_are_revoked_when_the_scheduler_gives_the_attempt_up(desk, vault, gate):
    job = desk.offer("plan", planning_at(gate), [login(vault)])
    gate.wait()
    job.result = {"outcome": "given up"}  # heartbeats say that it is not held
    until(lambda: vault.of("revoke-self"), "the token is revoked")
    until(lambda: not helpers(desk), "the program ends")
    gate.open()


def test_the_program_ends_with_its_worker(desk, vault, gate):
    job = desk.offer("plan", planning_at(gate), [login(vault)])
    gate.wait()
    (pid,) = helpers(desk)
    desk.worker.kill()
    until(lambda: not Path(f"/proc/{pid}").exists(), "the program ends")
    job.result = {"outcome": "lost"}
    gate.open()
    desk.worker.start()
    vault.live.clear()  # nobody revokes it


# ---- what Vault refuses, and what is not Vault ----


def refusing(status, *errors):
    return lambda handler: FakeVault.reply(handler, status, {"errors": list(errors)})


def test_a_refused_login_is_the_runs_error(desk, vault):
    vault.special["auth/jwt/login"] = refusing(400, "error validating token: invalid audience (aud) claim\n\x1b[31mred", "second")
    error = errored(desk.run("plan", looking("vault"), [login(vault, "PROD")]), "vault (tag PROD)", vault.url, 'the role "deploy"', "status 400", "invalid audience (aud) claim")
    assert "\x1b" not in error and "\n" not in error and "second" not in error and len(vault.requests) == 1


def test_a_refused_secret_revokes_the_token(desk, vault):
    job = desk.run("plan", dict(ONE), [login(vault), backed("aws", **{"auth-type": "iam_user", "role": "unknown"})])
    errored(job, "vault-backed-aws", "to read aws/creds/unknown", "status 404")
    assert [urlsplit(request.path).path for request in vault.requests] == ["auth/jwt/login", "aws/creds/unknown", "auth/token/revoke-self"]


def test_vaults_words_do_not_carry_the_token(desk, vault):
    """A server that a tenant chose could answer with what it got."""
    vault.special["aws"] = lambda handler: vault.reply(handler, 400, {"errors": [f"no {handler.headers['X-Vault-Token']} and {jwt('vault')} here"]})
    job = desk.run("plan", dict(ONE), [login(vault), backed("aws", **{"auth-type": "iam_user"})])
    error = errored(job, "status 400: no (sensitive value) and (sensitive value) here")
    assert "hvs." not in error + log(job) and jwt("vault") not in log(job)
    assert jwt("vault") not in desk.worker.process.log() and "hvs.token" not in desk.worker.process.log()


def test_a_certificate_of_an_unknown_ca_is_refused(desk, vault, vaults):
    errored(desk.run("plan", dict(ONE), [login(vaults["secure"])]), "no answer from https://", "certificate")
    assert vaults["secure"].requests == []


def test_a_certificate_of_the_given_ca_is_accepted(desk, vault, vaults, authority):
    encoded = base64.b64encode(authority.file.read_bytes()).decode()
    job = desk.run("plan", dict(ONE), [login(vaults["secure"], **{"encoded-ca-certificate": encoded})])
    assert job.result["outcome"] == "passed" and len(vaults["secure"].requests) == 2


def test_a_certificate_of_another_name_is_refused(desk, vault, vaults, authority):
    encoded = base64.b64encode(authority.file.read_bytes()).decode()
    address = vaults["secure"].url.replace("127.0.0.1", "127.0.0.1.nip.invalid")
    errored(desk.run("plan", dict(ONE), [login(vaults["secure"], **{"encoded-ca-certificate": encoded, "address": address})]), "no answer")
    assert vaults["secure"].requests == []


def test_a_broken_ca_is_named(desk, vault, vaults):
    broken = base64.b64encode(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n").decode()
    errored(desk.run("plan", dict(ONE), [login(vaults["secure"], **{"encoded-ca-certificate": broken})]), "CA certificate can't be read")


def test_a_redirect_to_another_server_is_refused(desk, vault, vaults):
    vault.special["auth/jwt/login"] = lambda handler: vault.reply(handler, 307, headers={"Location": f"{vaults['other'].url}/v1/auth/jwt/login"})
    errored(desk.run("plan", dict(ONE), [login(vault)]), "it redirects to another server")
    assert vaults["other"].requests == []


def test_a_redirect_to_the_same_server_is_followed(desk, vault):
    vault.special["auth/old"] = lambda handler: vault.reply(handler, 307, headers={"Location": "/v1/auth/jwt/login"})
    job = desk.run("plan", dict(ONE), [login(vault, **{"auth-path": "old"})])
    assert job.result["outcome"] == "passed" and vault.requests[1].body == {"role": "deploy", "jwt": jwt("vault")}


def test_redirects_without_end_are_refused(desk, vault):
    vault.special["auth/jwt/login"] = lambda handler: vault.reply(handler, 307, headers={"Location": "/v1/auth/jwt/login"})
    errored(desk.run("plan", dict(ONE), [login(vault)]), "redirects again and again")
    assert len(vault.requests) < 10


def endless(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(1 << 30))
    handler.end_headers()
    for _ in range(1 << 14):
        handler.wfile.write(b" " * (1 << 16))


def test_a_huge_answer_is_refused(desk, vault):
    vault.special["auth/jwt/login"] = endless
    errored(desk.run("plan", dict(ONE), [login(vault)]), "its answer is too large")


def many_headers(handler):
    handler.send_response(200)
    for number in range(100):
        handler.send_header(f"X-{number}", "x" * 10000)
    handler.end_headers()


def test_huge_headers_are_refused(desk, vault):
    vault.special["auth/jwt/login"] = many_headers
    errored(desk.run("plan", dict(ONE), [login(vault)]), "no answer")


ANSWERS = [b"", b"<html>", b"[]", b'{"auth":{}}', b'{"auth":{"client_token":5}}', b'{"auth":{"client_token":"a\\nb"}}', b'{"auth":{"client_token":"a b"}}', b"[" * 100000, b'{"auth":null}']


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_that_is_not_vaults_is_refused(desk, vault, answer):
    def reply(handler):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(answer)))
        handler.end_headers()
        handler.wfile.write(answer)

    vault.special["auth/jwt/login"] = reply
    errored(desk.run("plan", dict(ONE), [login(vault)]), "vault")


@pytest.mark.parametrize("data", [{"access_key": "A\nB", "secret_key": "x"}, {"access_key": "A"}, {}, {"access_key": "A", "secret_key": "x", "security_token": "a\r\nb"}], ids=range(4))
def test_secrets_that_do_not_fit_into_files_are_refused(desk, vault, data):
    vault.secrets["aws/creds/deploy"] = data
    errored(desk.run("plan", dict(ONE), [login(vault), backed("aws", **{"auth-type": "iam_user"})]), "vault-backed-aws", "Vault's answer")
    until(lambda: len(vault.of("revoke-self")) == 1, "the token is revoked")


def test_nobody_answers(desk, vault):
    errored(desk.run("plan", dict(ONE), [login(vault, address="http://127.0.0.1:1")]), "no answer from http://127.0.0.1:1")


def test_a_vault_that_is_slow_does_not_hold_up_a_cancel(desk, vault):
    vault.special["auth/other/login"] = lambda handler: vault.over.wait()
    job = desk.offer("plan", dict(ONE), [login(vault), login(vault, "SLOW", **{"auth-path": "other"})])
    until(lambda: vault.of("auth/other/login"), "it waits")
    desk.scheduler.stop(job)
    until(lambda: job.result, "the result", timeout=15)
    assert job.result["outcome"] == "canceled" and len(vault.of("revoke-self")) == 1


def test_a_secret_that_takes_too_long_is_refused(desk, vault):
    """The limit is that of its Vault. It is not the login's."""
    vault.special["aws/"] = lambda handler: vault.over.wait()
    vault.special["auth/jwt/login"] = lambda handler: (vault.over.wait(1.5), vault.reply(handler, 200, vault.auth("hvs.slow")))
    vault.special["auth/token"] = lambda handler: vault.reply(handler, 204)
    job = desk.run("plan", dict(ONE), [login(vault, **{"client-timeout": "1"}), backed("aws", **{"auth-type": "iam_user"})])
    errored(job, "vault-backed-aws", f"no answer from {vault.url}: it did not answer in time")
    assert len(vault.of("aws/creds/deploy")) == 1 and len(vault.of("revoke-self")) == 1


def test_a_vault_that_changes_its_active_server_is_asked_again(desk, vault):
    vault.special["auth/jwt/login"] = lambda handler: refusing(503)(handler) if len(vault.requests) < 2 else vault.reply(handler, 200, vault.auth("hvs.later"))
    vault.special["auth/token"] = lambda handler: vault.reply(handler, 204)
    assert desk.run("plan", dict(ONE), [login(vault)]).result["outcome"] == "passed" and len(vault.of("login")) == 2


# ---- secrets engines ----


@each_engine()
def test_vault_makes_credentials_of_aws(desk, vault):
    arn = "arn:aws:iam::123456789012:role/a+b"
    credentials = [login(vault), backed("aws", **{"auth-type": "iam_user"}), backed("aws", "ROLE", **{"auth-type": "assumed_role", "role-arn": arn}), backed("aws", "FED", **{"auth-type": "federation_token"})]
    plan, apply = plan_and_apply(desk, looking(), credentials, variables=[{"key": "AWS_SESSION_TOKEN", "value": "of-the-workspace", "category": "env"}])
    assert apply.result["outcome"] == "passed", (apply.result, log(apply))
    environment, _, files = seen(apply)
    assert {name: value for name, value in environment.items() if name.startswith("AWS_")} == {
        "AWS_ACCESS_KEY_ID": "AKIAOFIAMUSER", "AWS_SECRET_ACCESS_KEY": "secret/of+iam/user", "AWS_SESSION_TOKEN": ""}
    assert files["vault-backed-aws/default/credentials"] == "[default]\naws_access_key_id = AKIAOFIAMUSER\naws_secret_access_key = secret/of+iam/user\n"
    assert files["vault-backed-aws/aliases/ROLE/credentials"].endswith("aws_secret_access_key = secret/of+role\naws_session_token = session//of+role==\n")
    asked = [request for request in vault.requests if request.path.startswith("aws/")][3:]
    assert [urlsplit(request.path).path for request in asked] == ["aws/creds/deploy", "aws/sts/deploy", "aws/sts/deploy"] and {request.method for request in asked} == {"GET"}
    assert parse_qs(urlsplit(asked[1].path).query) == {"role_arn": [arn]} and not urlsplit(asked[2].path).query
    for job in (plan, apply):
        assert "secret/of+" not in log(job) and b"secret/of+" not in uploads(job)


def test_vault_makes_credentials_of_azure(desk, vault):
    _, apply = plan_and_apply(desk, looking("vault_backed_azure"), [login(vault), backed("azure", **{"mount-path": "clouds/azure"})])
    environment, values, files = seen(apply)
    assert environment["ARM_CLIENT_ID"].startswith("10000000-") and environment["ARM_CLIENT_SECRET"] == "secret~of-azure" and "ARM_USE_OIDC" not in environment
    assert files["vault-backed-azure/default/client-id"].startswith("10000000-") and files["vault-backed-azure/default/client-secret"] == "secret~of-azure"
    assert "client_secret_file_path" in values


PRINT_KEY = """
echo "$GOOGLE_OAUTH_ACCESS_TOKEN"
cd ../credentials/vault-backed-gcp/aliases/KEY
cat credentials.json
echo
python3 -c 'import json; print(json.load(open("credentials.json"))["private_key"])'
"""


@pytest.mark.parametrize("kind", ["roleset", "static_account"])
def test_vault_makes_credentials_of_gcp(desk, vault, kind):
    credentials = [login(vault), backed("gcp", **{"auth-type": f"{kind}/access_token"}), backed("gcp", "KEY", **{"auth-type": f"{kind}/service_account_key"})]
    files = {**looking(), "print.sh": PRINT_KEY}
    files["main.tf"] += 'resource "terraform_data" "print" {\n  provisioner "local-exec" {\n    command = "sh print.sh 2>&1"\n  }\n}\n'
    _, apply = plan_and_apply(desk, files, credentials)
    assert apply.result["outcome"] == "passed", log(apply)
    environment, _, written = seen(apply)
    token = "ya29.c.token-of-roleset" if kind == "roleset" else "ya29.c.token-of-account"
    assert environment["GOOGLE_OAUTH_ACCESS_TOKEN"] == token and "GOOGLE_CREDENTIALS" not in environment
    assert json.loads(written["vault-backed-gcp/aliases/KEY/credentials.json"])["project_id"] == "project"
    assert token not in log(apply) and "MIIEvQIBADANBgkq" not in log(apply) and "hkiG9w0BAQEFAASC" not in log(apply)
    assert printed(apply).count("(sensitive value)") >= 3


def test_a_key_of_gcp_is_the_default(desk, vault):
    _, apply = plan_and_apply(desk, looking(), [login(vault), backed("gcp", **{"auth-type": "roleset/service_account_key"})])
    environment, _, files = seen(apply)
    assert environment["GOOGLE_CREDENTIALS"] == environment["GOOGLE_APPLICATION_CREDENTIALS"] and environment["GOOGLE_CREDENTIALS"].endswith("/credentials/vault-backed-gcp/default/credentials.json")
    assert files["vault-backed-gcp/default/credentials.json"] == KEY and "GOOGLE_OAUTH_ACCESS_TOKEN" not in environment


def test_a_configuration_names_its_vault(desk, vault, vaults):
    vaults["other"].secrets["aws/creds/deploy"] = {"access_key": "AKIAOFOTHER", "secret_key": "other-secret"}
    credentials = [backed("aws", vault="B", **{"auth-type": "iam_user"}), login(vaults["other"], "B"), login(vault)]
    job = desk.run("plan", dict(ONE), credentials)
    assert job.result["outcome"] == "passed" and not [request for request in vault.requests if request.path.startswith("aws")]
    assert [request.path for request in vaults["other"].requests if request.path.startswith("aws")] == ["aws/creds/deploy"]


def test_names_do_not_lead_to_other_paths(desk, vault):
    for member, value in (("role", "../../sys/leases"), ("role", ".."), ("mount-path", "aws/../sys"), ("mount-path", "./aws"), ("role", "a%2e%2e")):
        job = desk.run("plan", dict(ONE), [login(vault), backed("aws", **{"auth-type": "iam_user", member: value})])
        errored(job, member)
    assert vault.requests == []
    vault.secrets["aws/creds/a%3Fb%23c"] = SECRETS["aws/creds/deploy"]
    assert desk.run("plan", dict(ONE), [login(vault), backed("aws", **{"auth-type": "iam_user", "role": "a?b#c"})]).result["outcome"] == "passed"


def test_the_run_waits_until_credentials_are_known(desk, vault):
    job = desk.run("plan", dict(ONE), [login(vault), backed("aws", **{"auth-type": "iam_user", "sleep-seconds": "1"})])
    assert job.result["outcome"] == "passed" and "Waiting 1 s until the new credentials are known everywhere" in log(job)


def test_a_cancel_ends_the_wait(desk, vault):
    job = desk.offer("plan", dict(ONE), [login(vault), backed("aws", **{"auth-type": "iam_user", "sleep-seconds": "1500"})])
    until(lambda: "Waiting 1500 s" in log(job), "the run waits")
    desk.scheduler.stop(job)
    until(lambda: job.result, "the result", timeout=15)
    assert job.result["outcome"] == "canceled" and len(vault.of("revoke-self")) == 1


def test_the_wait_is_bounded(desk, vault):
    errored(desk.run("plan", dict(ONE), [login(vault), backed("aws", **{"auth-type": "iam_user", "sleep-seconds": "1501"})]), "sleep-seconds")
