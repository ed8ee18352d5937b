# SPDX-License-Identifier: MPL-2.0
# label: quick
"""The patches of cloud and backend blocks, and the files of Atlantis: without servers."""

import argparse
import json
import subprocess
import sys
import tarfile

import pytest

from support.migration import PACKAGE

sys.path.insert(0, str(PACKAGE))
from runyard_migrate import atlantis, code, content  # noqa: E402
from runyard_migrate.backends import CodeSource  # noqa: E402
from runyard_migrate.journal import Trouble  # noqa: E402

CONFIGURATION = '''# terraform { cloud { organization = "in a comment" } }
locals {
  text = "terraform { backend \\"s3\\" {} } ${lookup({ "}" = 1 }, "{")}"
  more = <<-END
    terraform {
      cloud {}
    }
    END
}

terraform { /* { */
  required_providers {
    aws = { source = "hashicorp/aws" }
  }

  cloud {
    # where we work
    hostname     = "app.terraform.io"
    organization = "acme" # ours

    workspaces {
      tags = ["net"]
    }
  }
}

module "backend" {
  source = "./cloud"
}
'''


def test_a_cloud_block_is_found_among_strings_comments_and_heredocs():
    (block,) = code.blocks(CONFIGURATION)
    assert (block.kind, block.text.count("\n"), block.attributes["organization"]) == ("cloud", 8, "acme")


@pytest.mark.parametrize("text, patched", [
    (CONFIGURATION, CONFIGURATION.replace('"app.terraform.io"', '"runyard.example.com"').replace('"acme" # ours', '"new" # ours')),
    ('terraform {\n  backend "remote" {\n    organization = "acme"\n    workspaces { prefix = "a-" }\n  }\n}\n',
     'terraform {\n  backend "remote" {\n    hostname = "runyard.example.com"\n    organization = "new"\n    workspaces { prefix = "a-" }\n  }\n}\n'),
    ('terraform {\n  cloud {\n    organization = "another"\n  }\n}\n', None),
    ('terraform {\n  cloud {\n    hostname = "tfe.example.com"\n    organization = "acme"\n  }\n}\n', None),
    ('module "vpc" {\n  source = "app.terraform.io/acme/vpc/aws//sub"\n  note   = "app.terraform.io/acme/vpc"\n}\n# source = "app.terraform.io/acme/vpc/aws"\n'
     'module "dns" {\n  source = "localterraform.com/acme/dns/aws"\n}\nterraform {\n  required_providers {\n    cloud = { source = "app.terraform.io/acme/cloud" }\n    aws = { source = "hashicorp/aws" }\n  }\n}\n',
     'module "vpc" {\n  source = "runyard.example.com/new/vpc/aws//sub"\n  note   = "app.terraform.io/acme/vpc"\n}\n# source = "app.terraform.io/acme/vpc/aws"\n'
     'module "dns" {\n  source = "runyard.example.com/new/dns/aws"\n}\nterraform {\n  required_providers {\n    cloud = { source = "runyard.example.com/new/cloud" }\n    aws = { source = "hashicorp/aws" }\n  }\n}\n'),
    ('module "vpc" {\n  source = "app.terraform.io/another/vpc/aws"\n}\n', None),
    ('terraform {\r\n  cloud {\r\n    organization = "acme"\r\n  }\r\n}', 'terraform {\r\n  cloud {\r\n    hostname = "runyard.example.com"\r\n    organization = "new"\r\n  }\r\n}'),
])
def test_a_patch_leads_code_to_the_new_server(tmp_path, text, patched):
    path = tmp_path / "net/main.tf"
    path.parent.mkdir()
    path.write_bytes(text.encode())
    patch = code.server_patch(tmp_path, "app.terraform.io", "acme", "runyard.example.com", "new")
    assert bool(patch) == bool(patched)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    if patched:
        subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tmp_path, check=True)
        assert path.read_bytes() == patched.encode()


def test_the_yaml_of_atlantis():
    text = 'version: 3\nprojects:\n- dir: a # one\n  name: "x: y"\n  autoplan: {}\n- name: b\n  dir: \'it\'\'s\'\n  when: ["*.tf", x]\nworkflows:\n  w:\n    steps: [init]\n'
    with pytest.raises(ValueError):
        atlantis.parse("a: 1\n   b: 2\n")
    made = atlantis.parse(text)
    assert [project.get("name") for project in made["projects"]] == ["x: y", "b"]
    assert made["projects"][1]["dir"] == "it's" and made["projects"][1]["when"] == ["*.tf", "x"] and made["workflows"] == {"w": {"steps": ["init"]}}


@pytest.mark.parametrize("text", [
    b'{"version":4,"terraform_version":"1.9.8","serial":12,"lineage":"abc","outputs":{"serial":1}}',
    b'{\n  "outputs": {"serial": 5, "lineage": "no"},\n  "serial": 12,\n  "lineage": "abc"\n}\n',
    b'{"version": 4, "terraform_version": "a\\"b", "serial": 12, "lineage": "abc", "resources": []}'])
def test_serial_and_lineage_of_a_state(tmp_path, text):
    with open(tmp_path / "state", "w+b") as file:
        file.write(text)
        assert content.state_head(file) == (12, "abc")


STATE = json.dumps({"version": 4, "terraform_version": "1.9.8", "serial": 1, "lineage": "abc", "outputs": {}})
FILES = {
    "net/main.tf": 'terraform {\n  backend "local" {}\n}\n', "net/old.tfstate.tf": "# code", "net/terraform.tfstate": STATE,
    "net/terraform.tfstate.1690000000.backup": STATE, "net/terraform.tfstate_before": STATE, "net/errored.tfstate": STATE, "net/now.tfplan": "a plan",
    "web/main.tf": 'terraform {\n  backend "local" { path = "../states/web.json" }\n}\n', "states/web.json": STATE, "states/web.json.backup": STATE,
    "states/web.json.1690000000.backup": STATE, "states/notes.json": "{}",
    "secrets.json": '{"a key": "a secret"}', "token": "a token", "net/keys.tfbackend": 'access_key = "a key"\n'}
CODE = {"net/main.tf", "net/old.tfstate.tf", "web/main.tf", "states/notes.json"}


def code_source(root, organization="acme", **more):
    options = argparse.Namespace(source=str(root), folder=root / "runyard-migrate", secrets=root / "secrets.json", from_token_file=None, to_token_file=str(root / "token"), parallel=1,
                                 name_rule="{folder}-{workspace}", backend_config=[root / "net/keys.tfbackend"], engine="none", target="https://runyard.example.com")
    vars(options).update(more)
    return CodeSource(options, organization, lambda text: None)


def write(root, files):
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.mark.parametrize("work", ("runyard-migrate", "."))
def test_the_uploaded_code_has_no_states_no_secrets_and_not_the_working_folder(tmp_path, work):
    write(tmp_path, FILES)
    ids = set()
    for number in range(2):
        write(tmp_path, {f"{work}/acme/journal.jsonl": "{}\n" * number, f"{work}/acme/secrets.json": "{}"})
        source = code_source(tmp_path, folder=tmp_path / work)
        found = source.read()
        with tarfile.open(source.packed) as archive:
            assert set(archive.getnames()) == CODE
        ids |= {item.id for item in found.of("configurations")}
    assert {item.name for item in found.of("workspaces")} == {"net", "web"}
    assert len(ids) == 1  # the journal does not make it another configuration


def test_the_code_is_no_working_folder(tmp_path):
    write(tmp_path, {"acme/main.tf": ""})
    with pytest.raises(Trouble, match="the working folder .*/acme is the folder of the code: name another one with --folder"):
        code_source(tmp_path / "acme", folder=tmp_path)


def test_an_interrupted_export_is_not_a_folder_of_code(tmp_path):
    write(tmp_path, {"backup/objects/workspaces.json": "[]"})
    with pytest.raises(Trouble, match="has no configurations. An export that was interrupted has no export.json"):
        code_source(tmp_path / "backup", folder=tmp_path / "work").read()
