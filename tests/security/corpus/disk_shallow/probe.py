"""Writes more than a job's disk limit, in many files."""
import time

print("PROBED", flush=True)
for number in range(160):
    with open(f"file.{number}", "wb") as file:
        file.write(b"x" * (1 << 20))
time.sleep(20)
