"""Leaves links to files outside at all places that the worker reads or removes after the job."""
import os

target = os.environ["CANARY"]
for path in ("link", ".terraform/link", "../state/terraform.tfstate.backup", "../out/link", "../home/link", "../vars/link"):
    try:
        os.symlink(target, path)
    except OSError:
        continue
os.makedirs("folder", exist_ok=True)
os.symlink(os.path.dirname(target), "folder/up")
os.symlink("/", "root")
for source in ("/etc/passwd", "/etc/hosts", "/engine/terraform", "/engine/tofu", target):
    try:
        os.link(source, "hard" + source.replace("/", "_"))
        print("ESCAPED: linked", source)
    except OSError:
        continue
try:
    os.chmod("link", 0o777)
    print("ESCAPED: changed", target)
except OSError:
    pass
print("PROBED")
