"""Creates 30,000 nested folders."""
import os

for _ in range(30000):
    os.mkdir("d")
    os.chdir("d")
print("PROBED")
