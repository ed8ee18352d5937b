# SPDX-License-Identifier: MPL-2.0
"""Message authentication codes of results and stops, as proto/README.md defines them: implemented independently of
proto/mac.c."""

import hashlib
import hmac

RESULT_FIELDS = ("job", "attempt", "run", "outcome", "has-changes", "state-owed", "additions", "changes", "destructions", "imports",
                 "terraform-version", "error")
STOP_FIELDS = ("job", "attempt", "stop")


def text(value):
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def code(label, fields, message, token_hash):
    canonical = b"".join(b"%d:%s," % (len(field), field) for field in (text(message[name]).encode() for name in fields))
    key = hmac.new(token_hash.encode(), label.encode(), hashlib.sha256).hexdigest()
    return "v1:" + hmac.new(key.encode(), canonical, hashlib.sha256).hexdigest()


def signed(message, token):
    """The result or stop with the code that the attempt's token gives."""
    return signed_by_hash(message, hashlib.sha256(token.encode()).hexdigest())


def signed_by_hash(message, token_hash):
    label, fields = ("runyard.control v1", STOP_FIELDS) if "stop" in message else ("runyard.results v1", RESULT_FIELDS)
    return {**message, "mac": code(label, fields, message, token_hash)}


def result(job, outcome="passed", **more):
    """A result of that claimed job, without a code."""
    return {"v": 1, "job": job["job"], "attempt": job["attempt"], "run": job["run"], "outcome": outcome, "has-changes": True, "state-owed": False,
            "additions": 1, "changes": 0, "destructions": 0, "imports": 0, "terraform-version": "1.11.4", "error": "", **more}
