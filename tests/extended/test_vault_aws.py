# SPDX-License-Identifier: MPL-2.0
"""Keys of AWS that a real Vault makes for runs, at a server with AWS's API (moto)."""

import json
import shutil
import subprocess

import pytest

from support.clouds import Moto, prepared
from support.engine import each_engine
from support.gate import Gate
from support.identity_site import open_identity_site, subject
from support.site import new_folder
from support.vault import Vault
from support.wait import until

pytestmark = each_engine()

WHO = """import boto3, os
print("AWS", os.environ["PHASE"], os.environ["AWS_ACCESS_KEY_ID"][:4], bool(os.environ["AWS_SESSION_TOKEN"]), boto3.client("sts", region_name="us-east-1").get_caller_identity()["Arn"], flush=True)
"""
ACCOUNT = "123456789012"
ALLOW = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "ec2:*", "Resource": "*"}]}'


@pytest.fixture(scope="module")
def servers():
    folder = new_folder("vault")
    moto, vault = Moto(folder).start(), Vault(folder)
    vault.start()
    yield moto, vault
    vault.release()
    moto.release()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def site(postgres, sandbox, engine, servers):
    moto, vault = servers
    with open_identity_site(postgres, sandbox, engine, [moto.port, vault.port], [prepared()]) as site:
        site.look = f"{prepared()}/bin/python {site.program('look_aws.py', WHO)}"
        vault.trust(site.scheduler.url)
        vault.call("POST", "sys/mounts/aws", {"type": "aws"})
        vault.call("POST", "aws/config/root", {"access_key": "AKIAIOSFODNN7EXAMPLE", "secret_key": "test", "region": "us-east-1", "iam_endpoint": moto.url, "sts_endpoint": moto.url,
                                               "sts_region": "us-east-1"})
        vault.policy("aws", 'path "aws/*" { capabilities = ["read", "update"] }')
        yield site
        vault.call("DELETE", "sys/mounts/aws")
        vault.distrust()


TYPES = {
    "assumed_role": ({"role_arns": [f"arn:aws:iam::{ACCOUNT}:role/deploy"]}, {"RUN_ROLE_ARN": f"arn:aws:iam::{ACCOUNT}:role/deploy"}, f"ASIA True arn:aws:sts::{ACCOUNT}:assumed-role/deploy/"),
    "iam_user": ({"policy_document": ALLOW}, {}, f"AKIA False arn:aws:iam::{ACCOUNT}:user/vault-"),
    "federation_token": ({"policy_document": ALLOW}, {}, "AKIA True arn:aws:"),  # moto does not know who has these keys
}


@pytest.mark.parametrize("kind", TYPES)
def test_runs_get_keys_of_aws(site, servers, kind):
    moto, vault = servers
    role, more, expected = TYPES[kind]
    name = kind.replace("_", "-")
    vault.role(name, subject(name, "*"), "aws")
    vault.call("POST", f"aws/roles/{name}", {"credential_type": kind, **role})
    place = site.workspace(name, site.look, {
        "AWS_ENDPOINT_URL": moto.url, "TFC_VAULT_PROVIDER_AUTH": "true", "TFC_VAULT_ADDR": vault.url, "TFC_VAULT_RUN_ROLE": name, "TFC_VAULT_BACKED_AWS_AUTH": "true",
        "TFC_VAULT_BACKED_AWS_AUTH_TYPE": kind, "TFC_VAULT_BACKED_AWS_RUN_VAULT_ROLE": name, **{f"TFC_VAULT_BACKED_AWS_{key}": value for key, value in more.items()}})
    for phase, log in zip(("plan", "apply"), site.applied(place)):
        assert f"AWS {phase} {expected}" in log, log


def users(moto):
    """The names of AWS's users."""
    script = "import boto3, json; print(json.dumps([user['UserName'] for user in boto3.client('iam', region_name='us-east-1').list_users()['Users']]))"
    environment = {"AWS_ENDPOINT_URL": moto.url, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    return set(json.loads(subprocess.run([prepared() / "bin/python", "-c", script], env=environment, capture_output=True, text=True, check=True).stdout))


def test_a_killed_worker_leaves_keys_until_its_token_ends(site, servers, engine):
    """Nothing renews or revokes the token. Vault ends it, and the user that it made, when its time is over."""
    moto, vault = servers
    name = f"killed-{engine.program}"
    gate = Gate(site.gates, name)
    vault.role(name, subject(name, "*"), "aws", token_ttl="6s")
    vault.call("POST", f"aws/roles/{name}", {"credential_type": "iam_user", "policy_document": ALLOW})
    before = users(moto)
    place = site.workspace(name, gate.command, {
        "TFC_VAULT_PROVIDER_AUTH": "true", "TFC_VAULT_ADDR": vault.url, "TFC_VAULT_RUN_ROLE": name, "TFC_VAULT_BACKED_AWS_AUTH": "true",
        "TFC_VAULT_BACKED_AWS_AUTH_TYPE": "iam_user", "TFC_VAULT_BACKED_AWS_RUN_VAULT_ROLE": name})
    run = site.run(place)
    gate.wait()
    ((_, token),) = vault.logins(name)
    until(lambda: vault.answered("auth/token/renew-self"), "the token is renewed")
    assert vault.valid(token) and len(users(moto) - before) == 1
    site.worker.kill()
    until(lambda: not vault.valid(token), "the token ends")
    until(lambda: users(moto) == before, "Vault deletes the user")
    assert token not in [line["auth"]["client_token"] for line in vault.answered("auth/token/revoke-self")]
    gate.open()
    site.worker.start()
    site.api.wait_status(run, "applied")
    assert len(vault.logins(name)) == 3  # the killed attempt's, the plan's and the apply's
