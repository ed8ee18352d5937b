"""Reads and signals processes outside of the job."""
import glob
import os

worker = int(os.environ["WORKER_PID"])
for path in glob.glob("/proc/[0-9]*"):
    for name in ("environ", "cmdline"):
        try:
            text = open(f"{path}/{name}", "rb").read()
        except OSError:
            continue
        # The job's own environment has no variables of the worker's options.
        if b"RUNYARD_" in text or b"runyard-worker" in text or b"agent-token" in text:
            print("ESCAPED: read", path, name)
for path in (f"/proc/{worker}/root", f"/proc/{worker}/cwd", f"/proc/{worker}/fd", f"/proc/{worker}/mem", "/proc/1/root/root", "/proc/1/root/home"):
    try:
        os.stat(path)
        print("ESCAPED: there is", path)
    except OSError:
        continue
try:
    os.kill(worker, 0)  # checks the permission only
    print("ESCAPED: may signal the worker")
except OSError:
    pass
print("PROBED")
