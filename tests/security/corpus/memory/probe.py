"""Allocates more memory than a job may have. Bounded, in case there is no limit."""
import time

print("PROBED", flush=True)
taken = [bytearray(b"x" * (16 << 20)) for _ in range(28)]
time.sleep(20)
