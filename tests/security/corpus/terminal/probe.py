"""Pushes characters into the worker's terminal."""
import fcntl
import glob
import os

TIOCSTI, TIOCLINUX = 0x5412, 0x541C
for path in ("/dev/tty", "/dev/console", "/dev/tty0", *glob.glob("/proc/self/fd/*"), *glob.glob("/dev/pts/[0-9]*")):
    try:
        terminal = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    except OSError:
        continue
    for request, argument in ((TIOCSTI, b"\n"), (TIOCLINUX, b"\x03")):
        try:
            fcntl.ioctl(terminal, request, argument)
            print("ESCAPED: terminal", path)
        except OSError:
            continue
print("PROBED")
