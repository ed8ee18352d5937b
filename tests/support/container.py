# SPDX-License-Identifier: MPL-2.0
"""Runs a container of the chart without a container runtime: as its account, with its environment and its volumes, on a read-only root. Its network is this machine's."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

from support.chart import CHART, environment
from support.process import Process

PROFILE = Path(__file__).with_name("seccomp_profile.py"), CHART / "files/seccomp.json"
PROFILED = "/opt/profile.py", "/opt/profile.json"
PROGRAMS = "/opt/runyard"


def root(tree, unmasked):
    """bwrap's arguments for a root in which only the volumes can be written. Volumes are mounted below its /etc. With an unmasked /proc it has this machine's processes, since
    bwrap masks a new one."""
    shown = [path for path in Path("/").iterdir() if path.name not in ("proc", "dev", "sys", "tmp", "etc", "var", "run", "opt")]
    yield from ("--bind", "/proc", "/proc") if unmasked else ("--unshare-pid", "--as-pid-1", "--proc", "/proc")
    yield from ("--dev", "/dev")
    for path in ("/etc", "/etc/runyard", "/opt", "/var", "/var/lib"):
        yield from ("--perms", "0755", "--dir", path)
    for path in [*shown, *(path for path in Path("/etc").iterdir() if path.name != "runyard")]:
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), str(path))
        elif path.exists():
            yield from ("--ro-bind", str(path), str(path))
    for source, path in zip((tree, *PROFILE), (PROGRAMS, *PROFILED)):
        yield from ("--ro-bind", str(source), path)


def volumes(spec, container, folder, secrets):
    """bwrap's arguments for the volumes. `secrets` has the keys of Secrets by their names. Kubernetes gives files and folders to the pod's group."""
    group = spec["securityContext"]["fsGroup"]
    declared = {volume["name"]: volume for volume in spec["volumes"]}
    for mount in container["volumeMounts"]:
        source = folder / mount["name"]
        source.mkdir()
        volume = declared[mount["name"]]
        for item in volume.get("secret", {}).get("items", []):
            file = source / item["path"]
            file.write_text(secrets[volume["secret"]["secretName"]][item["key"]])
            os.chown(file, 0, group)
            file.chmod(volume["secret"]["defaultMode"])
        os.chown(source, 0, group)
        source.chmod(0o2777 if "emptyDir" in volume else 0o755)
        yield from ("--ro-bind" if mount.get("readOnly") else "--bind", str(source), mount["mountPath"])


def start(spec, folder, tree, secrets, shown=(), **instead):
    """Starts the only container of a pod. `instead` replaces variables of its environment, `shown` are further folders that it can read."""
    (container,) = spec["containers"]
    security, folder = spec["securityContext"], Path(folder) / container["name"]
    folder.mkdir()
    variables = {**environment(container), **{f"RUNYARD_{name.upper()}": str(value) for name, value in instead.items()}, "PATH": f"{PROGRAMS}/bin:/usr/bin:/bin"}
    account = ["setpriv", "--reuid", str(security["runAsUser"]), "--regid", str(security["runAsGroup"]), "--groups", str(security["fsGroup"]), "--no-new-privs",
               "--inh-caps=-all", "--bounding-set=-all"]
    profiled = container["securityContext"].get("seccompProfile", {}).get("type") == "Localhost"
    unmasked = container["securityContext"].get("procMount") == "Unmasked"
    profile = ["/usr/bin/python3", *PROFILED] if profiled else []
    extra = [part for path in map(str, shown) for part in ("--ro-bind", path, path)]
    command = [shutil.which("bwrap"), *root(tree, unmasked), *volumes(spec, container, folder, secrets), *extra, "--remount-ro", "/", "--", *account, *profile, *container["command"]]
    return Process(container["name"], command, folder.parent, env=variables).launch()


def stop(process):
    """Sends SIGTERM to the container's first process, as a kubelet does. Returns its exit code."""
    (child,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(child), signal.SIGTERM)
    return process.ended()


def end(process):
    """Ends the container and its first process, which outlives bwrap otherwise: it has changed its user."""
    if process.alive():
        for child in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split():
            os.kill(int(child), signal.SIGKILL)
    process.stop()


def under_profile(*command):
    """Runs the command as the image's account with the system calls of the shipped profile."""
    account = ["setpriv", "--reuid", "65532", "--regid", "65532", "--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"] if os.geteuid() == 0 else []
    return subprocess.run([*account, sys.executable, *PROFILE, *command], capture_output=True, text=True)
