"""Prints terminal escapes, marks of a log's end, markup, and three megabytes in one line."""
import sys

sys.stdout.buffer.write(b"\x1b]0;forged\x07\x1b[2J\x1b[8m\x02\x03\x00<script>forged</script>\xff\xfe\r\n")
sys.stdout.buffer.write(b"x" * 3000000 + b"\n")
print("PROBED")
