# SPDX-License-Identifier: MPL-2.0
"""A virtual machine with a bare Debian 12 and servers: a kernel, systemd and control groups of its own. It can neither reach nor
change this machine. Ports of this machine's loopback lead to it."""

import fcntl
import os
import shutil
import subprocess

from support.process import Process, clean_environment, free_port
from support.release import run
from support.servers import DEPS

FOLDER = DEPS / "machine"
TOOLS = FOLDER / "tools"
LIBRARIES = TOOLS / "usr/lib/x86_64-linux-gnu", TOOLS / "lib/x86_64-linux-gnu"
SUITE, MIRROR = "bookworm", "http://deb.debian.org/debian"
BASE = "systemd-sysv,dbus,udev,openssh-server,linux-image-cloud-amd64,initramfs-tools"
BOOT_SECONDS = 600  # without hardware virtualization, on a busy machine
FILES = {
    "etc/hostname": "machine\n",
    "etc/hosts": "127.0.0.1 localhost machine\n",
    "etc/systemd/network/lan.network": "[Match]\nType=ether\n[Network]\nAddress=10.0.2.15/24\nGateway=10.0.2.2\n",
}


# ---- the image, made once ----

def tools_unpack():
    """Debian's qemu and debootstrap with the libraries that this machine lacks. Nothing is installed."""
    if (TOOLS / "complete").exists():
        return
    archives = FOLDER / "archives"
    archives.mkdir(parents=True, exist_ok=True)
    wanted = run("apt-get", "-s", "-o", "Debug::NoLocking=1", "--no-install-recommends", "install", "--reinstall", "qemu-system-x86", "debootstrap")
    names = [line.split()[1] for line in wanted.splitlines() if line.startswith("Inst ")]
    run("apt-get", "-qq", "-o", "APT::Sandbox::User=root", "download", *names, cwd=archives)
    for archive in sorted(archives.glob("*.deb")):
        run("dpkg", "-x", archive, TOOLS)
    shutil.rmtree(archives)
    (TOOLS / "complete").touch()


def contained(*command, **options):
    """Runs a command with mounts and processes that end with it."""
    return run("unshare", "--mount", "--pid", "--uts", "--ipc", "--fork", "--kill-child", "--mount-proc", *command, **options)


def root_make(root):
    """Debian's minimal system with a kernel and sshd. Its maintainer scripts run in a chroot that has no service manager."""
    environment = {**os.environ, "DEBOOTSTRAP_DIR": str(TOOLS / "usr/share/debootstrap")}
    shutil.rmtree(root, ignore_errors=True)
    contained(TOOLS / "usr/sbin/debootstrap", "--variant=minbase", f"--include={BASE}", SUITE, root, MIRROR, env=environment)
    for path, text in FILES.items():
        (root / path).write_text(text)
    run("systemctl", f"--root={root}", "enable", "systemd-networkd")


def apt(root, *arguments):
    contained("chroot", root, "apt-get", "-qq", *arguments, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})


def servers_install(root, servers):
    """Installs Debian's servers. None is started: policy-rc.d forbids it."""
    policy = root / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)
    apt(root, "update")
    apt(root, "install", *servers)
    policy.unlink()


def packages_download(root, packages):
    """Fetches the dependencies of the packages for apt in the machine, which has no network."""
    (root / "packages").mkdir()
    for package in packages:
        shutil.copy(package, root / "packages")
    apt(root, "--download-only", "install", *[f"/packages/{package.name}" for package in packages])
    shutil.rmtree(root / "packages")


def disk_make(folder, file, size, label):
    """A disk with the files of a folder; nothing is mounted."""
    run("mke2fs", "-q", "-t", "ext4", "-L", label, "-d", folder, file, size)


def depends(packages):
    return "".join(sorted(run("dpkg-deb", "-f", package, "Depends") for package in packages))


def prepare(packages, servers):
    """Makes the image with the servers, unless there is one for the same dependencies of the packages."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        key = repr((depends(packages), servers, BASE, FILES))
        made_for = FOLDER / "made-for"
        if made_for.exists() and made_for.read_text() == key:
            return
        tools_unpack()
        root = FOLDER / "root"
        root_make(root)
        servers_install(root, servers)
        packages_download(root, packages)
        key_file = FOLDER / "ssh-key"
        key_file.unlink(missing_ok=True)
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key_file)
        (root / "root/.ssh").mkdir(mode=0o700, exist_ok=True)
        shutil.copy(key_file.with_suffix(".pub"), root / "root/.ssh/authorized_keys")
        for name in ("vmlinuz", "initrd.img"):
            shutil.copy(next((root / "boot").glob(f"{name}-*")), FOLDER / name)
        (FOLDER / "root.ext4").unlink(missing_ok=True)
        disk_make(root, FOLDER / "root.ext4", "6G", "root")
        shutil.rmtree(root)
        made_for.write_text(key)


# ---- a machine that runs ----

def accelerator():
    """KVM needs hardware virtualization; else qemu translates the machine's instructions."""
    with open("/proc/cpuinfo") as info:
        flags = set(next(line for line in info if line.startswith("flags")).split())
    return "kvm" if flags & {"vmx", "svm"} and os.access("/dev/kvm", os.W_OK) else "tcg,thread=multi"


class Machine:
    """Boots a copy of the image, which is dropped at the end. `media` is a folder whose files the machine has below
    /mnt. `ports` are open under the same numbers here and there."""

    def __init__(self, folder, media, ports):
        self.folder = folder
        self.ports = {22: free_port(), **{port: port for port in ports}}
        disk = folder / "media.ext4"
        disk_make(media, disk, "1G", "media")
        environment = clean_environment(LD_LIBRARY_PATH=":".join(map(str, LIBRARIES)), QEMU_MODULE_DIR=LIBRARIES[0] / "qemu", TMPDIR=folder)
        self.qemu = Process("qemu", self.command(disk), folder, env=environment)
        self.shell = Process("ssh", [*self.ssh("-M", "-N")], folder)

    def command(self, disk):
        forwards = "".join(f",hostfwd=tcp:127.0.0.1:{here}-:{there}" for there, here in self.ports.items())
        return [
            TOOLS / "usr/bin/qemu-system-x86_64", "-accel", accelerator(), "-cpu", "max", "-machine", "q35", "-smp", "2", "-m", "3G",
            "-nodefaults", "-display", "none", "-no-reboot", "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny",
            "-L", TOOLS / "usr/share/qemu", "-L", TOOLS / "usr/share/seabios", "-serial", f"file:{self.folder}/console.log",
            "-kernel", FOLDER / "vmlinuz", "-initrd", FOLDER / "initrd.img", "-append", "root=/dev/vda rw console=ttyS0 quiet",
            "-drive", f"file={FOLDER}/root.ext4,format=raw,if=virtio,snapshot=on,cache=unsafe", "-drive", f"file={disk},format=raw,if=virtio,readonly=on",
            "-device", "virtio-rng-pci", "-device", "virtio-net-pci,netdev=lan,romfile=", "-netdev", f"user,id=lan,restrict=on{forwards}",
        ]

    def ssh(self, *options):
        return ["ssh", "-F", "/dev/null", "-i", str(FOLDER / "ssh-key"), "-S", str(self.folder / "ssh"), "-p", str(self.ports[22]),
                "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR", *options, "root@127.0.0.1"]

    def boot(self):
        self.qemu.launch()
        self.qemu.wait_until(self.connected, "the machine boots", BOOT_SECONDS)
        self.run("mount -r LABEL=media /mnt && systemctl is-system-running --wait")
        return self

    def connected(self):
        if not self.shell.alive():
            self.shell.launch()
        return subprocess.run(self.ssh("-O", "check"), capture_output=True).returncode == 0

    def call(self, script, stdin=None):
        """Runs a shell script as root. Returns its exit code and its output."""
        done = subprocess.run([*self.ssh(), script], text=True, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=None if stdin is not None else subprocess.DEVNULL)
        return done.returncode, done.stdout

    def run(self, script, stdin=None):
        """The same for a script that must succeed. Returns its output."""
        code, output = self.call(script, stdin)
        assert code == 0, f"{script}: {code}\n{output[-4000:]}"
        return output

    def stop(self):
        self.shell.stop()
        self.qemu.stop()
