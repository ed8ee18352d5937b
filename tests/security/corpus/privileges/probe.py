"""Tries to get privileges that a job does not have."""
import ctypes
import errno
import os
import shutil
import subprocess

status = dict(line.split(":\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\t" in line)
if status["NoNewPrivs"].strip() != "1":
    print("ESCAPED: setuid programs get rights")
for name in ("CapEff", "CapPrm", "CapInh", "CapAmb"):
    if int(status[name], 16):
        print("ESCAPED: holds", name, status[name])
shutil.copy("/bin/sh", "shell")
os.chmod("shell", 0o6755)
# Each would be harmless outside of a sandbox.
for command in ("mkdir mounted && mount -t tmpfs none mounted", "mount -o remount,rw /usr", "chroot /proc/1/root true", "unshare -r true", "unshare -m true", "unshare -n true", "nsenter -t 1 -m true",
                "su -c true nobody", "sysctl -w kernel.printk_ratelimit_burst=11", "renice -n -5 $$", "chown 65534 shell"):
    if subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True).returncode == 0:
        print("ESCAPED:", command)
libc = ctypes.CDLL(None, use_errno=True)
X86_64 = {"keyctl": (250, 0, -3, 0), "bpf": (321, 0, 0, 0), "perf_event_open": (298, 0, 0, -1, -1, 0), "userfaultfd": (323, 0), "open_by_handle_at": (304, -100, 0, 0), "kexec_load": (246, 0, 0, 0, 0),
          "init_module": (175, 0, 0, 0), "add_key": (248, 0, 0, 0, 0, 0), "io_uring_setup": (425, 1, 0), "setns": (308, -1, 0)}
for name, call in X86_64.items() if os.uname().machine == "x86_64" else ():
    ctypes.set_errno(0)
    libc.syscall(*call)
    # The filter returns EPERM or ENOSYS. With any other result the kernel has evaluated the arguments.
    if ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
        print("ESCAPED: the kernel takes the system call", name)
print("PROBED")
