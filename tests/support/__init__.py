# SPDX-License-Identifier: MPL-2.0
"""What the black-box tests are made of: processes, servers, Runyard's own processes, and its API."""
