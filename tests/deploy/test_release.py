# SPDX-License-Identifier: MPL-2.0
"""What deploy/release writes beside the packages: the lists of components and the provenance.

tests/extended/test_release.py makes a whole release."""

import hashlib
import json
import os
import re
import subprocess
import sys

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from spdx_tools.spdx.parser.parse_anything import parse_file
from spdx_tools.spdx.validation.document_validator import validate_full_spdx_document

from support import release
from support.release import ROOT, files, run

ARTIFACTS = ROOT / "deploy/artifacts"
EPOCH = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
# As `go version -m` prints it.
MODULES = "opa: go1.26.6\n\tpath\tgithub.com/open-policy-agent/opa\n\tmod\tgithub.com/open-policy-agent/opa\tv1.4.2\th1:x=\n\tdep\tgo.uber.org/zap\tv1.27.0\th1:y=\n"


@pytest.fixture(scope="module")
def components(built, installed):
    """The rows that deploy/artifacts/components prints for the installed programs."""
    folder = installed.parent
    run("tar", "-C", installed, "-cf", folder / "installed.tar", ".")
    (folder / "opa.modules").write_text(MODULES)
    printed = run(sys.executable, ARTIFACTS / "components", folder / "installed.tar", "amd64", folder / "opa.modules")
    (folder / "components.tsv").write_text(printed)
    return [line.split("\t") for line in printed.splitlines()]


@pytest.fixture(scope="module")
def lists(components, installed):
    """{"spdx" or "cdx": file}"""
    target = installed.parent / "runyard-1.2.3-debian-12-amd64"
    run(sys.executable, ARTIFACTS / "sbom", "1.2.3", installed.parent / "components.tsv", target, env=EPOCH)
    return {kind: target.parent / f"{target.name}.{kind}.json" for kind in ("spdx", "cdx")}


def test_components_name_every_linked_library_package_and_module(components, installed):
    linked = set()
    for path in files(installed):
        if re.match("/usr/(bin|libexec)/", path):
            linked |= set(re.findall(r"=> (/\S+)", subprocess.run(["ldd", f"{installed}{path}"], capture_output=True, text=True).stdout))
    assert len(linked) > 30
    listed = {row[1] for row in components if row[0] == "deb"}
    for library in linked:
        paths = [library, os.path.realpath(library), library.removeprefix("/usr"), os.path.realpath(library).removeprefix("/usr")]
        owners = [subprocess.run(["dpkg-query", "--search", path], capture_output=True, text=True).stdout.split(":")[0] for path in paths]
        assert listed & set(owners), library
    assert {"dompurify", "marked", "preact", "diff"} == {row[1] for row in components if row[0] == "npm"}
    assert {"github.com/open-policy-agent/opa", "go.uber.org/zap", "stdlib"} == {row[1] for row in components if row[0] == "golang"}
    rdkafka = next(row for row in components if row[1] == "librdkafka1")
    assert {"runyard-scheduler", "runyard-worker", "runyard-notifier"} <= set(rdkafka[4].split(","))


def test_the_lists_are_valid_and_complete(components, lists):
    document = parse_file(str(lists["spdx"]))
    assert validate_full_spdx_document(document) == []
    assert [(package.name, package.version) for package in document.packages[1:]] == [(row[1], row[2]) for row in components]
    text = lists["cdx"].read_text()
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(text) is None
    assert [(one["name"], one["version"]) for one in json.loads(text)["components"]] == [(row[1], row[2]) for row in components]


def test_a_wrong_list_is_found(lists):
    """The checkers can fail."""
    wrong = json.loads(lists["cdx"].read_text())
    del wrong["components"][0]["name"]
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(json.dumps(wrong)) is not None


def test_the_provenance_names_every_file_with_its_digest(folder):
    (folder / "debian-12").mkdir()
    for name in ("runyard-1.2.3.tar.gz", "debian-12/runyard-worker_1.2.3_amd64.deb"):
        (folder / name).write_text(name)
    run(sys.executable, ARTIFACTS / "provenance", "1.2.3", "a" * 40, folder, env=EPOCH)
    statement = json.loads((folder / "runyard-1.2.3.intoto.json").read_text())
    assert statement["_type"] == "https://in-toto.io/Statement/v1" and statement["predicateType"] == "https://slsa.dev/provenance/v1"
    for subject in statement["subject"]:
        assert run("sha256sum", folder / subject["name"]).split()[0] == subject["digest"]["sha256"]
    assert [subject["name"] for subject in statement["subject"]] == ["debian-12/runyard-worker_1.2.3_amd64.deb", "runyard-1.2.3.tar.gz"]
    assert statement["predicate"]["buildDefinition"]["resolvedDependencies"][0]["digest"] == {"gitCommit": "a" * 40}


@pytest.mark.parametrize("arguments, message", (
    ((), "deploy/release VERSION"),
    (("1.0",), "deploy/release VERSION"),
    (("1.0.0", "2.0.0"), "one VERSION is enough"),
    (("--fast", "1.0.0"), "there is no option --fast"),
    (("99.0.0",), "99.0.0|not committed|only root"),
))
def test_wrong_arguments_are_refused(arguments, message):
    done = subprocess.run([ROOT / "deploy/release", *arguments], capture_output=True, text=True)
    assert done.returncode != 0 and re.search(message, done.stderr)


RELEASE = {"runyard-1.2.3.tar.gz": "sources", "debian-12/runyard-worker_1.2.3_amd64.deb": "a package", "runyard-1.2.3.intoto.json": "{}"}


def sums_of(files):
    return "".join(f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in files.items())


@pytest.mark.parametrize("files, refused", (
    ({"a.txt": "of others"}, True),
    ({"1.2.3/" + name: text for name, text in RELEASE.items()}, True),  # a folder of releases
    ({**RELEASE, "SHA256SUMS": sums_of(RELEASE), "debian-12/notes.txt": "of others"}, True),
    ({"a.txt": "of others", "SHA256SUMS": sums_of({"a.txt": "of others"})}, True),
    ({**RELEASE, "SHA256SUMS": sums_of(RELEASE), "SHA256SUMS.asc": "signature"}, False),
    ({}, False),
))
def test_an_output_folder_with_other_files_is_refused(folder, files, refused):
    """The version, which the sources do not name, keeps a release from being made."""
    output = folder / "output"
    for name, text in files.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(text)
    output.mkdir(exist_ok=True)
    done = subprocess.run([ROOT / "deploy/release", "99.0.0", "--output", output], capture_output=True, text=True)
    assert done.returncode == 1 and (f"{output} has files that do not belong to a release" in done.stderr) == refused, done.stderr
    assert {str(path.relative_to(output)): path.read_text() for path in output.rglob("*") if path.is_file()} == files


def test_an_output_folder_that_is_a_file_is_refused(folder):
    (folder / "output").write_text("of others")
    done = subprocess.run([ROOT / "deploy/release", "99.0.0", "--output", folder / "output"], capture_output=True, text=True)
    assert done.returncode == 1 and "output is no folder" in done.stderr


def test_the_release_names_one_version():
    version = re.search(r"project\(runyard VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    chart = (ROOT / "deploy/helm/runyard/Chart.yaml").read_text()
    assert re.search(f"^version: {version}$", chart, re.M) and re.search(f"^appVersion: {version}$", chart, re.M)


def test_workflows_are_valid_and_pin_their_actions():
    workflows = sorted((ROOT / ".github/workflows").glob("*.yaml"))
    assert len(workflows) == 3
    run(release.tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", *workflows)
    for workflow in workflows:
        for action in re.findall(r"uses: (.*)", workflow.read_text()):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", action), f"{workflow.name}: {action}"
