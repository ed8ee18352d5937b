"""Fills the disk like disk_shallow, but with files that are deleted and still open."""
import os
import time

print("PROBED", flush=True)
kept = []
for number in range(16):
    kept.append(open(f"file.{number}", "wb"))
    os.remove(f"file.{number}")
    kept[-1].write(b"x" * (10 << 20))
    kept[-1].flush()
time.sleep(20)
