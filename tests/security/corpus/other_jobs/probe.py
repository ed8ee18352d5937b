"""Looks for the worker's folders, other jobs and host files by name."""
import os

data = os.environ["DATA_DIR"]
for path in (data, f"{data}/jobs", f"{data}/providers", f"{data}/inits", f"{data}/unsent", f"{data}/schemas", os.environ["CANARY"], os.path.dirname(os.environ["CANARY"]),
             "/root", "/home", "/var/lib", "/work", "/etc/shadow", "/etc/sudoers", "/etc/ssh", "/run/docker.sock", "/var/run/docker.sock"):
    try:
        os.stat(path)
        print("ESCAPED: there is", path)
    except OSError:
        continue
for path in ("/providers/forged", "/providers/store/forged", "/engine/forged", "/usr/forged", "/etc/forged", "/forged", "/bin/forged"):
    try:
        open(path, "w").close()
        print("ESCAPED: wrote", path)
    except OSError:
        continue
print("PROBED")
