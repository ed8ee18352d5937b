# SPDX-License-Identifier: MPL-2.0
"""runyard-inspect: what it describes of a module's archive, and what hostile archives make of it."""

import io
import json
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from support.api import tar_gz

PROGRAM = Path(os.environ["RUNYARD_BIN"]) / "runyard-inspect"
MAX = 1 << 20


def run(archive):
    done = subprocess.run([PROGRAM], input=archive, capture_output=True, timeout=60, check=True)
    assert done.stderr == b"" and len(done.stdout) <= MAX
    return json.loads(done.stdout)


def inspect(files):
    return run(tar_gz(files))


def root(files):
    described = inspect(files)
    assert described["error"] is None, described["error"]
    return described["root"]


def names(items):
    return [item["name"] for item in items]


def test_inputs_have_types_descriptions_and_defaults():
    text = """
variable "region" {
  type        = string
  description = "Where it is."
  default     = "eu-central-1" # a comment
}
variable "subnets" {
  type = list(object({
    cidr = string
    zone = optional(string, "a")
  }))
}
variable "key" {
  default   = "hunter2"
  sensitive = true
  validation {
    condition     = length(var.key) > 3
    error_message = "It is short."
  }
}
"""
    region, subnets, key = root({"variables.tf": text})["inputs"]
    assert region == {"name": "region", "type": "string", "description": "Where it is.", "default": '"eu-central-1"', "required": False, "sensitive": False}
    assert subnets["required"] and subnets["type"].startswith("list(object({") and subnets["type"].endswith("}))")
    assert (key["default"], key["required"], key["sensitive"]) == ("", False, True)


def test_outputs_resources_calls_and_providers():
    text = """
terraform {
  required_version = ">= 1.3"
  required_providers {
    aws  = { source = "hashicorp/aws", version = "~> 5.0" }
    corp = {
      source = "registry.example.com/acme/corp"
    }
    null = ">= 3.0"
  }
}
output "id" {
  description = "The id."
  value       = "${aws_vpc.this.id}"
}
output "key" {
  value     = var.key
  sensitive = true
}
resource "aws_vpc" "this" {
  cidr_block = "10.0.0.0/8"
  dynamic "tag" {
    for_each = {}
    content {}
  }
}
resource "terraform_data" "x" {}
data "google_project" "p" { provider = google-beta.west }
module "inner" {
  source = "./modules/inner"
}
module "far" {
  source  = "app.example.com/acme/network/aws"
  version = "1.2.3"
}
"""
    described = root({"main.tf": text})
    assert described["required_version"] == ">= 1.3"
    assert described["outputs"] == [{"name": "id", "description": "The id.", "sensitive": False}, {"name": "key", "description": "", "sensitive": True}]
    assert [(item["mode"], item["type"], item["name"]) for item in described["resources"]] == [
        ("managed", "aws_vpc", "this"), ("managed", "terraform_data", "x"), ("data", "google_project", "p")]
    assert described["dependencies"] == [{"name": "inner", "source": "./modules/inner", "version": ""}, {"name": "far", "source": "app.example.com/acme/network/aws", "version": "1.2.3"}]
    assert [(item["name"], item["namespace"], item["source"], item["version"]) for item in described["provider_dependencies"]] == [
        ("aws", "hashicorp", "hashicorp/aws", "~> 5.0"), ("corp", "acme", "registry.example.com/acme/corp", ""), ("null", "hashicorp", "hashicorp/null", ">= 3.0"),
        ("google-beta", "hashicorp", "hashicorp/google-beta", "")]


def test_submodules_and_examples_are_folders_of_the_standard_structure():
    described = inspect({"README.md": "# Root", "main.tf": "", "modules/b/main.tf": 'variable "b" {}', "modules/a/README.MD": "# A", "examples/full/main.tf": 'output "o" {\n  value = 1\n}',
                         "modules/a/deep/main.tf": 'variable "deep" {}', "other/main.tf": 'variable "other" {}', "modules/main.tf": 'variable "none" {}'})
    assert (described["root"]["readme"], described["root"]["empty"], described["root"]["inputs"]) == ("# Root", False, [])
    assert [(item["path"], item["name"], item["readme"], item["empty"], names(item["inputs"])) for item in described["submodules"]] == [
        ("modules/a", "a", "# A", True, []), ("modules/b", "b", "", False, ["b"])]
    assert [(item["path"], names(item["outputs"])) for item in described["examples"]] == [("examples/full", ["o"])]
    assert described["error"] is None and not described["cut"]


def test_json_files_overrides_and_opentofus_files():
    described = root({"main.tf": 'variable "a" {\n  default = 1\n}', "main_override.tf": 'variable "a" {\n  description = "changed"\n}',
                      "more.tf.json": json.dumps({"variable": [{"b": {"type": "list(string)", "default": ["x"]}}], "resource": {"null_resource": {"n": {}}}, "module": {"m": {"source": "./m"}},
                                                  "terraform": {"required_providers": {"null": {"version": "3.0.0"}}}}),
                      "main.tofu": 'variable "shadowed" {}', "only.tofu": 'variable "tofu" {}', ".hidden.tf": "{", "notes.txt": "{"})
    assert [(item["name"], item["description"], item["default"], item["type"]) for item in described["inputs"]] == [
        ("a", "changed", "1", ""), ("b", "", '["x"]', "list(string)"), ("tofu", "", "", "")]
    assert described["resources"] == [{"type": "null_resource", "name": "n", "mode": "managed"}] and names(described["dependencies"]) == ["m"]
    assert described["provider_dependencies"][0]["version"] == "3.0.0"


BROKEN = {
    "an open block": ({"a.tf": "# fine", "main.tf": '\n\nvariable "x" {\n'}, "main.tf:3: "),
    "two of one name": ({"main.tf": 'variable "x" {}\nvariable "x" {}\n'}, 'main.tf:2: variable "x" is declared twice'),
    "two in two files": ({"a.tf": 'output "x" {\n  value = 1\n}', "b.tf": '\noutput "x" {\n  value = 1\n}'}, 'b.tf:2: output "x" is declared twice'),
    "an open string": ({"main.tf": 'variable "x" {\n  default = "abc\n}\n'}, "main.tf:2: "),
    "a stray bracket": ({"main.tf": 'variable "x" {}\n}\n'}, "main.tf:2: "),
    "no label": ({"main.tf": "\nvariable {}\n"}, 'main.tf:2: the block "variable" must have 1 labels'),
    "JSON": ({"main.tf.json": '{\n "variable": {\n'}, "main.tf.json:"),
    "a number as JSON": ({"main.tf.json": "7"}, "main.tf.json: the file must have a JSON object"),
    "a submodule": ({"main.tf": "", "modules/a/main.tf": "x {\n"}, "modules/a/main.tf:1: "),
    "binary": ({"main.tf": b"\x00\xff\xfe{{{"}, "main.tf:1: "),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_defect_has_its_file_and_line(what):
    files, expected = BROKEN[what]
    described = inspect(files)
    assert described["error"].startswith(expected), described["error"]
    assert described["root"] is not None


def test_what_can_be_read_of_a_broken_module_is_described():
    described = inspect({"a.tf": 'variable "a" {}\n', "b.tf": 'variable "b" {}\nvariable "c" {', "README.md": "Hello"})
    assert described["error"].startswith("b.tf:2: ") and names(described["root"]["inputs"]) == ["a", "b", "c"] and described["root"]["readme"] == "Hello"


HUGE = "x" * 5000
HOSTILE = {
    "markup": {"README.md": "<script>alert(1)</script><img src=x onerror=alert(1)>", "main.tf": 'variable "<script>" {\n  description = "</td><script>"\n}'},
    "not UTF-8": {"README.md": b"a\xff\xc0\xafb\xed\xa0\x80\x00", "main.tf": b'variable "\xff\x00" {\n  description = "\xf0\x9f"\n}'},
    "control bytes": {"README.md": bytes(range(32)) * 20000, "main.tf": ""},
    "a long README": {"README.md": "é" * 400_000},
    "long texts": {"main.tf": f'variable "{HUGE}" {{\n  type = {"x" * 900_000}\n  description = "{HUGE * 3}"\n}}'},
    "100,000 variables": {f"v{n}.tf": "".join(f'variable "v{n}_{m}" {{}}\n' for m in range(1000)) for n in range(100)},
    "1,000 submodules": {f"modules/m{n:04}/main.tf": 'variable "x" {}\n' for n in range(1000)},
    "deep brackets": {"main.tf": "locals {\n  a = " + "[" * 100_000 + "]" * 100_000 + "\n}"},
    "deep JSON": {"main.tf.json": '{"variable":' * 50_000},
    "deep templates": {"main.tf": 'locals {\n  a = "' + '${"' * 50_000 + "\n}"},
    "arrays of arrays": {"main.tf.json": json.dumps({"variable": [[[[[[{"x": [[[{"default": 1}]]]}]]]]]]})},
    "wrong types": {"main.tf.json": json.dumps({"variable": 1, "output": [1, None, "x"], "module": {"m": 7}, "resource": {"a": [1]}, "data": {"x": {"y": [[]]}}, "provider": "x",
                                                "terraform": [{"required_providers": [{"a": 7, "b": None, "c": [1], "d": {"source": 7, "version": {}}}]}]})},
    "odd sources": {"main.tf": "".join(f'module "m{n}" {{\n  source = "{source}"\n}}\n' for n, source in enumerate(("", "/", "//", "javascript:alert(1)", "../../..")))},
    "odd providers": {"main.tf": "terraform {\n  required_providers {\n" + "".join(f'    p{n} = {{ source = "{source}" }}\n' for n, source in enumerate(("", "/", "a/", "/a", "a/b/c/d"))) + "  }\n}"},
    "many lines with an error": {"main.tf": "# x\n" * 200_000 + "variable {"},
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_files_give_a_bounded_description(what):
    described = inspect(HOSTILE[what])
    assert set(described) == {"root", "submodules", "examples", "error", "cut"} and set(described["root"]) >= {"readme", "inputs"}
    assert len(described["submodules"]) <= 200
    if what in ("control bytes", "a long README", "long texts", "100,000 variables", "1,000 submodules"):
        assert described["cut"]
    if what in ("deep brackets", "deep JSON", "deep templates", "many lines with an error"):
        assert described["error"].startswith("main.tf")


def members(*entries):
    """An archive of (name, type, target, content)."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as packed:
        for name, kind, target, content in entries:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size = kind, target, len(content)
            packed.addfile(info, io.BytesIO(content))
    return out.getvalue()


FILE = tarfile.REGTYPE
ARCHIVES = {
    "no archive": (b"nonsense", "the archive is damaged"), "nothing": (b"", "the archive is damaged"), "a cut archive": (tar_gz({"main.tf": "# " + os.urandom(5000).hex()})[:-60], "the archive is damaged"),
    "a large file": (tar_gz({"main.tf": " " * (1 << 20) + "x"}), "main.tf: the file is larger than"), "many files": (tar_gz({f"f{n}.tf": "" for n in range(6000)}), "the module has more than 5000 files"),
    "many entries": (members(*((f"d{n}/x", FILE, "", b"") for n in range(100_002))), "the archive has more than 100000 entries"),
}


@pytest.mark.parametrize("what", ARCHIVES)
def test_an_archive_that_cannot_be_read_says_why(what):
    archive, expected = ARCHIVES[what]
    described = run(archive)
    assert described["error"].startswith(expected) and described["root"]["empty"]


def test_paths_that_lead_out_and_links_are_not_read():
    described = run(members(("../main.tf", FILE, "", b'variable "out" {}'), ("/etc/main.tf", FILE, "", b'variable "abs" {}'), ("link.tf", tarfile.SYMTYPE, "/etc/passwd", b""),
                            ("hard.tf", tarfile.LNKTYPE, "./main.tf", b""), ("dir.tf", tarfile.DIRTYPE, "", b""), ("./main.tf", FILE, "", b'variable "old" {}'), ("main.tf", FILE, "", b'variable "new" {}')))
    assert names(described["root"]["inputs"]) == ["new"] and described["error"] is None
