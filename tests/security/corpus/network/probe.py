"""Connects to the worker host's own ports and to the cloud's metadata address."""
import os
import socket

for port in os.environ["PORTS"].split(","):
    for host in ("127.0.0.1", "127.1.2.3", "0.0.0.0", "::1", "::ffff:127.0.0.1", "localhost"):
        try:
            socket.create_connection((host, int(port)), timeout=2).close()
            print(f"ESCAPED: connected to {host} {port}", flush=True)
        except OSError:
            continue
for host in ("169.254.169.254", "fd00:ec2::254"):
    try:
        socket.create_connection((host, 80), timeout=2).close()
        print("ESCAPED: connected to", host, flush=True)
    except OSError:
        continue
for name in ("\0" + os.environ["CANARY"], os.environ["CANARY"] + ".socket"):
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(name)
            print("ESCAPED: connected to", repr(name), flush=True)
        except OSError:
            continue
print("PROBED")
