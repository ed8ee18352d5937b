# SPDX-License-Identifier: MPL-2.0
"""What the official SDKs of AWS, Google Cloud and Azure make of the credentials of real runs, inside of these runs."""

import json
import shutil
import subprocess
import uuid

import pytest

from support.clouds import Moto, TokenServer, prepared
from support.identity_page import pasted
from support.identity_site import ROLES, open_identity_site, subject, with_variable
from support.site import new_folder

AWS = """import boto3, os
print("AWS", os.environ["PHASE"], boto3.client("sts", region_name="eu-central-1").get_caller_identity()["Arn"], flush=True)
"""
# The hosts of Google's servers are in the file. The SDK lets its user send the requests, here to the test's server.
GOOGLE = """import google.auth, google.auth.transport.requests, os, sys
from urllib.parse import urlsplit
asked = []
class Here(google.auth.transport.requests.Request):
    def __call__(self, url, **more):
        asked.append(url)
        return super().__call__(os.environ["TOKEN_SERVER"] + urlsplit(url).path, **more)
file = sys.argv[1] if len(sys.argv) > 1 else os.environ["GOOGLE_APPLICATION_CREDENTIALS"]
credentials, _ = google.auth.load_credentials_from_file(file, scopes=["https://www.googleapis.com/auth/cloud-platform"], request=Here())  # asks for the project
print("GOOGLE", os.environ["PHASE"], type(credentials).__module__, credentials.service_account_email, credentials.token[:9], *asked, flush=True)
"""
# Azure's SDK sends assertions only by https, so its transport has the test's server in Microsoft's place.
AZURE = """import os, sys
from urllib.parse import urlsplit
from azure.core.pipeline.transport import RequestsTransport
from azure.identity import ClientAssertionCredential, WorkloadIdentityCredential
class Here(RequestsTransport):
    def send(self, request, **more):
        request.url = os.environ["TOKEN_SERVER"] + urlsplit(request.url).path
        return super().send(request, **more)
more = {"disable_instance_discovery": True, "transport": Here()}
if len(sys.argv) > 1:
    credential = WorkloadIdentityCredential(tenant_id="tenant", client_id=open(sys.argv[1]).read(), token_file_path=sys.argv[2], **more)
else:
    assert os.environ["ARM_USE_OIDC"] == "true"
    credential = ClientAssertionCredential("tenant", os.environ["ARM_CLIENT_ID"], lambda: os.environ["ARM_OIDC_TOKEN"], **more)
print("AZURE", os.environ["PHASE"], credential.get_token("https://management.azure.com/.default").token[:9], flush=True)
"""
POOL = "projects/12/locations/global/workloadIdentityPools/pool/providers/runyard"


@pytest.fixture(scope="module")
def moto():
    folder = new_folder("moto")
    server = Moto(folder).start()
    yield server
    server.release()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def tokens_of():
    server = TokenServer()
    yield server
    server.release()


@pytest.fixture(scope="module")
def site(postgres, sandbox, engine, moto, tokens_of):
    with open_identity_site(postgres, sandbox, engine, [moto.port, tokens_of.port], [prepared()]) as site:
        tokens_of.scheduler = site.scheduler
        site.look = {name: f"{prepared()}/bin/python {site.program(f'look_{name}.py', text)}" for name, text in (("aws", AWS), ("google", GOOGLE), ("azure", AZURE))}
        site.common = {"AWS_ENDPOINT_URL": moto.url, "TOKEN_SERVER": f"http://127.0.0.1:{tokens_of.port}"}
        yield site


@pytest.fixture
def name(request):
    return f"{request.node.name.removeprefix('test_')[:40]}-{uuid.uuid4().hex[:6]}"


def role(name):
    return f"arn:aws:iam::123456789012:role/{name}"


def test_aws_gives_plan_and_apply_their_roles(site, name):
    made = site.workspace(name, site.look["aws"], {**site.common, "TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_PLAN_ROLE_ARN": role("reader"), "TFC_AWS_APPLY_ROLE_ARN": role("writer")})
    run = site.run(made)
    site.api.wait_status(run, "applied")
    for phase, own in zip(ROLES, ("reader", "writer")):
        assert f"AWS {phase} arn:aws:sts::123456789012:assumed-role/{own}/terraform-{run}" in site.api.log(run, phase)


MAKE_ROLE = """import boto3, json, sys
made = boto3.client("iam", region_name="us-east-1").create_role(**json.loads(sys.argv[1]))
print(made["Role"]["Arn"])
"""


def test_aws_takes_the_trust_policies_of_the_identity_page(site, moto, name, tmp_path):
    """moto checks the form of a trust policy, and takes every identity."""
    made = site.workspace(name, site.look["aws"], site.common)
    texts, variables = pasted(tmp_path, "aws", {"id": made, "organization": "acme", **site.api.get(f"workspaces/{made}/workload-identity").data["attributes"]})
    environment = {"AWS_ENDPOINT_URL": moto.url, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
    for title, role_name in (("Trust policy of the role for plans", "PLAN_ROLE"), ("Trust policy of the role for applies", "APPLY_ROLE")):
        role = {"RoleName": f"{name}-{role_name}", "AssumeRolePolicyDocument": texts[title].replace("ACCOUNT_ID", "123456789012")}
        done = subprocess.run([prepared() / "bin/python", "-c", MAKE_ROLE, json.dumps(role)], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        variables = {key: value.replace(f"arn:aws:iam::ACCOUNT_ID:role/{role_name}", done.stdout.strip()) for key, value in variables.items()}
    for key, value in variables.items():
        site.api.variable(made, key, value, category="env")
    for phase, log in zip(ROLES, site.applied(made)):
        assert f"assumed-role/{name}-{phase.upper()}_ROLE/" in log


def test_aws_gives_a_tag_its_role(site, name):
    """By the shared configuration file, as two configurations of the aws provider do."""
    made = site.workspace(name, "true", {**site.common, "TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_RUN_ROLE_ARN": role("plain"),
                                         "TFC_AWS_PROVIDER_AUTH_PROD": "true", "TFC_AWS_RUN_ROLE_ARN_PROD": role("tagged")})
    look = (f"env -u AWS_ROLE_ARN -u AWS_WEB_IDENTITY_TOKEN_FILE -u AWS_ROLE_SESSION_NAME AWS_CONFIG_FILE=${{FILE}} {site.look['aws']}"
            .replace("${FILE}", "${var.tfc_aws_dynamic_credentials.PLACE.shared_config_file}"))
    both = " && ".join(look.replace("PLACE", place) for place in ("default", 'aliases[\\"PROD\\"]')).replace('\\"', '"')
    log = site.applied(made, with_variable("aws", ["shared_config_file"], both))[1]
    assert "assumed-role/plain/" in log and "assumed-role/tagged/" in log


def test_google_exchanges_the_identity(site, tokens_of, name):
    settings = {"TFC_GCP_PROVIDER_AUTH": "true", "TFC_GCP_PLAN_SERVICE_ACCOUNT_EMAIL": "reader@p.iam.gserviceaccount.com", "TFC_GCP_APPLY_SERVICE_ACCOUNT_EMAIL": "writer@p.iam.gserviceaccount.com",
                "TFC_GCP_WORKLOAD_PROVIDER_NAME": POOL}
    tokens_of.seen.clear()
    logs = site.applied(site.workspace(name, site.look["google"], {**site.common, **settings}))
    for phase, account, log in zip(ROLES, ("reader", "writer"), logs):
        impersonation = f"v1/projects/-/serviceAccounts/{account}@p.iam.gserviceaccount.com:generateAccessToken"
        assert (f"GOOGLE {phase} google.auth.identity_pool {account}@p.iam.gserviceaccount.com token-of- https://sts.googleapis.com/v1/token "
                f"https://iamcredentials.googleapis.com/{impersonation}") in log
        path, form, claims = tokens_of.seen.pop(0)
        assert path == "/v1/token" and form["audience"] == claims["aud"] == f"//iam.googleapis.com/{POOL}" and claims["sub"] == subject(name, phase)
        assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:token-exchange" and form["subject_token_type"] == "urn:ietf:params:oauth:token-type:jwt"
        path, _, bearer = tokens_of.seen.pop(0)
        assert path == f"/{impersonation}" and bearer == "Bearer token-of-the-identity"
    assert not tokens_of.seen


def test_google_exchanges_the_identity_of_a_tag(site, tokens_of, name):
    settings = {"TFC_GCP_PROVIDER_AUTH_B": "true", "TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL_B": "b@p.iam.gserviceaccount.com", "TFC_GCP_WORKLOAD_PROVIDER_NAME_B": POOL}
    look = f"{site.look['google']} ${{var.tfc_gcp_dynamic_credentials.aliases[\"B\"].credentials}}"
    log = site.applied(site.workspace(name, "true", {**site.common, **settings}), with_variable("gcp", ["credentials"], look))[1]
    assert "GOOGLE apply google.auth.identity_pool b@p.iam.gserviceaccount.com" in log


def test_azure_exchanges_the_identity(site, tokens_of, name):
    settings = {"TFC_AZURE_PROVIDER_AUTH": "true", "TFC_AZURE_PLAN_CLIENT_ID": "reader", "TFC_AZURE_APPLY_CLIENT_ID": "writer"}
    tokens_of.seen.clear()
    logs = site.applied(site.workspace(name, site.look["azure"], {**site.common, **settings}))
    for phase, client, log in zip(ROLES, ("reader", "writer"), logs):
        assert f"AZURE {phase} token-of-" in log
        path, form, claims = tokens_of.seen.pop(0)
        assert path == "/tenant/oauth2/v2.0/token" and form["client_id"] == client and claims["aud"] == "api://AzureADTokenExchange" and claims["sub"] == subject(name, phase)
        assert form["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer" and form["grant_type"] == "client_credentials"


def test_azure_exchanges_the_identity_of_a_tag(site, tokens_of, name):
    settings = {"TFC_AZURE_PROVIDER_AUTH_B": "true", "TFC_AZURE_RUN_CLIENT_ID_B": "tagged"}
    tokens_of.seen.clear()
    files = " ".join(f"${{var.tfc_azure_dynamic_credentials.aliases[\"B\"].{field}}}" for field in ("client_id_file_path", "oidc_token_file_path"))
    log = site.applied(site.workspace(name, "true", {**site.common, **settings}), with_variable("azure", ["client_id_file_path", "oidc_token_file_path"], f"{site.look['azure']} {files}"))[1]
    ((_, form, claims),) = tokens_of.seen
    assert "AZURE apply token-of-" in log and form["client_id"] == "tagged" and claims["sub"] == subject(name, "apply")
