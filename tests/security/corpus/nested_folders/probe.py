"""30,000 folders, one in the other."""
import os

for _ in range(30000):
    os.mkdir("d")
    os.chdir("d")
print("PROBED")
