# SPDX-License-Identifier: MPL-2.0
# label: extended
"""The Helm chart, offline: its values, what it renders, and that both are true to the programs."""

import json
import os
import re
import subprocess
import sys

import pytest
import yaml

from support import chart, container
from support.chart import CASES, CHART, EXAMPLES, KUBERNETES, case, environment, objects, of_kind, pods, problems, render, template
from support.process import clean_environment, program
from support.release import PROCESSES, ROOT

GOLDEN = ROOT / "tests/deploy/chart"
MINIMAL = case("minimal")
VALUES = yaml.safe_load((CHART / "values.yaml").read_text())
SCHEMA = json.loads((CHART / "values.schema.json").read_text())


@pytest.fixture(scope="module")
def rendered():
    return {name: render(case(name)) for name in CASES}


def containers(spec):
    return [*spec.get("initContainers", []), *spec["containers"]]


# ---- values ----


@pytest.mark.parametrize("name", CASES)
def test_lint_finds_nothing(name):
    done = chart.helm("lint", "--strict", CHART, "--values", case(name), "--kube-version", KUBERNETES[-1])
    assert done.returncode == 0 and "[WARNING]" not in done.stdout, done.stdout


def test_generated_files_are_up_to_date():
    done = subprocess.run([sys.executable, ROOT / "deploy/helm/generate", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def resolved(schema):
    return SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def named(values, schema, path=""):
    """Compares the keys of the values with those of the schema."""
    schema = resolved(schema)
    if schema.get("additionalProperties") is False:
        assert isinstance(values, dict) and (values.keys() == schema["properties"].keys() or not values), path
        for key, value in values.items():
            named(value, schema["properties"][key], f"{path}.{key}")


def test_the_schema_names_every_value():
    named(VALUES, SCHEMA)
    pool = SCHEMA["properties"]["worker"]["properties"]["pools"]["items"]
    assert pool["additionalProperties"] is False and pool["properties"].keys() - {"name"} == VALUES["worker"]["defaults"].keys()


@pytest.mark.parametrize("setting", [
    "replica=1", "scheduler.replica=1", "scheduler.options.keep-log-days=1", "worker.defaults.limits.applySecond=10", "worker.pools[0].name=a,worker.pools[0].slot=2",
    "worker.pools[0].name=a,worker.pools[0].autoscaling.maximum=2", "kafka.tls.ca=x", "networkPolicy.clusterRange={10.0.0.0/8}", "worker.defaults.isolation=jobs",
    "worker.defaults.options.sandbox=none", "notifier.options.smtp-tls=maybe", "publicUrl=runyard.example.com"])
def test_misspelt_keys_and_wrong_values_fail(setting):
    done = template(MINIMAL, setting)
    assert done.returncode != 0 and "values don't meet the specifications" in done.stderr, done.stderr


@pytest.mark.parametrize("setting, reason", [
    ("publicUrl=", "publicUrl is missing"), ("kafka.bootstrap=", "kafka.bootstrap is missing"), ("objectStore.url=https://s3/b", "objectStore.existingSecret is missing"),
    ("worker.defaults.autoscaling.enabled=true", "autoscaling.pool is missing"), ("worker.defaults.autoscaling.kafka.enabled=true", "autoscaling.kafka.poolId is missing"),
    ("gateway.enabled=true", "gateway.parentRefs is missing"), ("worker.defaults.slots=2", "isolation none has 2 slots"),
    ("worker.defaults.isolation=job", "isolation job needs autoscaling.enabled"), ("worker.defaults.state=objectStore", "state objectStore needs objectStore.url")])
def test_what_is_missing_is_named(setting, reason):
    done = template(MINIMAL, setting)
    assert done.returncode != 0 and reason in done.stderr, done.stderr


@pytest.mark.parametrize("limit", ["planSeconds", "applySeconds"])
def test_a_job_limit_must_fit_into_the_grace_period(limit):
    name = f"worker.defaults.limits.{limit}"
    assert template(MINIMAL, f"{name}=6840").returncode == 0  # 6840 + 300 + 60 = 7200
    done = template(MINIMAL, f"{name}=6841")
    assert done.returncode != 0
    assert f"the pool default: limits.{limit} (6841) + limits.stopSeconds (300) + 60 = 7201 exceeds terminationGracePeriodSeconds (7200)" in done.stderr
    done = template(MINIMAL, f"{name}=0")
    assert done.returncode != 0 and f"limits.{limit} is 0 (no limit)" in done.stderr


def test_a_pool_is_checked_with_its_own_limits():
    done = template(MINIMAL, "worker.pools[0].name=long,worker.pools[0].limits.applySeconds=86400")
    assert done.returncode != 0 and "the pool long: limits.applySeconds (86400)" in done.stderr
    assert template(MINIMAL, "worker.pools[0].name=long,worker.pools[0].limits.applySeconds=86400,worker.pools[0].terminationGracePeriodSeconds=90000").returncode == 0


def test_a_drain_ends_before_the_grace_period(rendered):
    for _, spec in pods(of_kind(rendered["full"], "Deployment", "StatefulSet")):
        (container,) = spec["containers"]
        values = environment(container)
        if container["name"] == "worker":
            drain, stop = int(values["RUNYARD_DRAIN_SECONDS"]), int(values["RUNYARD_JOB_STOP_SECONDS"])
            assert drain + stop + 60 == spec["terminationGracePeriodSeconds"]
            assert drain >= int(values["RUNYARD_APPLY_SECONDS"])


@pytest.mark.parametrize("state, expected", [("emptyDir", None), ("objectStore", "1"), ("volume", None)])
def test_schedulers_look_for_states_in_the_object_store_if_a_pool_uses_it(state, expected):
    done = template(MINIMAL, f"worker.pools[0].name=a,worker.pools[0].state={state},objectStore.url=https://s3/b,objectStore.existingSecret=s")
    assert done.returncode == 0, done.stderr
    found = of_kind(objects(done.stdout), "Deployment", "StatefulSet", "Job")
    programs = {container["name"]: environment(container).get("RUNYARD_RESCUE") for _, spec in pods(found) for container in spec["containers"]}
    assert {value for name, value in programs.items() if name not in ("worker", "notifier")} == {expected}
    assert programs["worker"] is None
    kinds = [one["kind"] for one in found if one["metadata"]["name"].endswith("-a")]
    assert kinds == ["StatefulSet" if state == "volume" else "Deployment"]


# ---- what it renders ----


@pytest.mark.parametrize("name", CASES)
def test_renders_are_the_golden_ones(name):
    """RUNYARD_GOLDEN=write writes them. Rules and dashboards have tests of their own."""
    text = "---\n".join(one for one in template(case(name)).stdout.split("---\n") if not re.search("^kind: (PrometheusRule|ConfigMap)$", one, re.M))
    golden = GOLDEN / f"{name}.yaml"
    if os.environ.get("RUNYARD_GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text)
    assert golden.read_text() == text, "review the change, then: RUNYARD_GOLDEN=write pytest tests/deploy/test_chart.py"
    assert not [line for line in text.splitlines() if line != line.rstrip()]


@pytest.mark.parametrize("version", KUBERNETES)
@pytest.mark.parametrize("name", CASES)
def test_objects_are_valid(name, version):
    for one in render(case(name), version=version):
        assert problems(one, version) is None, (one["kind"], one["metadata"]["name"], problems(one, version))


@pytest.mark.parametrize("kind, right, wrong", [
    ("Deployment", "replicas", "replica"), ("ScaledObject", "cooldownPeriod", "cooldownPeriode"), ("ScaledJob", "rollout", "roll"), ("ServiceMonitor", "interval", "intervall"), ("PrometheusRule", "alert", "alarm"),
    ("HTTPRoute", "parentRefs", "parents"), ("NetworkPolicy", "podSelector", "podsSelector")])
def test_the_check_finds_a_misspelt_key(rendered, kind, right, wrong):
    one = next(one for one in of_kind(rendered["full"], kind) if f'"{right}"' in json.dumps(one))
    assert problems(json.loads(json.dumps(one).replace(f'"{right}"', f'"{wrong}"')), KUBERNETES[-1])


def test_every_object_is_in_the_full_case(rendered):
    named = set(re.findall(r"^kind: (\w+)$", "\n".join(path.read_text() for path in (CHART / "templates").rglob("*.yaml")), re.M))
    assert {"Deployment", "ScaledObject", "PodDisruptionBudget", "NetworkPolicy", "Job", "Pod"} <= named <= {one["kind"] for one in rendered["full"]}


def restricted(spec, container):
    """PodSecurity `restricted`: the fields that it looks at and that this chart sets."""
    security = container["securityContext"]
    return (
        spec["securityContext"]["runAsNonRoot"] and (security.get("seccompProfile") or spec["securityContext"]["seccompProfile"])["type"] == "RuntimeDefault"
        and security["allowPrivilegeEscalation"] is False and security["capabilities"] == {"drop": ["ALL"]} and "procMount" not in security
        and not any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC"))
        and all(volume.keys() - {"name"} <= {"configMap", "emptyDir", "secret", "persistentVolumeClaim", "projected"} for volume in spec.get("volumes", [])))


@pytest.mark.parametrize("name", CASES)
def test_pods_are_restricted(rendered, name):
    found = dict(pods(rendered[name]))
    assert len(found) >= 4
    for pod, spec in found.items():
        assert spec["automountServiceAccountToken"] is False and spec["securityContext"]["runAsUser"] == 65532
        for container in containers(spec):
            assert container["securityContext"]["readOnlyRootFilesystem"]
            assert restricted(spec, container) == (pod != "runyard-worker-sandboxed"), pod


def test_a_sandboxed_pool_has_what_bubblewrap_needs(rendered):
    spec = dict(pods(rendered["full"]))["runyard-worker-sandboxed"]
    (container,) = spec["containers"]
    assert spec["hostUsers"] is False and container["securityContext"]["procMount"] == "Unmasked"
    assert container["securityContext"]["seccompProfile"] == {"type": "Localhost", "localhostProfile": "profiles/runyard-worker.json"}
    assert environment(container)["RUNYARD_SANDBOX"] == "bwrap"
    profile = json.loads((CHART / "files/seccomp.json").read_text())
    (rule,) = profile["syscalls"]
    assert profile["defaultAction"] == "SCMP_ACT_ERRNO" and rule["action"] == "SCMP_ACT_ALLOW"
    assert {"mount", "umount2", "pivot_root", "unshare", "clone", "setns", "execve"} <= set(rule["names"])
    assert not {"bpf", "kexec_load", "init_module", "ptrace_attach", "reboot", "swapon", "settimeofday"} & set(rule["names"])


def test_bubblewrap_works_under_the_profile():
    sandbox = "bwrap", "--unshare-all", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--hostname", "job"
    if subprocess.run([*sandbox, "true"], capture_output=True).returncode:
        pytest.skip("bubblewrap does not work here")
    done = container.under_profile(*sandbox, "sh", "-c", "hostname && ls /proc/self/fd >/dev/null && sleep 0")
    assert done.returncode == 0 and done.stdout == "job\n", done.stderr
    # setpriority, which any account may call, is not among them.
    assert "Operation not permitted" in container.under_profile("nice", "-n", "5", "true").stderr


def test_secrets_are_files(rendered):
    """Secrets reach the programs as files of which only the named keys are mounted."""
    for name in CASES:
        for _, spec in pods(rendered[name]):
            volumes = {volume["name"]: volume for volume in spec.get("volumes", [])}
            for container in containers(spec):
                assert "envFrom" not in container and all(entry.keys() == {"name", "value"} for entry in container.get("env", []))
                mounts = {mount["mountPath"]: volumes.get(mount["name"]) for mount in container.get("volumeMounts", [])}
                for entry in container.get("env", []):
                    if entry["value"].startswith("/etc/runyard/") and entry["name"] != "RUNYARD_ENGINE_KEYS":
                        folder, _, file = entry["value"].rpartition("/")
                        assert file in [item["path"] for item in mounts[folder]["secret"]["items"]], entry


def test_images_volumes_and_selectors_fit(rendered):
    for name in CASES:
        for one in of_kind(rendered[name], "Deployment", "StatefulSet"):
            labels = one["spec"]["template"]["metadata"]["labels"]
            assert one["spec"]["selector"]["matchLabels"].items() <= labels.items()
        for one in of_kind(rendered[name], "Service", "PodDisruptionBudget", "NetworkPolicy"):
            selector = one["spec"].get("podSelector", one["spec"].get("selector"))
            selector = selector.get("matchLabels", selector)
            chosen = [pod for pod, template in chart.templates(rendered[name]) if selector.items() <= template["metadata"]["labels"].items()]
            assert chosen, one["metadata"]["name"]


def test_version_is_the_programs():
    version = re.search(r"project\(runyard VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"] == version


# ---- true to the programs ----


@pytest.fixture(scope="module")
def said():
    """{process: output of --help}"""
    return {process: subprocess.run([program(f"runyard-{process}"), "--help"], capture_output=True, text=True, check=True, env=clean_environment()).stdout
            for process in PROCESSES}


@pytest.mark.parametrize("name", CASES)
def test_settings_are_options_of_the_process(rendered, said, name):
    for _, spec in pods(rendered[name]):
        for container in containers(spec):
            process = container["command"][0].removeprefix("runyard-")
            variables = [entry["name"] for entry in container.get("env", [])]
            assert len(variables) == len(set(variables))
            for variable in variables:
                assert re.search(rf" ({variable}|{variable.removesuffix('_FILE')})\b", said[process]), variable
            if process in said:
                assert set(re.findall(r"(RUNYARD_\w+)(?:(?!\n  --)[\s\S])*?Required\.", said[process])) <= {variable.removesuffix("_FILE") for variable in variables}
            if len(container["command"]) > 1 and process in said:
                assert re.search(rf"^  {container['command'][1]}\b", said[process], re.M), container["command"]


@pytest.mark.parametrize("process", PROCESSES)
def test_values_take_every_option_that_the_templates_do_not_set(said, process):
    names = re.findall(r"^  --(\S+)", said[process], re.M)
    taken = SCHEMA["$defs"][f"{process}Options"]["properties"].keys()
    done = template(MINIMAL)
    variables = {name.removesuffix("_FILE") for name in re.findall(r"RUNYARD_\w+", "\n".join(path.read_text() for path in (CHART / "templates").rglob("*.*")))}
    assert done.returncode == 0 and taken <= set(names)
    for name in set(names) - taken:
        variable = "RUNYARD_" + name.removesuffix("-file").upper().replace("-", "_")
        assert variable in variables or name in ("name", "user", "port-file", "internal-url", "public-url", "deliver"), name


def test_metrics_exist(rendered):
    text = (ROOT / "deploy/REFERENCE.md").read_text()
    named = chart.metrics_named(json.dumps(of_kind(rendered["full"], "ScaledObject")))
    assert named >= {"runyard_slots_wanted"}
    assert not [name for name in named if f"`{name}`" not in text]


def test_a_metric_with_another_name_is_noticed(rendered):
    text = (ROOT / "deploy/REFERENCE.md").read_text().replace("runyard_slots_wanted", "runyard_slots_needed")
    assert [name for name in chart.metrics_named(json.dumps(of_kind(rendered["full"], "ScaledObject"))) if f"`{name}`" not in text]


def test_rules_and_dashboards_are_the_files(rendered):
    (rule,) = of_kind(rendered["full"], "PrometheusRule")
    text = (ROOT / "deploy/prometheus/rules.yaml").read_text()
    assert rule["spec"] == yaml.safe_load(text.replace("https://runyard.example.com/runbooks/", "https://wiki.example.com/runyard/"))
    assert "https://wiki.example.com/runyard/" in json.dumps(rule)
    files = {path.name: path.read_text() for path in (ROOT / "deploy/grafana").glob("*.json")}
    maps = of_kind(rendered["full"], "ConfigMap")
    assert {name: json.loads(text) for one in maps for name, text in one["data"].items()} == {name: json.loads(text) for name, text in files.items()}
    assert len(files) >= 4 and all(one["metadata"]["labels"]["grafana_dashboard"] == "1" for one in maps)


# ---- scaling, networks ----


def scaled(rendered, pool):
    return next(one for one in of_kind(rendered, "ScaledObject") if one["metadata"]["name"] == f"runyard-worker-{pool}")["spec"]


def test_slots_wanted_decide_and_lag_wakes(rendered):
    spec = scaled(rendered["full"], "default")
    decides, wakes = spec["triggers"]
    services = {one["metadata"]["name"]: one for one in of_kind(rendered["full"], "Service")}
    host, port = re.fullmatch(r"http://(\S+)\.runyard\.svc:(\d+)/metrics", decides["metadata"]["url"]).groups()
    assert services[host]["spec"]["clusterIP"] == "None" and services[host]["spec"]["ports"][0]["port"] == services[host]["spec"]["ports"][0]["targetPort"] == int(port)
    assert decides["metadata"]["aggregationType"] == "max" and decides["metadata"]["valueLocation"] == 'runyard_slots_wanted{pool="acme/default"}'
    assert wakes["metadata"]["topic"] == "runyard.jobs.apool-0123456789abcdef" and wakes["metadata"]["consumerGroup"] == "runyard-worker-apool-0123456789abcdef"
    assert int(wakes["metadata"]["lagThreshold"]) >= 1000000
    assert spec["fallback"]["behavior"] == "currentReplicasIfHigher" and spec["fallback"]["replicas"] == 1
    target = next(one for one in of_kind(rendered["full"], spec["scaleTargetRef"]["kind"]) if one["metadata"]["name"] == spec["scaleTargetRef"]["name"])
    assert "replicas" not in target["spec"]


def test_a_worker_has_as_many_slots_as_its_target(rendered):
    spec = scaled(rendered["full"], "sandboxed")
    (trigger,) = spec["triggers"]
    (container,) = dict(pods(rendered["full"]))["runyard-worker-sandboxed"]["containers"]
    assert trigger["metadata"]["targetValue"] == environment(container)["RUNYARD_SLOTS"] == "4"


def test_a_pool_of_jobs_has_a_pod_for_each(rendered):
    (one,) = of_kind(rendered["full"], "ScaledJob")
    spec, pod = one["spec"], one["spec"]["jobTargetRef"]["template"]["spec"]
    values = environment(pod["containers"][0])
    assert values["RUNYARD_ONCE"] == "1" and values["RUNYARD_SLOTS"] == spec["triggers"][0]["metadata"]["targetValue"] == "1"
    assert pod["restartPolicy"] == "Never" and spec["jobTargetRef"]["backoffLimit"] == 0
    assert spec["rollout"]["strategy"] == "gradual", "the default deletes running Jobs when the release is upgraded"
    assert "runyard-worker-jobs" not in [one["metadata"]["name"] for one in of_kind(rendered["full"], "Deployment", "PodDisruptionBudget")]


TRIGGERS = "worker.defaults.autoscaling.enabled=true,worker.defaults.autoscaling.triggers[0].type="


def test_other_triggers_may_decide_but_not_lag_alone():
    (one,) = of_kind(render(MINIMAL, TRIGGERS + "prometheus"), "ScaledObject")
    assert [trigger["type"] for trigger in one["spec"]["triggers"]] == ["prometheus"]
    done = template(MINIMAL, TRIGGERS + "kafka")
    assert done.returncode != 0 and "autoscaling.triggers has only kafka" in done.stderr


def test_no_scaling_by_default(rendered):
    assert not of_kind(rendered["minimal"], "ScaledObject")
    assert all("replicas" in one["spec"] for one in of_kind(rendered["minimal"], "Deployment"))


def policy(rendered, name):
    return next(one for one in of_kind(rendered, "NetworkPolicy") if one["metadata"]["name"] == name)["spec"]


def blocks(rules):
    """Address blocks that are allowed at every port."""
    return [peer["ipBlock"] for rule in rules if "ports" not in rule for peer in rule["to"]]


@pytest.mark.parametrize("process", ["notifier", "worker-default"])
def test_jobs_and_deliveries_reach_public_addresses_only(rendered, process):
    egress = policy(rendered["minimal"], f"runyard-{process}")["egress"]
    four, six = blocks(egress)
    assert {"169.254.0.0/16", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"} <= set(four["except"]) and {"fd00:ec2::254/128", "fc00::/7"} <= set(six["except"])
    ports = [port["port"] for rule in egress for port in rule.get("ports", [])]
    assert 9464 not in ports and "metrics" not in ports
    metadata = [block for rule in egress for peer in rule["to"] if (block := peer.get("ipBlock")) and "169.254.0.0/16" not in block.get("except", []) and ":" not in block["cidr"]]
    assert not metadata


def test_a_pool_names_a_metadata_address_as_an_exception(rendered):
    assert {"cidr": "169.254.169.254/32"} in blocks(policy(rendered["full"], "runyard-worker-cloud")["egress"])
    assert {"cidr": "169.254.169.254/32"} not in blocks(policy(rendered["full"], "runyard-worker-default")["egress"])


def test_workers_and_strangers_do_not_reach_the_metrics_of_schedulers(rendered):
    ingress = policy(rendered["full"], "runyard-scheduler")["ingress"]
    by_port = {port["port"]: rule["from"] for rule in ingress for port in rule["ports"]}
    assert not [peer for peer in by_port["metrics"] if "podSelector" in peer]
    assert len([peer for peer in by_port["api"] if "podSelector" in peer]) == 2


def test_disruption_budgets(rendered):
    budgets = {one["metadata"]["name"]: one["spec"] for one in of_kind(rendered["minimal"], "PodDisruptionBudget")}
    assert budgets["runyard-scheduler"]["minAvailable"] == budgets["runyard-notifier"]["minAvailable"] == 1
    assert budgets["runyard-worker-default"]["maxUnavailable"] == 1
    alone = render(MINIMAL, "scheduler.replicas=1")
    assert "runyard-scheduler" not in [one["metadata"]["name"] for one in of_kind(alone, "PodDisruptionBudget")]


# ---- examples ----


@pytest.mark.parametrize("version", KUBERNETES)
def test_the_example_is_valid(version):
    for one in render(EXAMPLES / "values.yaml", version=version):
        assert problems(one, version) is None, (one["kind"], one["metadata"]["name"], problems(one, version))


def test_postgresql_of_the_example_is_valid():
    (cluster,) = chart.objects((EXAMPLES / "cloudnativepg.yaml").read_text())
    assert problems(cluster, KUBERNETES[-1]) is None
    assert problems({**cluster, "spec": {**cluster["spec"], "instance": 3}}, KUBERNETES[-1])


def test_the_example_uses_what_its_operators_make():
    """CloudNativePG writes CLUSTER-app, Strimzi CLUSTER-cluster-ca-cert, CLUSTER-kafka-bootstrap and the Secrets of users."""
    rendered = render(EXAMPLES / "values.yaml")
    (cluster,) = chart.objects((EXAMPLES / "cloudnativepg.yaml").read_text())
    kafka = chart.objects((EXAMPLES / "strimzi.yaml").read_text())
    (broker,) = of_kind(kafka, "Kafka")
    users = {one["metadata"]["name"] for one in of_kind(kafka, "KafkaUser")}
    made = {f"{cluster['metadata']['name']}-app", f"{broker['metadata']['name']}-cluster-ca-cert", *users}
    used = {volume["secret"]["secretName"] for _, spec in pods(rendered) for volume in spec.get("volumes", []) if "secret" in volume}
    assert made <= used and used - made == {"runyard", "runyard-redis", "runyard-long", "runyard-cloud"}
    (listener,) = broker["spec"]["kafka"]["listeners"]
    address = f"{broker['metadata']['name']}-kafka-bootstrap.{broker['metadata']['namespace']}.svc:{listener['port']}"
    for name, spec in pods(of_kind(rendered, "Deployment", "StatefulSet")):
        values = environment(spec["containers"][0])
        assert values["RUNYARD_BROKERS"] == address, name
        assert all(part in values["RUNYARD_BROKER_PROPERTIES"] for part in ("security.protocol=ssl", "ssl.ca.location=", "ssl.key.location="))
    assert {one["metadata"]["labels"]["strimzi.io/cluster"] for one in kafka if one["kind"] != "Kafka"} == {broker["metadata"]["name"]}


def test_users_of_the_example_reach_the_topics_of_the_processes():
    """The names of topics and groups that the users may use begin as those of the programs do."""
    topics = re.findall(r'^TOPIC\(\w+, "([\w.-]+)"', (ROOT / "proto/topics.def").read_text(), re.M)
    for user in of_kind(chart.objects((EXAMPLES / "strimzi.yaml").read_text()), "KafkaUser"):
        for acl in user["spec"]["authorization"]["acls"]:
            name, prefix = acl["resource"]["name"], acl["resource"]["patternType"] == "prefix"
            if acl["resource"]["type"] == "topic":
                assert name in topics or prefix and any(topic.startswith(name) for topic in topics), name
