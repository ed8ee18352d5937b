#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""statements: makes C of the files *.sql beside the scheduler's sources. README.md of this folder describes their form.

    statements.py OUT FILE...    writes OUT/FILE.h and OUT/FILE.c for each file
    statements.py --print NAME   prints a statement for psql, which explains it: | psql -X -v id=ws-1
    statements.py --list         prints all statements of the scheduler as JSON, for the tests
"""

import copy
import json
import re
import sys
from pathlib import Path

# The C type of a parameter and of a column, and the names in db.h, by PostgreSQL's type. An array is a parameter only.
TYPES = {
    "bigint": ("long long ", "DB_INT"), "integer": ("long long ", "DB_INT"), "smallint": ("long long ", "DB_INT"),
    "boolean": ("bool ", "DB_BOOL"), "double precision": ("double ", "DB_FLOAT"),
}
TEXTS = "text", "timestamptz", "interval", "numeric", "jsonb", "inet"
ARRAYS = "text[]", "bigint[]", "integer[]", "boolean[]", "timestamptz[]"
MARK = re.compile(r"\s*--\s*(shape|fragment|rows|statement|takes|gives|index|reads):\s*(.*)")
NAME = re.compile(r"[a-z][a-z0-9_]*")
TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|--[^\n]*|::|:([a-z_][a-z0-9_]*)(\()?|[^'\":-]+|.", re.S)
LINE_MAX = 120
ROOT = Path(__file__).resolve().parents[2]


class Wrong(Exception):
    """What a file says wrongly, and where."""


class Field:
    """A typed parameter or column: `size bigint null`."""

    def __init__(self, text, where):
        words = text.split()
        self.optional = words[-1] == "optional"
        words = words[:-1] if self.optional else words
        self.null = words[-1] == "null"
        words = words[:-1] if self.null else words
        self.name, self.type = words[0], " ".join(words[1:])
        if not NAME.fullmatch(self.name) or self.type not in (*TYPES, *TEXTS, *ARRAYS, "bytea", "bytea[]"):
            raise Wrong(f"{where}: {text!r} is no name with a type that is known here")

    def as_parameter(self):
        """Its member in C, and the name of its kind."""
        if self.type == "bytea":
            return f"struct db_blob {self.name}", "DB_BYTES"
        if self.type == "bytea[]":
            return f"struct db_bytes *{self.name}", "DB_BYTES_ARRAY"
        if self.type in ARRAYS:
            return f"struct db_array *{self.name}", "DB_ARRAY"
        c, kind = TYPES.get(self.type, ("const char *", "DB_TEXT"))
        if self.null and kind not in ("DB_INT", "DB_TEXT"):
            raise Wrong(f"a parameter {self.type} is never null: {self.name}")
        if self.null and kind == "DB_INT":
            return f"const {c}*{self.name}", "DB_INT_OR_NULL"
        return f"{c}{self.name}", kind

    def as_column(self):
        if self.type == "bytea":
            return f"struct db_hex {self.name}", "DB_BYTES"
        c, kind = TYPES.get(self.type, ("const char *", "DB_TEXT"))
        return f"{c}{self.name}", kind

    @property
    def flag(self):
        """The name of the member that says whether a column without a null of its own in C is null; or None."""
        return f"{self.name}_null" if self.null and self.as_column()[1] not in ("DB_TEXT", "DB_BYTES") else None


class Part:
    """A shape, a fragment, rows or a statement."""

    def __init__(self, kind, title, path, line):
        self.kind, self.path, self.where = kind, path, f"{path}:{line}"
        match = re.fullmatch(r"([a-z][a-z0-9_]*)(?:\(([a-z0-9_, ]*)\))?(?: of ([a-z][a-z0-9_]*))?", title.strip())
        if not match or (match[2] is not None and kind not in ("fragment", "rows")) or (match[3] and kind != "statement"):
            raise Wrong(f"{self.where}: {title!r} is no name of a {kind}")
        self.name = self.title = match[1]
        self.rows, self.bound = match[3], {}
        self.arguments = [word for word in re.split(r"[, ]+", match[2] or "") if word]
        self.comment, self.body, self.marks = [], [], {}

    def fields(self, mark):
        return [Field(text, self.where) for text in re.split(r"\s*,\s*", self.marks.get(mark, "").strip()) if text]

    @property
    def text(self):
        return "".join(self.body).strip().removesuffix(";").strip()


def read(path):
    """The parts of a file, in their order."""
    parts, mark = [], None
    for number, line in enumerate((ROOT / path).read_text().splitlines(keepends=True), 1):
        found = MARK.match(line)
        if len(line.rstrip("\n").expandtabs(4)) > LINE_MAX or line != line.rstrip() + "\n":
            raise Wrong(f"{path}:{number}: the line is longer than {LINE_MAX}, or ends with blanks")
        if found and found[1] in ("shape", "fragment", "rows", "statement"):
            parts.append(Part(found[1], found[2], path, number))
            mark = "columns" if found[1] == "shape" else None
        elif not parts:
            continue
        elif found:
            mark = found[1]
            parts[-1].marks[mark] = found[2]
        elif line.startswith("--") and not parts[-1].text:
            text = line[2:].strip()
            if mark:
                parts[-1].marks[mark] = f"{parts[-1].marks.get(mark, '')} {text}".strip()
            else:
                parts[-1].comment.append(text)
        elif line.strip() or parts[-1].text:
            parts[-1].body.append(line)
    return parts


def arguments_end(text, at):
    """The arguments of a fragment whose bracket opens before `at`, and the place behind them."""
    depth, start, found = 0, at, []
    for match in TOKEN.finditer(text, at):
        for place, letter in enumerate(match[0], match.start()) if match[0][0] not in "'\"" else ():
            depth += (letter in "([{") - (letter in ")]}")
            if depth < 0 or (depth == 0 and letter == ","):
                found.append(text[start:place].strip())
                start = place + 1
            if depth < 0:
                return [re.sub(r"^\{(.*)\}$", r"\1", one, flags=re.S) for one in found if one], start
    raise Wrong(f"a bracket is not closed: {text[at:at + 40]!r}")


def rows_of(part):
    """The rows of a table of arguments: lists of texts."""
    at, found = 0, []
    while (at := part.text.find("(", at)) >= 0:
        row, at = arguments_end(part.text, at + 1)
        found.append(row)
    if wrong := [row for row in found if len(row) != len(part.arguments)]:
        raise Wrong(f"{part.where}: {wrong[0]} has not {len(part.arguments)} values")
    return found


def copies(part, rows):
    """The statement for each of its rows, named by the row's first value."""
    if part.rows not in rows:
        raise Wrong(f"{part.where}: there are no rows {part.rows}")
    first = None
    for row in rows_of(rows[part.rows]):
        copied = copy.copy(part)
        copied.name = f"{part.name}_{re.sub(r'[^a-z0-9]', '_', row[0])}"
        copied.bound = dict(zip(rows[part.rows].arguments, row))
        if first and "takes" in part.marks:
            copied.marks = {**part.marks, "takes": f"like {first}"}
        first = first or copied.name
        yield copied


def is_compound(condition):
    """Whether it joins conditions with `and` or `or` outside of brackets."""
    while condition != (condition := re.sub(r"\([^()]*\)", "", condition)):
        pass
    return bool(re.search(r"\b(and|or)\b", condition))


class Files:
    """All parts of all files."""

    def __init__(self, paths):
        self.parts = [part for path in paths for part in read(path)]
        self.used = set()
        rows = {part.name: part for part in self.parts if part.kind == "rows"}
        self.parts = [copied for part in self.parts for copied in (copies(part, rows) if part.rows else [part])]
        for kind in ("shape", "fragment", "rows", "statement"):
            named = {}
            for part in self.parts:
                if part.kind == kind and named.setdefault(part.name, part) is not part:
                    raise Wrong(f"{part.where}: {named[part.name].where} has that name, too")
            setattr(self, f"{kind}s", named)

    def expand(self, text, bound, where, seen=()):
        """The text with its fragments, and with `bound`'s values in place of arguments."""
        out, at = [], 0
        while match := TOKEN.match(text, at):
            at = match.end()
            name = match[1]
            if match[0].startswith("--"):
                continue
            if not name:
                out.append(match[0])
            elif name in bound:
                out.append(bound[name] + (match[2] or ""))
            elif not match[2]:
                out.append(match[0])
            else:
                given, at = arguments_end(text, at)
                part = self.fragments.get(name)
                if not part or len(given) != len(part.arguments) or name in seen:
                    raise Wrong(f"{where}: no fragment {name} with {len(given)} arguments, or it uses itself")
                self.used.add(name)
                given = [self.expand(one, bound, where, seen) for one in given]
                out.append(self.expand(part.text, dict(zip(part.arguments, given)), part.where, (*seen, name)))
                if re.search(r"\bnot\s*$", "".join(out[:-1])) and is_compound(out[-1]):
                    raise Wrong(f"{where}: `not` holds only for the first part of {name}, which needs brackets")
        return "".join(out)

    def statement(self, part):
        """Its text with $1, $2 and so on, and its parameters."""
        like = part.marks.get("takes", "")
        taken = self.statements.get(like[5:].strip()) if like.startswith("like ") else part
        if not taken:
            raise Wrong(f"{part.where}: there is no statement {like[5:]!r}")
        takes = taken.fields("takes")
        numbers = {field.name: f"${number}" for number, field in enumerate(takes, 1)}
        text, found = self.expand(part.text, part.bound, part.where), set()

        def number(match):
            name = match[1]
            if not name:
                return match[0] if match[0][0] in "'\"" else re.sub(r"(?<=\() | (?=\))", "", re.sub(r"\s+", " ", match[0]))
            if name not in numbers:
                raise Wrong(f"{part.where}: takes no {name}")
            found.add(name)
            return numbers[name] + (match[2] or "")

        text = TOKEN.sub(number, text).strip()
        if missing := [name for name in numbers if name not in found]:
            raise Wrong(f"{part.where}: does not use {', '.join(missing)}")
        return text, takes, taken

    def gives(self, part):
        """Its shape: a name and columns; or None."""
        gives = part.marks.get("gives", "").strip()
        if not gives:
            return None
        if NAME.fullmatch(gives):
            if gives not in self.shapes:
                raise Wrong(f"{part.where}: there is no shape {gives}")
            return gives, self.shapes[gives].fields("columns")
        return part.name, part.fields("gives")


def comment(part):
    lines = [line for line in part.comment if line]
    if not lines:
        return ""
    return f"/* {' '.join(lines)} */\n"


def quoted(text):
    """The text as C literals of readable length."""
    pieces = re.findall(r"(?:[^\\\"\n]|\\|\"|\n){1,96}(?:(?<= )|$)|.{1,96}", text, re.S)
    return "\n\t\t".join(json.dumps(piece, ensure_ascii=False) for piece in pieces)


def table(owner, fields, column):
    """The rows of a table of fields."""
    for field in fields:
        kind = (field.as_column if column else field.as_parameter)()[1]
        flag = f"offsetof(struct {owner}, {field.flag})" if column and field.flag else 0
        missing = ", true" if column and field.optional else ", false"
        yield f"\t{{offsetof(struct {owner}, {field.name}), {flag}, {kind}{missing}}},\n"


def shape_c(name, columns):
    members = "".join(f"\t{field.as_column()[0]};\n" + (f"\tbool {field.flag};\n" if field.flag else "") for field in columns)
    head = f"struct {name}_row {{\n{members}}};\nextern const struct db_shape {name}_shape;\n\n"
    names = " ".join(f'"{field.name}\\0"' for field in columns)
    body = (f"static const struct db_field {name}_columns[] = {{\n{''.join(table(f'{name}_row', columns, True))}}};\n"
            f"const struct db_shape {name}_shape = {{\n"
            f'\t"{name}", {names}, sizeof(struct {name}_row), {name}_columns, {len(columns)}}};\n\n')
    return head, body


def statement_c(files, part):
    """Its header, its source, and the files that its header needs."""
    text, takes, taken = files.statement(part)
    gives = files.gives(part)
    head, body, fields = comment(part), "", "NULL"
    if taken is part:
        members = "".join(f"\t{field.as_parameter()[0]};\n" for field in takes)
        head += (f"struct {part.name}_params {{\n\tchar none;\n{members}}};\n"
                 f"enum {{ {part.name}_takes = {len(takes)} }};\n")
    if takes:
        fields = f"{taken.name}_fields"
    if takes and taken is part:
        head += f"extern const struct db_field {fields}[];\n"
        body += (f"const struct db_field {fields}[] = {{\n"
                 f"{''.join(table(f'{taken.name}_params', takes, False))}}};\n")
    head += f"extern const struct db_statement {part.name}_statement;\n\n"
    body += (f"const struct db_statement {part.name}_statement = {{\n"
             f'\t"{part.name}",\n\t\t{quoted(text)},\n'
             f"\t{fields}, {len(takes)}, {f'&{gives[0]}_shape' if gives else 'NULL'}}};\n\n")
    shared = files.shapes.get(gives[0]) if gives else None
    if gives and not shared:
        shape = shape_c(*gives)
        head, body = shape[0] + head, shape[1] + body
    return head, body, {other.path for other in (shared, taken) if other}


def rows_c(part):
    """How many rows there are, and their first values."""
    names = [json.dumps(row[0]) for row in rows_of(part)]
    return (f"enum {{ {part.name}_count = {len(names)} }};\nextern const char *const {part.name}_names[];\n\n",
            f"const char *const {part.name}_names[] = {{{', '.join(names)}}};\n\n")


def write(path, text):
    """Writes a file unless it has that text already, so that what depends on it is not built again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def generate(files, out, paths):
    for path in paths:
        heads, bodies, others, lists = [], [], set(), {}
        for part in (part for part in files.parts if part.path == path):
            if part.kind == "shape":
                pair = shape_c(part.name, part.fields("columns"))
                pair = comment(part) + pair[0], pair[1]
            elif part.kind == "statement":
                *pair, needed = statement_c(files, part)
                others |= needed
                if part.rows:
                    lists.setdefault(part.title, []).append(f"&{part.name}_statement")
            elif part.kind == "rows":
                pair = rows_c(part)
            else:
                continue
            heads.append(pair[0])
            bodies.append(pair[1])
        for name, members in lists.items():
            heads.append(f"extern const struct db_statement *const {name}_statements[];\n\n")
            bodies.append(f"const struct db_statement *const {name}_statements[] = {{{', '.join(members)}}};\n\n")
        guard = re.sub(r"[^A-Z0-9]", "_", str(path).upper())
        includes = "".join(f'#include "{other}.h"\n' for other in sorted(others - {path}))
        write(out / f"{path}.h", f"/* Made of {path}. */\n#ifndef {guard}_H\n#define {guard}_H\n\n"
              f'#include "scheduler/db/db.h"\n{includes}\n{"".join(heads)}#endif\n')
        write(out / f"{path}.c", f'/* Made of {path}. */\n#include "{path}.h"\n\n#include <stddef.h>\n\n{"".join(bodies)}')
    if unused := [part.where for part in files.fragments.values() if part.name not in files.used]:
        raise Wrong(f"nothing uses the fragments at {', '.join(unused)}")


def as_json(files):
    for part in files.statements.values():
        text, takes, _ = files.statement(part)
        gives = files.gives(part)
        yield {
            "name": part.name, "where": part.where, "sql": text, "index": part.marks.get("index", "").replace(",", " ").split(),
            "reads": part.marks.get("reads", "").replace(",", " ").split(), "takes": [[one.name, one.type, one.null] for one in takes],
            "gives": [[one.name, one.type, one.null, one.optional] for one in gives[1]] if gives else [],
        }


def for_psql(files, name):
    """The statement as psql prepares, explains and executes it, with its variables as parameters."""
    if name not in files.statements:
        raise Wrong(f"there is no statement {name}")
    text, takes, _ = files.statement(files.statements[name])
    types = f"({', '.join(field.type for field in takes)})" if takes else ""
    values = f"({', '.join(f':{chr(39)}{field.name}{chr(39)}' for field in takes)})" if takes else ""
    return f"begin;\nprepare {name}{types} as\n{text};\nexplain (analyze, buffers) execute {name}{values};\nrollback;\n"


def every_file():
    """The files of the scheduler, as the build names them."""
    return [path.relative_to(ROOT) for path in sorted((ROOT / "scheduler").rglob("*.sql")) if path.parent.name != "migrations"]


def main(arguments):
    if arguments[:1] == ["--print"] and len(arguments) == 2:
        print(for_psql(Files(every_file()), arguments[1]), end="")
    elif arguments == ["--list"]:
        print(json.dumps(list(as_json(Files(every_file())))))
    elif len(arguments) > 1 and not arguments[0].startswith("-"):
        paths = [Path(path) for path in arguments[1:]]
        generate(Files(paths), Path(arguments[0]), paths)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (Wrong, OSError) as wrong:
        sys.exit(f"statements: {wrong}")
