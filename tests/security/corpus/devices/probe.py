"""Opens and creates devices."""
import glob
import os
import stat

for path in ["/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/net/tun", "/dev/loop-control", "/dev/uinput", "/dev/mapper/control",
             *glob.glob("/dev/[svx]d[a-z]*"), *glob.glob("/dev/nvme*"), *glob.glob("/dev/loop*"), *glob.glob("/dev/ram*")]:
    try:
        os.close(os.open(path, os.O_RDONLY))
        print("ESCAPED: opened", path)
    except OSError:
        continue
for folder in (".", "/tmp", "/dev/shm"):
    path = f"{folder}/made"
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 1))
        os.close(os.open(path, os.O_RDONLY))
        print("ESCAPED: made a device at", path)
    except OSError:
        continue
for path in ("/dev/forged", "/dev/null/forged"):
    try:
        open(path, "w").close()
        print("ESCAPED: wrote", path)
    except OSError:
        continue
print("PROBED")
