"""Starts more processes than a job may have, each in a session of its own. Bounded, in case there is no limit."""
import os
import time

print("PROBED", flush=True)
for _ in range(200):
    if os.fork() == 0:
        os.setsid()
        os.execvp("sleep", ["sleep", "20"])
time.sleep(20)
