"""Opens kernel settings for writing. One harmless setting is written, and the test restores it."""
import glob
import os

PATHS = ["/proc/sysrq-trigger", "/proc/kcore", "/proc/kmem", "/proc/mtrr", "/proc/acpi/wakeup", "/proc/timer_list", "/proc/sched_debug", "/proc/self/../1/oom_score_adj"]
PATTERNS = ["/proc/sys/kernel/*", "/proc/sys/vm/*", "/proc/sys/fs/*", "/proc/sys/fs/binfmt_misc/*", "/proc/sys/net/ipv4/*", "/proc/irq/*/smp_affinity", "/proc/bus/*/*", "/proc/fs/*/*",
            "/proc/scsi/*", "/sys/kernel/*", "/sys/power/*", "/sys/fs/cgroup/*", "/sys/fs/cgroup/*/*"]
# The job owns these: user and network namespaces have limits of their own, and changing them affects nothing outside.
OWN = ("/proc/self/../1/oom_score_adj",)

for path in PATHS + [path for pattern in PATTERNS for path in glob.glob(pattern)]:
    try:
        os.close(os.open(path, os.O_WRONLY))
    except OSError:
        continue
    if path not in OWN:
        print("ESCAPED: opened", path, flush=True)
try:
    with open("/proc/sys/kernel/printk_ratelimit_burst", "w") as setting:
        setting.write("11")
except OSError:
    pass
print("PROBED")
