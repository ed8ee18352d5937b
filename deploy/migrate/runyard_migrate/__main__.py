# SPDX-License-Identifier: MPL-2.0
"""runyard-migrate: the command line. Tokens come from the environment or from files: arguments are visible to others."""

import argparse
import json
import os
import shutil
import sys
import urllib.parse
from pathlib import Path

from . import commands
from .client import LOST, Failure
from .journal import Trouble

try:
    from .version import VERSION
except ImportError:
    VERSION = "unknown"  # not built

EPILOG = """environment:
  RUNYARD_SOURCE_TOKEN, RUNYARD_TARGET_TOKEN   the tokens, if --from-token-file and --to-token-file are not given
  HTTP_PROXY, HTTPS_PROXY, NO_PROXY            as other programs use them

exit status:
  0  everything is there      1  the command could not be carried out
  2  wrong use                3  something is missing or differs, or a person must act: the output says what"""

COMMANDS = {
    "plan": "show what would be created and changed; write plan.json, plan.csv, checklist.md and the template secrets.json",
    "apply": "create and change it; can be stopped and repeated",
    "verify": "compare both sides, states byte by byte",
    "cut-over": "lock workspaces at the source, move what changed, plan at the target, and let the target work",
    "roll-back": "undo the cut-over of workspaces whose target has not applied",
    "export": "write the source's organizations to files",
    "import": "apply from the files of an export",
}


def parser():
    top = argparse.ArgumentParser(prog="runyard-migrate", formatter_class=argparse.RawDescriptionHelpFormatter, epilog=EPILOG,
                                  description="Moves organizations to Runyard: from a server with TFE's API, from an export, or from plain backends.")
    top.add_argument("--version", action="version", version=f"runyard-migrate {VERSION}")
    subs = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, text in COMMANDS.items():
        one = subs.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".", epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter)
        one.add_argument("--from", dest="source", required=True, metavar="URL|FOLDER", help="the source: a server, the folder of an export, or a folder with configurations")
        one.add_argument("--from-token-file", metavar="FILE", help="file with a token of the source")
        if name != "export":
            one.add_argument("--to", dest="target", required=True, metavar="URL", help="the Runyard server")
            one.add_argument("--to-token-file", metavar="FILE", help="file with a user's token of the target; it must be an owner's")
        one.add_argument("--organization", action="append", default=[], metavar="NAME[=NEW]", help="organization to move, and its name at the target; may be repeated (default: all)")
        one.add_argument("--folder", type=Path, default=Path("runyard-migrate"), metavar="DIR", help="working folder: journal and reports; for export: where files go (default: runyard-migrate)")
        one.add_argument("--map", type=Path, metavar="FILE", help='JSON: {"vcs": {"connection at the source": "connection at the target"}}')
        one.add_argument("--secrets", type=Path, metavar="FILE", help="the filled template secrets.json")
        one.add_argument("--states", default="10", metavar="N", help="states of each workspace, the current one included; or all (default: 10)")
        one.add_argument("--members", choices=("invite", "sso"), default="invite", help="invite members by mail, or leave them to single sign-on (default: invite)")
        one.add_argument("--parallel", type=int, default=8, metavar="N", help="requests at the same time (default: 8)")
        one.add_argument("--rate", type=float, default=0, metavar="N", help="requests per second to the source (default: nine tenths of the limit that it names)")
        one.add_argument("--ca-file", metavar="FILE", help="certificates to trust, in PEM")
        one.add_argument("--quiet", action="store_true", help="no progress on standard error")
        one.add_argument("--name-rule", default="{folder}-{workspace}", metavar="RULE", help="names of workspaces from folders and CLI workspaces; `default` is left out (default: {folder}-{workspace})")
        one.add_argument("--backend-config", action="append", default=[], metavar="FILE", help="settings of plain backends that the code does not have, as for `init`; may be repeated")
        one.add_argument("--engine", default="terraform" if shutil.which("terraform") or not shutil.which("tofu") else "tofu", metavar="PROGRAM",
                         help="terraform or tofu, for `state pull` of plain backends (default: terraform, or tofu where only that is installed)")
        one.add_argument("--adopt", action="store_true", help="also write to workspaces of the target that have the same name and were not moved by this working folder")
        if name in ("cut-over", "roll-back"):
            one.add_argument("workspaces", nargs="*", metavar="WORKSPACE")
            one.add_argument("--all", action="store_true", help="all workspaces that were moved")
        if name == "cut-over":
            one.add_argument("--accept-changes", action="store_true", help="go on although the target's plan shows changes")
            one.add_argument("--without-plan", action="store_true", help="do not plan at the target")
            one.add_argument("--plan-timeout", type=int, default=1800, metavar="SECONDS", help="how long a plan may take (default: 1800)")
            one.add_argument("--code", type=Path, metavar="DIR", help="folder of code: write a patch that changes its cloud and backend blocks")
            one.add_argument("--patch", type=Path, metavar="FILE", help="the patch's file (default: cut-over.patch in the working folder)")
    return top


def token(file, variable, what):
    try:
        text = Path(file).read_text(encoding="utf-8").strip() if file else os.environ.pop(variable, "")
    except OSError as why:
        raise Trouble(f"the token of the {what} cannot be read: {file}: {why.strerror}") from None
    if not text:
        raise Trouble(f"no token of the {what}: set {variable}, or give a file")
    return text


def settle(options):
    """Turns the arguments into what the commands use."""
    if options.states != "all" and not (options.states.isdigit() and int(options.states) > 0):
        raise Trouble("--states must be a number from 1, or all")
    options.states = 10 ** 9 if options.states == "all" else int(options.states)
    options.parallel = max(1, min(64, options.parallel))
    options.organization = [(old, new or old) for old, _, new in (one.partition("=") for one in options.organization)]
    options.map = json.loads(options.map.read_text(encoding="utf-8")) if options.map else {}
    options.by_api = urllib.parse.urlsplit(options.source).scheme in ("http", "https")
    options.source_token = token(options.from_token_file, "RUNYARD_SOURCE_TOKEN", "source") if options.by_api else ""
    options.target_token = token(options.to_token_file, "RUNYARD_TARGET_TOKEN", "target") if options.command != "export" else ""
    if getattr(options, "code", None) and not options.code.is_dir():
        raise Trouble(f"--code: {options.code} is no folder")
    if options.command in ("cut-over", "roll-back") and bool(options.workspaces) == options.all:
        raise Trouble("name workspaces, or give --all")
    return options


def main(arguments=None):
    options = parser().parse_args(arguments)
    os.umask(0o077)  # reports name objects, exports have states
    try:
        return commands.run(settle(options))
    except (Trouble, Failure, *LOST, json.JSONDecodeError, UnicodeDecodeError) as why:
        print(f"runyard-migrate: {why}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("runyard-migrate: interrupted; the same command goes on", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
