# SPDX-License-Identifier: MPL-2.0
"""Dynamic credentials: what a job gets for the variables of its workspace, as HCP Terraform documents them."""

import uuid

import pytest

from integration.identity.test_workload_identity import verified

ENGINE = ["terraform 1.11.4"]
GCP = "projects/12/locations/global/workloadIdentityPools/pool/providers/mine"


@pytest.fixture
def place(api_site):
    """An organization with a pool, a worker that can use credentials, and workspaces with variables."""

    class Place:
        def __init__(self):
            self.api = api_site.organization()
            self.pool, self.token = self.api.pool()
            self.worker = api_site.fake_worker(self.token, capabilities=[*ENGINE, "identity"])

        def workspace(self, variables):
            workspace = self.api.workspace(**{"execution-mode": "agent", "agent-pool-id": self.pool})
            for key, value in variables.items():
                self.api.variable(workspace, key, value, category="env")
            return workspace

        def plan(self, variables):
            self.run = self.api.run_files(self.workspace(variables), {"main.tf": ""})
            return self.worker.take(self.run, "plan")

        def apply(self, variables):
            self.worker.end(self.plan(variables), **{"has-changes": True, "additions": 1})
            self.api.post(f"runs/{self.run}/actions/apply")
            return self.worker.take(self.run, "apply")

    return Place()


def wanted(scheduler, job):
    """The credentials of a job by (kind, tag), with the audience of the token in the token's place."""
    assert "refusal" not in job, job["refusal"]
    found = {}
    for item in job.get("credentials", []):
        rest = dict(item)
        if "token" in rest:
            claims = verified(scheduler, rest.pop("token"))
            assert claims["sub"].endswith(f":run_phase:{job['stage']}") and claims["terraform_run_id"] == job["run"]
            rest["aud"] = claims["aud"]
        found[rest.pop("kind"), rest.pop("tag")] = rest
    return found


KINDS = {
    "aws": ({"TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_RUN_ROLE_ARN": "arn:run"}, {"role-arn": "arn:run", "aud": "aws.workload.identity"}),
    "aws audience": ({"TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_RUN_ROLE_ARN": "a", "TFC_AWS_WORKLOAD_IDENTITY_AUDIENCE": "mine"}, {"role-arn": "a", "aud": "mine"}),
    "azure": ({"TFC_AZURE_PROVIDER_AUTH": "true", "TFC_AZURE_RUN_CLIENT_ID": "client"}, {"client-id": "client", "aud": "api://AzureADTokenExchange"}),
    "gcp": ({"TFC_GCP_PROVIDER_AUTH": "true", "TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL": "a@b.example", "TFC_GCP_PROJECT_NUMBER": "12",
             "TFC_GCP_WORKLOAD_POOL_ID": "pool", "TFC_GCP_WORKLOAD_PROVIDER_ID": "mine"},
            {"service-account": "a@b.example", "audience": f"//iam.googleapis.com/{GCP}", "aud": f"//iam.googleapis.com/{GCP}"}),
    "gcp whole": ({"TFC_GCP_PROVIDER_AUTH": "true", "TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL": "a@b.example", "TFC_GCP_PROJECT_NUMBER": "9",
                   "TFC_GCP_WORKLOAD_PROVIDER_NAME": GCP, "TFC_GCP_WORKLOAD_IDENTITY_AUDIENCE": "mine"},
                  {"service-account": "a@b.example", "audience": f"//iam.googleapis.com/{GCP}", "aud": "mine"}),
    "gcp pool": ({"TFC_GCP_PROVIDER_AUTH": "true", "TFC_GCP_PRINCIPAL_TYPE": "workload_pool", "TFC_GCP_WORKLOAD_PROVIDER_NAME": GCP},
                 {"audience": f"//iam.googleapis.com/{GCP}", "aud": f"//iam.googleapis.com/{GCP}"}),
    "kubernetes": ({"TFC_KUBERNETES_PROVIDER_AUTH": "true", "TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE": "k8s"}, {"aud": "k8s"}),
    "hcp": ({"TFC_HCP_PROVIDER_AUTH": "true", "TFC_HCP_RUN_PROVIDER_RESOURCE_NAME": "iam/p"}, {"resource-name": "iam/p", "aud": "iam/p"}),
    "tencentcloud": ({"TFC_TENCENTCLOUD_PROVIDER_AUTH": "true", "TFC_TENCENTCLOUD_RUN_ROLE_ARN": "qcs"}, {"role-arn": "qcs", "aud": "tencentcloud.workload.identity"}),
    "vault": ({"TFC_VAULT_PROVIDER_AUTH": "true", "TFC_VAULT_ADDR": "https://v", "TFC_VAULT_RUN_ROLE": "r"},
              {"address": "https://v", "role": "r", "namespace": "", "auth-path": "jwt", "encoded-ca-certificate": "", "client-timeout": "", "aud": "vault.workload.identity"}),
    "vault all": ({"TFC_VAULT_PROVIDER_AUTH": "true", "TFC_VAULT_ADDR": "https://v", "TFC_VAULT_RUN_ROLE": "r", "TFC_VAULT_NAMESPACE": "n",
                   "TFC_VAULT_AUTH_PATH": "jwt/x", "TFC_VAULT_ENCODED_CACERT": "LS0t", "TFC_VAULT_WORKLOAD_IDENTITY_AUDIENCE": "mine",
                   "TFC_VAULT_CLIENT_TIMEOUT": "90"},
                  {"address": "https://v", "role": "r", "namespace": "n", "auth-path": "jwt/x", "encoded-ca-certificate": "LS0t", "client-timeout": "90", "aud": "mine"}),
}


@pytest.mark.parametrize("name", KINDS)
def test_each_kind_has_its_settings_and_an_identity(api_site, place, name):
    variables, settings = KINDS[name]
    assert wanted(api_site.scheduler, place.plan(variables)) == {(name.partition(" ")[0], ""): settings}


def test_plan_and_apply_have_their_own_roles(api_site, place):
    variables = {"TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_PLAN_ROLE_ARN": "arn:plan", "TFC_AWS_APPLY_ROLE_ARN": "arn:apply",
                 "TFC_AWS_RUN_ROLE_ARN": "arn:run", "TFC_AZURE_PROVIDER_AUTH": "true", "TFC_AZURE_RUN_CLIENT_ID": "both"}
    apply = place.apply(variables)
    found = wanted(api_site.scheduler, apply)
    assert found["aws", ""]["role-arn"] == "arn:apply" and found["azure", ""]["client-id"] == "both"
    assert wanted(api_site.scheduler, place.plan(variables))["aws", ""]["role-arn"] == "arn:plan"


def test_tags_and_defaults(api_site, place):
    """What a tag lacks comes from the TFC_DEFAULT_ variables, and never from those of another tag or of none."""
    found = wanted(api_site.scheduler, place.plan({
        "TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_RUN_ROLE_ARN": "arn:plain", "TFC_AWS_PROVIDER_AUTH_A": "true", "TFC_AWS_RUN_ROLE_ARN_A": "arn:a",
        "TFC_AWS_PROVIDER_AUTH_B_2": "true", "TFC_DEFAULT_AWS_PLAN_ROLE_ARN": "arn:default-plan", "TFC_DEFAULT_AWS_RUN_ROLE_ARN": "arn:default",
        "TFC_DEFAULT_AWS_WORKLOAD_IDENTITY_AUDIENCE": "all", "TFC_AWS_WORKLOAD_IDENTITY_AUDIENCE_A": "of-a", "TFC_AWS_PROVIDER_AUTH_OFF": "false"}))
    assert found == {("aws", ""): {"role-arn": "arn:plain", "aud": "all"}, ("aws", "A"): {"role-arn": "arn:a", "aud": "of-a"},
                     ("aws", "B_2"): {"role-arn": "arn:default-plan", "aud": "all"}}


VAULT = {"TFC_VAULT_PROVIDER_AUTH": "true", "TFC_VAULT_ADDR": "https://v", "TFC_VAULT_RUN_ROLE": "r"}


def test_vault_backed_credentials_have_no_identity_of_their_own(api_site, place):
    found = wanted(api_site.scheduler, place.plan({
        **VAULT, "TFC_VAULT_PROVIDER_AUTH_V2": "true", "TFC_VAULT_ADDR_V2": "https://v2", "TFC_VAULT_RUN_ROLE_V2": "r2",
        "TFC_VAULT_BACKED_AWS_AUTH": "true", "TFC_VAULT_BACKED_AWS_AUTH_TYPE": "assumed_role", "TFC_VAULT_BACKED_AWS_RUN_VAULT_ROLE": "role",
        "TFC_VAULT_BACKED_AWS_RUN_ROLE_ARN": "arn:a", "TFC_VAULT_BACKED_AWS_SLEEP_SECONDS": "30",
        "TFC_VAULT_BACKED_AWS_AUTH_U": "true", "TFC_VAULT_BACKED_AWS_AUTH_TYPE_U": "iam_user", "TFC_VAULT_BACKED_AWS_RUN_VAULT_ROLE_U": "user",
        "TFC_VAULT_BACKED_AWS_VAULT_CONFIG_U": "V2", "TFC_VAULT_BACKED_AWS_MOUNT_PATH_U": "aws/two",
        "TFC_VAULT_BACKED_AZURE_AUTH": "true", "TFC_VAULT_BACKED_AZURE_PLAN_VAULT_ROLE": "planner", "TFC_VAULT_BACKED_AZURE_APPLY_VAULT_ROLE": "applier",
        "TFC_VAULT_BACKED_GCP_AUTH": "true", "TFC_VAULT_BACKED_GCP_AUTH_TYPE": "static_account/access_token", "TFC_VAULT_BACKED_GCP_RUN_VAULT_STATIC_ACCOUNT": "static"}))
    assert {key: value for key, value in found.items() if key[0] != "vault"} == {
        ("vault-backed-aws", ""): {"auth-type": "assumed_role", "role": "role", "role-arn": "arn:a", "mount-path": "aws", "sleep-seconds": "30", "vault": ""},
        ("vault-backed-aws", "U"): {"auth-type": "iam_user", "role": "user", "mount-path": "aws/two", "sleep-seconds": "0", "vault": "V2"},
        ("vault-backed-azure", ""): {"role": "planner", "mount-path": "azure", "sleep-seconds": "0", "vault": ""},
        ("vault-backed-gcp", ""): {"auth-type": "static_account/access_token", "role": "static", "mount-path": "gcp", "vault": ""}}
    assert found["vault", "V2"]["address"] == "https://v2"


REFUSED = {
    "no role": ({"TFC_AWS_PROVIDER_AUTH": "true"}, "TFC_AWS_PROVIDER_AUTH is true, but TFC_AWS_RUN_ROLE_ARN is not set."),
    "an empty role": ({"TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_RUN_ROLE_ARN": ""}, "TFC_AWS_PROVIDER_AUTH is true, but TFC_AWS_RUN_ROLE_ARN is not set."),
    "the role of another tag": ({"TFC_AWS_PROVIDER_AUTH_A": "true", "TFC_AWS_RUN_ROLE_ARN": "a"}, "TFC_AWS_PROVIDER_AUTH_A is true, but TFC_AWS_RUN_ROLE_ARN_A is not set."),
    "none for the apply": ({"TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_PLAN_ROLE_ARN": "a"}, "TFC_AWS_PROVIDER_AUTH is true, but TFC_AWS_RUN_ROLE_ARN is not set."),
    "no Kubernetes audience": ({"TFC_KUBERNETES_PROVIDER_AUTH": "true"},
                               "TFC_KUBERNETES_PROVIDER_AUTH is true, but TFC_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE is not set."),
    "no provider": ({"TFC_GCP_PROVIDER_AUTH": "true", "TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL": "a", "TFC_GCP_PROJECT_NUMBER": "1"},
                    "TFC_GCP_PROVIDER_AUTH is true, but neither TFC_GCP_WORKLOAD_PROVIDER_NAME nor TFC_GCP_WORKLOAD_POOL_ID is set."),
    "another principal": ({"TFC_GCP_PROVIDER_AUTH": "true", "TFC_GCP_PRINCIPAL_TYPE": "me", "TFC_GCP_WORKLOAD_PROVIDER_NAME": GCP},
                          "TFC_GCP_PROVIDER_AUTH is true, but the type of its authentication is none of service_account, workload_pool."),
    "a tag with a sign": ({"TFC_AWS_PROVIDER_AUTH_a-b": "true"}, "TFC_AWS_PROVIDER_AUTH_a-b is true, but its tag has more than letters, digits and underscores."),
    "no Vault": ({"TFC_VAULT_BACKED_AZURE_AUTH": "true", "TFC_VAULT_BACKED_AZURE_RUN_VAULT_ROLE": "r"},
                 "TFC_VAULT_BACKED_AZURE_AUTH is true, but TFC_VAULT_PROVIDER_AUTH, the login at Vault that it needs, is not."),
    **{f"a timeout of {text}": ({**VAULT, "TFC_VAULT_CLIENT_TIMEOUT": text},
                                "TFC_VAULT_PROVIDER_AUTH is true, but its timeout, TFC_VAULT_CLIENT_TIMEOUT, is no number from 1 to 3600.") for text in ("0", "30s", "3601")},
    "another type": ({**VAULT, "TFC_VAULT_BACKED_AWS_AUTH": "true", "TFC_VAULT_BACKED_AWS_AUTH_TYPE": "root", "TFC_VAULT_BACKED_AWS_RUN_VAULT_ROLE": "r"},
                     "TFC_VAULT_BACKED_AWS_AUTH is true, but the type of its authentication is none of iam_user, assumed_role, federation_token."),
    "a long sleep": ({**VAULT, "TFC_VAULT_BACKED_AZURE_AUTH": "true", "TFC_VAULT_BACKED_AZURE_RUN_VAULT_ROLE": "r", "TFC_VAULT_BACKED_AZURE_SLEEP_SECONDS": "1501"},
                     "TFC_VAULT_BACKED_AZURE_AUTH is true, but its sleep, TFC_VAULT_BACKED_AZURE_SLEEP_SECONDS, is no number from 0 to 1500."),
    "too many": ({f"TFC_KUBERNETES_PROVIDER_AUTH_T{number}": "true" for number in range(33)} | {"TFC_DEFAULT_KUBERNETES_WORKLOAD_IDENTITY_AUDIENCE": "x"},
                 "a run can have at most 32 such configurations."),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_missing_is_said_in_one_sentence(place, name):
    variables, sentence = REFUSED[name]
    job = place.plan(variables)
    assert job["refusal"].endswith(sentence) and "credentials" not in job


def test_a_plan_without_an_apply_needs_no_role_for_it(api_site, place):
    workspace = place.workspace({"TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_PLAN_ROLE_ARN": "arn:plan"})
    configuration = place.api.upload(workspace, {"main.tf": ""})
    run = place.api.run(workspace, configuration, **{"plan-only": True})
    assert wanted(api_site.scheduler, place.worker.take(run, "plan"))["aws", ""]["role-arn"] == "arn:plan"


def test_variables_of_terraform_ask_for_nothing(place):
    workspace = place.workspace({})
    place.api.variable(workspace, "TFC_AWS_PROVIDER_AUTH", "true")
    run = place.api.run_files(workspace, {"main.tf": ""})
    job = place.worker.take(run, "plan")
    assert "refusal" not in job and "credentials" not in job


def test_the_code_of_a_fork_gets_no_credentials(api_site, place):
    workspace = place.workspace(KINDS["aws"][0])
    configuration = place.api.upload(workspace, {"main.tf": ""})
    run = place.api.run(workspace, configuration)
    api_site.change("insert into configuration_commits (configuration_version_id, id, sha, detail) values (%s, %s, 'abc', '{\"from-fork\": true}')", configuration, f"ia-{uuid.uuid4().hex}")
    job = place.worker.take(run, "plan")
    assert job["refusal"] == "TFC_AWS_PROVIDER_AUTH is true, but the code of a fork gets no credentials." and "credentials" not in job


@pytest.mark.parametrize("capabilities", [None, ENGINE])
def test_a_worker_of_an_earlier_version_gets_no_credentials(api_site, place, capabilities):
    """Such a worker would start terraform without them: the run ends and says why."""
    old = api_site.fake_worker(place.token, name="old", capabilities=capabilities)
    run = place.api.run_files(place.workspace(KINDS["aws"][0]), {"main.tf": ""})
    assert old.claim() == []
    error = place.api.wait_status(run, "errored")["error"]
    assert error == ("TFC_AWS_PROVIDER_AUTH is true, but the run's worker is of an earlier version, which can't get credentials. "
                     "Upgrade the workers of its pool.")


def identity(api, workspace):
    return api.get(f"workspaces/{workspace}/workload-identity").data["attributes"]


def test_the_identity_of_a_workspace_says_what_verifiers_must_be_told(api_site, place):
    workspace = place.workspace({**KINDS["aws"][0], **VAULT, "TFC_VAULT_BACKED_AZURE_AUTH": "true", "TFC_VAULT_BACKED_AZURE_RUN_VAULT_ROLE": "r"})
    place.api.variable(workspace, "TFC_AWS_WORKLOAD_IDENTITY_AUDIENCE", "secret audience", category="env", sensitive=True)
    shown = identity(place.api, workspace)
    name = place.api.get(f"workspaces/{workspace}").data["attributes"]["name"]
    subject = f"organization:{place.api.organization}:project:Default Project:workspace:{name}:run_phase:"
    assert shown["issuer"] == api_site.scheduler.url and shown["plan-subject"] == f"{subject}plan" and shown["apply-subject"] == f"{subject}apply"
    assert [(c["kind"], c["product"], c["tag"], c["variable"], c["audience"]) for c in shown["configurations"]] == [
        ("aws", "AWS", "", "TFC_AWS_PROVIDER_AUTH", "(sensitive)"), ("vault", "Vault", "", "TFC_VAULT_PROVIDER_AUTH", "vault.workload.identity"),
        ("vault-backed-azure", "Azure by Vault", "", "TFC_VAULT_BACKED_AZURE_AUTH", None)]
    assert shown["problem"] is None


def test_the_identity_of_a_workspace_says_what_is_missing(place):
    for variables, problem in (REFUSED["no role"], REFUSED["none for the apply"]):
        assert identity(place.api, place.workspace(variables))["problem"] == problem
    shown = identity(place.api, place.workspace({}))
    assert shown["configurations"] == [] and shown["problem"] is None
