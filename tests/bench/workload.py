# SPDX-License-Identifier: MPL-2.0
"""What the runs of a benchmark plan and apply: one terraform_data, or resources of five providers and four modules."""

import shutil
import tempfile
from contextlib import contextmanager, nullcontext
from pathlib import Path

from bench import CONFIGURATION, BareTerraform
from support.engine import time_provider
from support.git_servers import HttpServer

# Sources of the five providers. Each is a copy of the program of hashicorp/time: its own file, process and schemas.
PROVIDERS = {"time": "hashicorp/time", "two": "bench/two", "three": "bench/three", "four": "bench/four", "five": "bench/five"}
REGISTRIES = "registry.terraform.io", "registry.opentofu.org"
LOCAL_MODULES = "one", "two", "three"
MODULE = 'variable "word" {}\n\nresource "terraform_data" "part" {\n  input = var.word\n}\n\noutput "word" {\n  value = terraform_data.part.output\n}\n'


class Workload:
    """files: the configuration. worker: options of the worker. environment: variables of bare terraform."""

    def __init__(self, files, worker, environment):
        self.files, self.worker, self.environment = files, worker, environment


def workload_of(arguments):
    """A context with the workload that the arguments ask for."""
    return with_providers(arguments.module_ref) if arguments.providers else nullcontext(Workload({"main.tf": CONFIGURATION}, {}, {}))


def add_options(options):
    options.add_argument("--providers", action="store_true", help="a configuration with five providers and four modules")
    options.add_argument("--module-ref", choices=("tag", "commit"), default="tag", help="how the configuration names the version of the module from git (default tag)")


@contextmanager
def with_providers(module_ref):
    """Operators give --provider-mirror, and --job-network-allow for a git server on a denied address. Bare terraform has
    the same mirror, a warm plugin cache and the lock file."""
    folder = Path(tempfile.mkdtemp(prefix="runyard-bench-providers."))
    folder.chmod(0o755)
    server = HttpServer(folder / "git", user=None).start()
    try:
        mirror = make_mirror(folder / "mirror")
        environment = {"TF_CLI_CONFIG_FILE": cli_configuration(folder, mirror), "TF_PLUGIN_CACHE_DIR": folder / "cache"}
        files = configuration(module_source(server, module_ref))
        files[".terraform.lock.hcl"] = lock_file(files, environment)
        yield Workload(files, {"provider_mirror": mirror, "job_network_allow": f"127.0.0.1:{server.port}"}, environment)
    finally:
        server.release()
        shutil.rmtree(folder, ignore_errors=True)


def make_mirror(mirror):
    """A filesystem mirror with the providers under the names of both registries."""
    program = time_provider()
    platform, version = program.parent.name, program.parent.parent.name
    for registry in REGISTRIES:
        for source in PROVIDERS.values():
            place = mirror / registry / source / version / platform
            place.mkdir(parents=True)
            shutil.copy2(program, place / f"terraform-provider-{source.split('/')[1]}_v{version}")
    return mirror


def cli_configuration(folder, mirror):
    (folder / "cache").mkdir()
    path = folder / "terraformrc"
    path.write_text(f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n')
    return path


def module_source(server, module_ref):
    repository = server.repository("bench/module")
    commit = repository.commit({"main.tf": MODULE})
    repository.git("tag", "v1.0.0")
    repository.push("HEAD", "v1.0.0")
    return f"git::{server.url}/bench/module.git?ref={'v1.0.0' if module_ref == 'tag' else commit}"


def configuration(git_source):
    sources = {**{name: f"./modules/{name}" for name in LOCAL_MODULES}, "git": git_source}
    modules = "".join(f'module "{name}" {{\n  source = "{source}"\n  word   = "${{var.word}} ${{timestamp()}}"\n}}\n\n' for name, source in sources.items())
    required = "".join(f'    {name} = {{ source = "{source}" }}\n' for name, source in PROVIDERS.items())
    resources = "".join(f'resource "time_static" "{name}" {{\n  provider = {name}\n  triggers = {{ word = "${{var.word}} ${{timestamp()}}" }}\n}}\n\n' for name in PROVIDERS)
    main = f'terraform {{\n  required_providers {{\n{required}  }}\n}}\n\nvariable "word" {{\n  default = "none"\n}}\n\n{modules}{resources}'
    return {"main.tf": main, **{f"modules/{name}/main.tf": MODULE for name in LOCAL_MODULES}}


def lock_file(files, environment):
    """Runs bare terraform once, which also fills the plugin cache. Returns the lock file that init wrote."""
    bare = BareTerraform(files, **environment)
    try:
        bare.run()
        return (bare.folder / ".terraform.lock.hcl").read_text()
    finally:
        bare.release()
