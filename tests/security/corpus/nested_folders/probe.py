"""Creates 20,000 nested folders."""
import os

for _ in range(20000):
    os.mkdir("d")
    os.chdir("d")
print("PROBED")
