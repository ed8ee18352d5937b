# SPDX-License-Identifier: MPL-2.0
"""Moves organizations to Runyard."""
