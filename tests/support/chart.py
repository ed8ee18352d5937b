# SPDX-License-Identifier: MPL-2.0
"""The Helm chart: rendered by helm, checked against the schemas of Kubernetes and of the vendors' resources."""

import functools
import os
import re
import subprocess
from pathlib import Path

import jsonschema_rs
import yaml
from kubernetes_validate import SchemaNotFoundError, ValidationError, validate

from support.servers import DEPS, ROOT

CHART = ROOT / "deploy/helm/runyard"
EXAMPLES = ROOT / "deploy/helm/examples"
CASES = sorted(path.stem for path in (CHART / "ci").glob("*.yaml"))
KUBERNETES = "1.33", "1.37"  # the oldest and the newest version that the chart supports
OBSERVERS = "github.com/prometheus-operator/prometheus-operator@v0.85.0", "example/prometheus-operator-crd"
VENDORS = {  # API group: module, folder of its custom resource definitions
    "keda.sh": ("github.com/kedacore/keda/v2@v2.21.0", "config/crd/bases"),
    "monitoring.coreos.com": OBSERVERS,
    "gateway.networking.k8s.io": ("sigs.k8s.io/gateway-api@v1.3.0", "config/crd/standard"),
    "postgresql.cnpg.io": ("github.com/cloudnative-pg/cloudnative-pg@v1.27.0", "config/crd/bases"),
}


def go(command, name):
    """Calls tests/tools/go. Returns the folder that it prints."""
    done = subprocess.run([ROOT / "tests/tools/go", command, name], capture_output=True, text=True, env={**os.environ, "RUNYARD_DEPS": str(DEPS)})
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.split()[-1])


@functools.cache
def built(name):
    """The folder of the programs of tests/tools/NAME."""
    return go("build", name)


@functools.cache
def source(module):
    return go("source", module)


def helm(*arguments):
    return subprocess.run([built("helm") / "helm", *map(str, arguments)], capture_output=True, text=True)


def template(*values, version=KUBERNETES[-1], release="runyard"):
    """helm template with values files and `name=value` settings."""
    options = [part for one in values for part in (("--values", one) if isinstance(one, Path) else ("--set", one))]
    return helm("template", release, CHART, "--namespace", "runyard", "--kube-version", version, *options)


def case(name):
    return CHART / "ci" / f"{name}.yaml"


def objects(text):
    return [one for one in yaml.safe_load_all(text) if one]


def render(*values, **more):
    """The objects of a chart that renders."""
    done = template(*values, **more)
    assert done.returncode == 0, done.stderr
    return objects(done.stdout)


def of_kind(rendered, *kinds):
    return [one for one in rendered if one["kind"] in kinds]


def templates(rendered):
    """(name, metadata and specification of its pods) of all objects that make pods."""
    for one in rendered:
        if one["kind"] == "Pod":
            yield one["metadata"]["name"], one
        else:
            spec = one.get("spec", {})
            template = spec.get("jobTargetRef", spec).get("template")
            if template:
                yield one["metadata"]["name"], template


def pods(rendered):
    """(name, pod specification) of all objects that make pods."""
    for name, template in templates(rendered):
        yield name, template["spec"]


@functools.cache
def definition(group, kind, version):
    """The schema of a vendor's resource, in which an object has no other keys than the named ones."""
    module, folder = VENDORS[group]
    (one,) = objects((source(module) / folder / f"{group}_{kind.lower()}s.yaml").read_text())
    (schema,) = [served["schema"]["openAPIV3Schema"] for served in one["spec"]["versions"] if served["name"] == version]
    return {**closed(schema), "properties": {**closed(schema["properties"]), "metadata": {"type": "object"}}}


def closed(schema):
    if isinstance(schema, list):
        return [closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {name: closed(value) for name, value in schema.items()}
    if "properties" in schema and not schema.get("x-kubernetes-preserve-unknown-fields") and "additionalProperties" not in schema:
        schema["additionalProperties"] = False
    return schema


def problems(one, version):
    """What Kubernetes of that version, or the vendor's definition, finds wrong with an object; None if nothing."""
    group, _, api = one["apiVersion"].rpartition("/")
    try:
        if group in VENDORS:
            jsonschema_rs.validator_for(definition(group, one["kind"], api), validate_formats=False).validate(one)
        else:
            validate(one, version, strict=True)
    except (ValidationError, SchemaNotFoundError, jsonschema_rs.ValidationError) as error:
        return error.message
    return None


def environment(container):
    return {entry["name"]: entry["value"] for entry in container["env"]}


def metrics_named(text):
    return set(re.findall(r"\brunyard_\w+", text))
