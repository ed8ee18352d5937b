"""Replaces every file that the worker reads after the apply with a link."""
import os

for folder in ("../state", "../out", "."):
    for name in ("terraform.tfstate", "plan", "terraform.tfstate.backup", "errored.tfstate"):
        path = os.path.join(folder, name)
        if os.path.lexists(path):
            os.remove(path)
        os.symlink(os.environ["CANARY"], path)
print("PROBED")
