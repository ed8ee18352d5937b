# SPDX-License-Identifier: MPL-2.0
"""Configurations of tests: plain resources, and those whose plan or apply waits or runs a command."""


def planning_at(gate):
    """The plan waits at the gate."""
    return {"main.tf": f'resource "terraform_data" "one" {{\n  input = {gate.expression}\n}}\n'}


def applying(command):
    """The apply of the second resource runs a command. The first one exists by then."""
    return {"main.tf": f"""
resource "terraform_data" "first" {{}}
resource "terraform_data" "second" {{
  depends_on = [terraform_data.first]
  provisioner "local-exec" {{
    command = "{command}"
  }}
}}
"""}


def resources(*names, more=""):
    """A resource of each name. `more`: further arguments of each."""
    return {"main.tf": "\n".join(f'resource "terraform_data" "{name}" {{\n  input = "{name}"\n{more}}}\n' for name in names)}
