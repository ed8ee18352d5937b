# SPDX-License-Identifier: MPL-2.0
"""Dynamic credentials: the files, the environment and the input variables that a run's programs get, and what nobody else gets."""

import hashlib
import io
import json
import os
import re
import tarfile
import zipfile

import pytest

from support.credential_jobs import Desk, decoded, jwt, log, printed, uploads
from support.engine import each_engine
from support.wait import until

AUDIENCE = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/provider"
BY_KIND = {
    "aws": {"role-arn": "arn:aws:iam::123456789012:role/plan"},
    "azure": {"client-id": "10000000-0000-0000-0000-000000000000"},
    "gcp": {"audience": AUDIENCE, "service-account": "deploy@project.iam.gserviceaccount.com"},
    "kubernetes": {},
    "hcp": {"resource-name": "iam/project/1/service-principal/deploy/workload-identity-provider/runyard"},
    "tencentcloud": {"role-arn": "qcs::cam::uin/100:roleName/deploy"},
}
FIELDS = {
    "aws": ["shared_config_file"],
    "azure": ["client_id_file_path", "oidc_token_file_path"],
    "gcp": ["credentials"],
    "kubernetes": ["token_path"],
    "hcp": ["credential_file"],
    "tencentcloud": ["token_file", "role_arn"],
}

# Prints the environment of each of the engine's commands, of the provisioner, and the files.
LOOK = """
cd "$(dirname "$0")"
mkdir -p /tmp/seen && cp "$HOME"/env.* /tmp/seen/ 2>/dev/null
env -0 >/tmp/seen/env.provisioner
cp -a "$CREDENTIALS" /tmp/seen/credentials
echo "BEGIN$(tar -C /tmp/seen -cz . | base64 -w 0)"
"""


def credential(kind, tag="", **more):
    return {"kind": kind, "tag": tag, "token": jwt(f"{kind}{tag}"), **BY_KIND.get(kind, {}), **more}


def variable(kind, more=""):
    fields = "\n".join(f"{name} = string" for name in FIELDS[kind])
    return f'variable "tfc_{kind}_dynamic_credentials" {{\n{more}\n  type = object({{\n default = object({{\n{fields}\n}})\n aliases = map(object({{\n{fields}\n}}))\n}})\n}}\n'


def looking(kinds, command="sh ${path.root}/look.sh"):
    """Variables of the kinds are in outputs, which a plan and a state carry."""
    outputs = "".join(f'output "{kind}" {{\n  value = var.tfc_{kind}_dynamic_credentials\n}}\n' for kind in kinds)
    return {"main.tf": "".join(map(variable, kinds)) + outputs + f"""
locals {{
  token = sha256(file("${{local.folder}}/aws/default/token"))
  folder = dirname(dirname(dirname(abspath(var.tfc_aws_dynamic_credentials.default.shared_config_file))))
}}
output "token" {{
  value = local.token
}}
resource "terraform_data" "look" {{
  provisioner "local-exec" {{
    command     = "{command}"
    environment = {{ CREDENTIALS = local.folder }}
  }}
}}
""", "look.sh": LOOK}


@pytest.fixture(scope="module")
def wrapped(session_folder, engine):
    """The engine, in a script that keeps the environment of each command in the job's folder."""
    folder = session_folder / f"wrapped-{engine.program}"
    folder.mkdir(exist_ok=True)
    script = folder / engine.program
    script.write_text(f'#!/bin/sh\n[ -d "$HOME" ] && [ "$1" != version ] && env -0 >"$HOME/env.$1"\nexec {engine.path} "$@"\n')
    script.chmod(0o755)
    return {"engine": script, "sandbox_bind": engine.folder}


@pytest.fixture(scope="module")
def desks(session_folder, sandbox, engine, wrapped):
    """Two workers, each with a scheduler of its own."""
    desks = [Desk(session_folder, f"{name}-{engine.program}", sandbox, **wrapped).start() for name in ("plans", "applies")]
    yield desks
    for desk in desks:
        desk.release()


def seen(job):
    """{command: environment}, and {path: (mode, content)} of the files."""
    environments, files = {}, {}
    with tarfile.open(fileobj=io.BytesIO(decoded(job))) as packed:
        for member in packed:
            name = member.name.removeprefix("./")
            if member.isfile() and name.startswith("env."):
                pairs = packed.extractfile(member).read().decode().split("\0")
                environments[name[4:]] = dict(pair.split("=", 1) for pair in pairs if pair)
            elif member.isfile():
                files[name.removeprefix("credentials/")] = (member.mode & 0o777, packed.extractfile(member).read().decode())
            elif name == "credentials":
                assert member.mode & 0o777 == 0o700
    return environments, files


def plan_and_apply(desks, files, credentials, applied=None, **facts):
    plan = desks[0].run("plan", dict(files), credentials, **facts)
    assert plan.result["outcome"] == "passed", (plan.result, log(plan)[-3000:])
    return plan, desks[1].run("apply", {**files, "plan": plan.sent["plan"]}, credentials if applied is None else applied, **facts)


@each_engine()
def test_programs_get_files_environment_and_variables(desks, engine):
    """A plan on one worker, its apply on another."""
    credentials = [credential(kind, tag) for kind in BY_KIND for tag in ("", "PROD", "default")]
    plan, apply = plan_and_apply(desks, looking(BY_KIND), credentials, variables=[
        {"key": "AWS_ROLE_ARN", "value": "of-the-workspace", "category": "env"}, {"key": "OWN", "value": "kept", "category": "env"}])
    assert apply.result["outcome"] == "passed", (apply.result, log(apply)[-3000:])
    environments, files = seen(apply)
    environment = environments["provisioner"]
    folder = environment["AWS_WEB_IDENTITY_TOKEN_FILE"].removesuffix("/aws/default/token")
    token = {kind: jwt(kind) for kind in BY_KIND}
    expected = {
        "AWS_ROLE_ARN": BY_KIND["aws"]["role-arn"], "AWS_WEB_IDENTITY_TOKEN_FILE": f"{folder}/aws/default/token", "AWS_ROLE_SESSION_NAME": f"terraform-{apply.run}",
        "ARM_CLIENT_ID": BY_KIND["azure"]["client-id"], "ARM_USE_OIDC": "true", "ARM_OIDC_TOKEN": token["azure"],
        "GOOGLE_CREDENTIALS": f"{folder}/gcp/default/credentials.json", "GOOGLE_APPLICATION_CREDENTIALS": f"{folder}/gcp/default/credentials.json",
        "KUBE_TOKEN": token["kubernetes"], "HCP_CRED_FILE": f"{folder}/hcp/default/credentials.json", "OWN": "kept",
    }
    assert {name: environment.get(name) for name in expected} == expected
    assert folder.startswith("/") and len(files) == 3 * 10 and {mode for mode, _ in files.values()} == {0o600}

    for place, tag in (("default", ""), ("aliases/PROD", "PROD"), ("aliases/default", "default")):
        assert files[f"aws/{place}/token"][1] == jwt(f"aws{tag}")
        assert files[f"aws/{place}/config"][1] == (f"[default]\nweb_identity_token_file = {folder}/aws/{place}/token\nrole_arn = arn:aws:iam::123456789012:role/plan\n"
                                                  f"role_session_name = terraform-{apply.run}\n")
        assert files[f"azure/{place}/client-id"][1] == BY_KIND["azure"]["client-id"] and files[f"azure/{place}/token"][1] == jwt(f"azure{tag}")
        assert json.loads(files[f"gcp/{place}/credentials.json"][1]) == {
            "type": "external_account", "audience": AUDIENCE, "subject_token_type": "urn:ietf:params:oauth:token-type:jwt", "token_url": "https://sts.googleapis.com/v1/token",
            "service_account_impersonation_url": "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/deploy@project.iam.gserviceaccount.com:generateAccessToken",
            "credential_source": {"file": f"{folder}/gcp/{place}/token"}}
        assert json.loads(files[f"hcp/{place}/credentials.json"][1]) == {
            "scheme": "workload", "workload": {"provider_resource_name": BY_KIND["hcp"]["resource-name"], "file": {"path": f"{folder}/hcp/{place}/token"}}}
        assert all(files[f"{kind}/{place}/token"][1] == jwt(f"{kind}{tag}") for kind in BY_KIND)

    outputs = {name: value["value"] for name, value in json.loads(uploads_state(apply))["outputs"].items()}
    assert outputs.pop("token") == hashlib.sha256(token["aws"].encode()).hexdigest()
    assert outputs["aws"]["aliases"].keys() == {"PROD", "default"}
    assert outputs["tencentcloud"]["default"]["role_arn"] == BY_KIND["tencentcloud"]["role-arn"]
    # The paths in the plan exist on the worker of the apply.
    work = environment["PWD"]
    for value in (outputs["aws"]["aliases"]["PROD"]["shared_config_file"], outputs["gcp"]["default"]["credentials"], outputs["tencentcloud"]["default"]["token_file"]):
        path = os.path.normpath(os.path.join(work, value))
        assert path.removeprefix(f"{folder}/") in files, (work, value)

    for job in (plan, apply):
        assert "Warning" not in log(job) and "undeclared" not in log(job)
    # Installing providers gets none of it; a module may be behind a cloud's login.
    # The plan has the values of the input variables, and an engine may refuse other ones.
    assert "AWS_WEB_IDENTITY_TOKEN_FILE" in environments["apply"] and "TF_VAR_tfc_aws_dynamic_credentials" not in environments["apply"]
    assert not [name for name in environments["init"] if name.startswith(("AWS", "ARM", "GOOGLE", "KUBE", "HCP", "TF_VAR_tfc"))]
    for desk in desks:
        assert not list((desk.worker.folder / "data/jobs").glob("*/root/credentials"))


def uploads_state(job):
    """The last state that the worker has sent as a whole."""
    return [body for name, body in job.sent.items() if name.startswith("state")][-1]


@each_engine()
def test_tokens_are_in_no_log_and_no_upload(desks):
    """Also with the most verbose log, and with a provisioner that prints them."""
    credentials = [credential(kind, tag) for kind in BY_KIND for tag in ("", "B")]
    command = "env; find $CREDENTIALS -type f -exec cat {} +; cat /proc/self/environ | tr '\\\\0' '\\\\n'; echo printed"
    plan, apply = plan_and_apply(desks, looking(BY_KIND, command), credentials, debug=True)
    assert apply.result["outcome"] == "passed" and "printed" in printed(apply) and printed(apply).count("(sensitive value)") >= 2 * len(BY_KIND)
    for job in (plan, apply):
        assert "TRACE" in log(job)
        with_plan = uploads(job)
        for name, body in job.sent.items():
            if name == "plan":
                with zipfile.ZipFile(io.BytesIO(body)) as packed:
                    with_plan += b"".join(packed.read(file) for file in packed.namelist())
            if name == "init":
                with tarfile.open(fileobj=io.BytesIO(body)) as packed:
                    with_plan += b"".join(packed.extractfile(member).read() for member in packed if member.isfile())
        for item in credentials:
            assert item["token"] not in log(job) and item["token"].split(".")[1] not in log(job), item["kind"]
            assert item["token"].encode() not in with_plan, item["kind"]
    for desk in desks:
        assert not [item for item in credentials if item["token"] in desk.worker.process.log()]


@each_engine()
def test_a_plan_and_its_apply_have_roles_of_their_own(desks):
    """The files and the environment are the apply's. The plan carries the variables, also those that differ."""
    of = lambda role: [credential("aws", **{"role-arn": f"arn:aws:iam::123456789012:role/{role}"}), credential("tencentcloud", **{"role-arn": f"qcs::cam::uin/100:roleName/{role}"})]
    plan, apply = plan_and_apply(desks, looking(["aws", "tencentcloud"]), of("plan"), applied=of("apply"))
    assert apply.result["outcome"] == "passed", log(apply)
    assert "arning" not in log(apply) and json.loads(uploads_state(apply))["outputs"]["tencentcloud"]["value"]["default"]["role_arn"].endswith("/plan")
    environments, files = seen(apply)
    assert environments["provisioner"]["AWS_ROLE_ARN"].endswith(":role/apply") and "role_arn = arn:aws:iam::123456789012:role/apply\n" in files["aws/default/config"][1]


@each_engine()
def test_ephemeral_variables_have_the_values_of_the_apply(desks, engine):
    """Of a plan's variables, only ephemeral ones can change."""
    if engine.is_before(tofu=(1, 11)):
        pytest.skip("OpenTofu has ephemeral variables from 1.11 on")
    files = {"main.tf": variable("tencentcloud", "  ephemeral = true") + """
resource "terraform_data" "look" {
  provisioner "local-exec" {
    command     = "echo ROLE=$ROLE"
    environment = { ROLE = var.tfc_tencentcloud_dynamic_credentials.default.role_arn }
  }
}
"""}
    plan, apply = plan_and_apply(desks, files, [credential("tencentcloud")], applied=[credential("tencentcloud", **{"role-arn": "qcs::cam::uin/100:roleName/apply"})])
    assert apply.result["outcome"] == "passed", log(apply)
    assert "suppressed" in printed(apply) or "ROLE=qcs::cam::uin/100:roleName/apply" in printed(apply)


def test_a_default_that_is_missing_is_empty(desks):
    files = looking(["aws"])
    files["main.tf"] = variable("aws") + 'output "seen" {\n  value = var.tfc_aws_dynamic_credentials\n}\n'
    plan, apply = plan_and_apply(desks, files, [credential("aws", "ONLY")])
    assert apply.result["outcome"] == "passed", log(apply)
    found = json.loads(uploads_state(apply))["outputs"]["seen"]["value"]
    assert found["default"] == {"shared_config_file": ""} and found["aliases"]["ONLY"]["shared_config_file"].endswith("credentials/aws/aliases/ONLY/config")


@pytest.mark.parametrize("kind", ["auto", "none"])
def test_paths_of_a_plan_fit_on_the_worker_of_its_apply(session_folder, kind):
    """Also without a sandbox, where each job has paths of its own. The apply reads its own token there."""
    files = {"envs/prod/main.tf": variable("kubernetes") + """
output "planned" {
  value = sha256(file(var.tfc_kubernetes_dynamic_credentials.default.token_path))
}
resource "terraform_data" "one" {
  provisioner "local-exec" {
    command = "sha256sum <${var.tfc_kubernetes_dynamic_credentials.aliases["B"].token_path}; ls -l ${var.tfc_kubernetes_dynamic_credentials.aliases["B"].token_path}"
  }
}
"""}
    desks = [Desk(session_folder, f"{name}-{kind}", kind).start() for name in ("plans", "applies")]
    try:
        of = lambda name: [credential("kubernetes", token=jwt(name)), credential("kubernetes", "B", token=jwt(name + "B"))]
        plan, apply = plan_and_apply(desks, files, of("plan"), applied=of("apply"), working_directory="envs/prod")
    finally:
        for desk in desks:
            desk.release()
    assert apply.result["outcome"] == "passed", log(apply)
    assert hashlib.sha256(jwt("applyB").encode()).hexdigest() in printed(apply) and "-rw-------" in printed(apply)
    assert json.loads(uploads_state(apply))["outputs"]["planned"]["value"] in [hashlib.sha256(jwt(name).encode()).hexdigest() for name in ("plan", "apply")]


def test_a_configuration_need_not_declare_the_variables(desks):
    plan, apply = plan_and_apply(desks, {"main.tf": 'resource "terraform_data" "one" {}\n'}, [credential(kind) for kind in BY_KIND])
    assert apply.result["outcome"] == "passed" and "arning" not in log(plan) + log(apply)


def test_the_principal_of_a_pool_needs_no_service_account(desks):
    _, apply = plan_and_apply(desks, looking(["aws"]), [credential("aws"), credential("gcp", **{"service-account": ""})])
    assert "service_account_impersonation_url" not in json.loads(seen(apply)[1]["gcp/default/credentials.json"][1])


SENTENCE = 'TFC_AWS_PROVIDER_AUTH is true, but TFC_AWS_RUN_ROLE_ARN is not set.'


@pytest.mark.parametrize("stage", ["plan", "apply"])
def test_a_refused_job_runs_nothing(desks, stage):
    files = {"main.tf": 'resource "terraform_data" "one" {}\n', "plan": b"no plan"}
    job = desks[0].run(stage, files, [], refusal=SENTENCE)
    assert job.result["outcome"] == "errored" and job.result["error"] == SENTENCE and log(job) == SENTENCE + "\n"
    assert not job.asked and "started" not in job.sent


HOSTILE = [
    ("aws", {"role-arn": "arn\ncredential_process = touch /tmp/x"}, "role-arn"), ("aws", {"role-arn": ""}, "role-arn is missing"), ("aws", {"role-arn": "a b"}, "role-arn"),
    ("aws", {"token": "x y"}, "token"), ("aws", {"tag": "../../x"}, "tag"), ("aws", {"tag": "A" * 200}, "tag"), ("aws", {"role-arn": "a" * 20000}, "role-arn"),
    ("azure", {"client-id": "a\0b".replace("\0", "\x01")}, "client-id"), ("gcp", {"service-account": "x/../y@z"}, "service-account"), ("gcp", {"audience": '"'}, "audience"),
    ("../x", {}, "does not know"), ("hcp", {"resource-name": "a\nb"}, "resource-name"), ("vault", {"address": "file:///etc/passwd"}, "address"),
    ("vault-backed-aws", {"vault": "", "auth-type": "iam_user", "mount-path": "aws", "role": "x"}, "missing"),
]
VAULT = {"address": "https://vault.example.com", "namespace": "", "auth-path": "jwt", "role": "r", "encoded-ca-certificate": ""}


@pytest.mark.parametrize("kind,values,word", HOSTILE, ids=[f"{kind.strip('./')}-{number}" for number, (kind, _, _) in enumerate(HOSTILE)])
def test_hostile_values_are_refused(desks, kind, values, word):
    item = {**credential(kind), **(VAULT if kind == "vault" else {}), **values}
    job = desks[0].run("plan", looking(["aws"]), [item])
    assert job.result["outcome"] == "errored" and word in job.result["error"], job.result
    assert job.result["error"] in log(job) and "plan" not in job.sent and len(job.result["error"]) < 600


def test_quotes_stay_values(desks):
    """They reach files in JSON, the environment, and an expression of the engine."""
    value = 'x"${path.root}%{ if true }\\ \'`$(id)'
    _, apply = plan_and_apply(desks, looking(["aws"]), [credential("aws"), credential("hcp", **{"resource-name": value}), credential("azure", **{"client-id": value})])
    environments, files = seen(apply)
    assert environments["provisioner"]["ARM_CLIENT_ID"] == value and files["azure/default/client-id"][1] == value
    assert json.loads(files["hcp/default/credentials.json"][1])["workload"]["provider_resource_name"] == value


def test_other_stages_get_no_credentials(desks):
    """A stage ignores what the scheduler does not send it."""
    job = desks[0].scheduler.offer("cost", {"plan-json": {"format_version": "1.2", "planned_values": {}, "resource_changes": []}}, credentials=[credential("aws")])
    from support.wait import until
    until(lambda: job.result, "the result")
    assert job.result["outcome"] == "passed" and jwt("aws") not in json.dumps([body.decode() for body in job.sent.values()])


def test_a_result_of_init_is_kept_for_the_same_credentials_alone(desks):
    """Modules may be fetched with them."""
    files = {"main.tf": 'module "own" {\n  source = "./own"\n}\n', "own/main.tf": 'resource "terraform_data" "one" {}\n'}
    worker = desks[0].worker

    def reused(role, workspace="ws-AAAAAAAAAAAAAAAA"):
        before = worker.metric("runyard_worker_inits_reused_total")
        job = desks[0].run("plan", dict(files), [{**credential("aws", **{"role-arn": role}), "token": jwt(role + workspace)}], workspace={"id": workspace, "name": "network"})
        assert job.result["outcome"] == "passed", log(job)
        return worker.metric("runyard_worker_inits_reused_total") > before

    assert [reused("a"), reused("a"), reused("b"), reused("b", "ws-BBBBBBBBBBBBBBBB"), reused("b")] == [False, True, False, False, True]


def test_workers_say_that_they_can(desks):
    for desk in desks:
        assert "identity" in [line for line in desk.worker.log_lines() if line["msg"] == "worker started"][-1]["capabilities"].split(", ")
