# SPDX-License-Identifier: MPL-2.0
"""Runs that log in to a real Vault with their identities. Vault reads the keys of a site with TLS, whose CA is private."""

import json
import shutil
import uuid

import pytest

from integration.identity.test_workload_identity import decoded
from support.engine import each_engine
from support.gate import Gate
from support.identity_page import pasted
from support.identity_site import ROLES, open_identity_site, subject
from support.site import new_folder
from support.vault import Refused, Vault
from support.wait import until

pytestmark = each_engine()

# Reads the secret of the phase with the environment that Vault's programs use.
READ = """import json, os, urllib.request
request = urllib.request.Request(f"{os.environ['VAULT_ADDR']}/v1/secret/data/{os.environ['PHASE']}", headers={"X-Vault-Token": os.environ["VAULT_TOKEN"]})
print(json.load(urllib.request.urlopen(request))["data"]["data"]["word"], flush=True)
"""


@pytest.fixture(scope="module")
def vault():
    folder = new_folder("vault")
    server = Vault(folder).start()
    yield server
    server.release()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def site(postgres, sandbox, engine, vault):
    """Vault trusts its scheduler. There is a secret for plans and one for applies, and a policy for each and for both."""
    with open_identity_site(postgres, sandbox, engine, [vault.port], tls=True) as site:
        site.read = f"/usr/bin/python3 {site.program('read.py', READ)}"
        vault.trust(site.scheduler.url, oidc_discovery_ca_pem=site.authority.file.read_text())
        for phase in ROLES:
            vault.call("POST", f"secret/data/{phase}", {"data": {"word": f"word-of-the-{phase}"}})
            vault.policy(phase, f'path "secret/data/{phase}" {{ capabilities = ["read"] }}')
        vault.policy("both", 'path "secret/data/*" { capabilities = ["read"] }')
        yield site
        vault.distrust()


@pytest.fixture
def name(request):
    return f"{request.node.name.removeprefix('test_')[:40].replace('[', '-').replace(']', '')}-{uuid.uuid4().hex[:6]}"


def workspace(site, vault, name, look=None, **variables):
    return site.workspace(name, look or site.read, {"TFC_VAULT_PROVIDER_AUTH": "true", "TFC_VAULT_ADDR": vault.url, **variables})


def claims(jwt):
    return json.loads(decoded(jwt.split(".")[1]))


def key_of(jwt):
    return json.loads(decoded(jwt.split(".")[0]))["kid"]


def test_plan_and_apply_log_in_with_their_own_roles(site, vault, name):
    """Each reads the secret of its role, and not the other's. Their tokens are revoked at the end."""
    for phase in ROLES:
        vault.role(f"{name}-{phase}", subject(name, phase), phase, bound_claims_type="string")
    logs = site.applied(workspace(site, vault, name, TFC_VAULT_PLAN_ROLE=f"{name}-plan", TFC_VAULT_APPLY_ROLE=f"{name}-apply"))
    for phase, other, log in zip(ROLES, reversed(ROLES), logs):
        assert f"word-of-the-{phase}" in log
        ((jwt, token),) = vault.logins(f"{name}-{phase}")
        assert claims(jwt)["sub"] == subject(name, phase) and claims(jwt)["aud"] == "vault.workload.identity"
        until(lambda: not vault.valid(token), f"the token of the {phase} is revoked")
        assert jwt not in log and token not in log
        with pytest.raises(Refused, match="claim"):
            vault.login(f"{name}-{other}", jwt)


def test_one_role_for_all_phases_of_a_workspace(site, vault, name):
    vault.role(name, subject(name, "*"), "both")
    logs = site.applied(workspace(site, vault, name, TFC_VAULT_RUN_ROLE=name))
    assert "word-of-the-plan" in logs[0] and "word-of-the-apply" in logs[1]


def test_the_run_of_another_workspace_is_refused(site, vault, name):
    vault.role(name, subject("another-workspace", "*"), "both")
    run = site.run(workspace(site, vault, name, TFC_VAULT_RUN_ROLE=name))
    error = site.api.wait_status(run, "errored")["error"]
    assert f'{vault.url} refused the login with the role "{name}" with status 4' in error and "claim" in error, error
    assert error in site.api.log(run) and "word-of" not in site.api.log(run) and not vault.logins(name)


def test_an_identity_for_another_audience_is_refused(site, vault, name):
    vault.role(name, subject(name, "*"), "both")
    run = site.run(workspace(site, vault, name, TFC_VAULT_RUN_ROLE=name, TFC_VAULT_WORKLOAD_IDENTITY_AUDIENCE="another-audience"))
    error = site.api.wait_status(run, "errored")["error"]
    assert "audience" in error and not vault.logins(name), error


def test_a_token_of_a_few_seconds_lasts_as_long_as_the_run(site, vault, name):
    gate = Gate(site.gates, name)
    vault.role(name, subject(name, "*"), "both", token_ttl="4s")
    look = f'if [ "$PHASE" = apply ]; then {gate.command}; fi && {site.read}'
    run = site.run(workspace(site, vault, name, look, TFC_VAULT_RUN_ROLE=name))
    gate.wait()
    token = vault.logins(name)[-1][1]

    def renewals():
        return [line for line in vault.answered("auth/token/renew-self") if line.get("response", {}).get("auth", {}).get("client_token") == token]

    until(lambda: len(renewals()) >= 4, "the token lives for twice its time")
    assert vault.valid(token)
    gate.open()
    site.api.wait_status(run, "applied")
    assert "word-of-the-apply" in site.api.log(run, "apply")
    until(lambda: not vault.valid(token), "the token is revoked")


def test_keys_are_rotated_while_runs_go_on(site, vault, name):
    """No login fails: verifiers find the new key when they see its id."""
    vault.role(name, subject(f"{name}-*", "*"), "both")
    places = [workspace(site, vault, f"{name}-{number}", TFC_VAULT_RUN_ROLE=name) for number in range(3)]
    runs = {place: site.run(place) for place in places}
    done = 0

    def used():
        return {key_of(jwt) for jwt, _ in vault.logins(name)}

    def go_on():
        """Each workspace always has a run."""
        nonlocal done
        for place, run in runs.items():
            status = site.api.status(run)
            assert status != "errored", site.api.logs(run)
            if status == "applied":
                done += 1
                runs[place] = site.run(place)

    def until_running(condition, what):
        until(lambda: (go_on(), condition())[1], what, every=0.2)

    until_running(used, "a run has logged in")
    first = used()
    site.rotate()
    site.pass_hours(25)
    until_running(lambda: len(used()) == 2, "a run has logged in with the second key")
    second = used() - first
    site.pass_hours(8 * 24)  # the first one is published no more
    site.rotate()
    site.pass_hours(25)
    until_running(lambda: len(used()) == 3, "a run has logged in with the third key")
    assert len(second) == 1 and done >= 3
    for run in runs.values():
        site.api.wait_status(run, "applied")


def test_a_replaced_key_ends_its_tokens(site, vault, name):
    vault.role(name, subject(name, "*"), "both")
    place = workspace(site, vault, name, TFC_VAULT_RUN_ROLE=name)
    site.applied(place)
    old = vault.logins(name)[-1][0]
    assert vault.login(name, old)
    site.rotate("replace")
    site.scheduler.restart()  # it keeps the key for a minute
    site.applied(place)
    assert key_of(vault.logins(name)[-1][0]) != key_of(old)
    with pytest.raises(Refused, match="signature"):
        vault.login(name, old)


def test_what_the_identity_page_says_to_paste_works_as_copied(site, vault, name, tmp_path):
    """The commands, by Vault's own program, with the reader's words replaced and the CA that the page mentions; then the variables."""
    place = site.workspace(name, site.read, {})
    identity = {"id": place, "organization": "acme", **site.api.get(f"workspaces/{place}/workload-identity").data["attributes"]}
    texts, variables = pasted(tmp_path, "vault", identity)
    vault.distrust()  # the other tests' one
    vault.shell(f"{texts['The issuer, once']} oidc_discovery_ca_pem=@{site.authority.file}")
    for title, phase in (("Role for plans", "plan"), ("Role for applies", "apply")):
        vault.shell(texts[title].replace("POLICY", phase))
    for key, value in variables.items():
        site.api.variable(place, key, value.replace("https://VAULT:8200", vault.url), category="env")
    logs = site.applied(place)
    assert "word-of-the-plan" in logs[0] and "word-of-the-apply" in logs[1]
    with pytest.raises(Refused, match="claim"):
        vault.login(f"{place}-apply", vault.logins(f"{place}-plan")[0][0])


def test_an_issuer_of_an_unknown_ca_is_refused(site, vault):
    """Vault reads the discovery document when it is configured."""
    with pytest.raises(Refused, match="error checking oidc discovery URL"):
        vault.call("POST", "auth/jwt/config", {"oidc_discovery_url": site.scheduler.url, "bound_issuer": site.scheduler.url})
