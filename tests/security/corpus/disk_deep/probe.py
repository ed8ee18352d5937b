"""Fills the disk like disk_shallow, but 200 folders deep."""
import os
import time

print("PROBED", flush=True)
for _ in range(200):
    os.mkdir("d")
    os.chdir("d")
for number in range(160):
    with open(f"file.{number}", "wb") as file:
        file.write(b"x" * (1 << 20))
time.sleep(20)
