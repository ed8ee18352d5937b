# SPDX-License-Identifier: MPL-2.0
"""Which workspaces use which version of a module: the explorer's rows, which a module's page shows, against the states."""

from support.modules import OUTPUT, Modules
from support.wait import until


def files(word):
    return {"main.tf": OUTPUT % word, "modules/inner/main.tf": OUTPUT % f"{word} inner"}


def call(host, name, version, inner=""):
    return f'module "used" {{\n  source  = "{host}/acme/{name}/null{inner}"\n  version = "{version}"\n}}\noutput "word" {{\n  value = module.used.word\n}}\n'


def rows(api, source):
    """{(part, version): names of workspaces} of the module, as its page reads them."""
    query = {"type": "modules", "filter[0][source][contains][0]": source, "page[size]": 100}
    found = {}
    for row in api.get(f"organizations/{api.organization}/explorer", **query).data:
        attributes = row["attributes"]
        if attributes["source"] == source or attributes["source"].startswith(f"{source}//"):
            found[(attributes["source"][len(source):], attributes["version"])] = attributes["workspaces"].split(", ")
            assert attributes["workspace-count"] == len(attributes["workspaces"].split(", "))
    return found


def test_the_uses_of_a_module_are_those_of_the_states(site):
    api, modules = site.api, Modules(site.api)
    host = site.scheduler.url.removeprefix("http://")
    for name in ("uses", "uses2"):
        for version in ("1.0.0", "1.1.0"):
            modules.publish(name, version, files(f"{name} {version}"))
    source = f"{host}/acme/uses/null"
    ids = {}

    def apply(workspace, config):
        if workspace not in ids:
            ids[workspace] = api.workspace(workspace, auto_apply=True)
        api.wait_status(api.run_files(ids[workspace], {"main.tf": config}), "applied")

    def by_states():
        """The same by the words of the current states, which name module, version and part."""
        found = {}
        for workspace, id in sorted(ids.items()):
            for output in api.get(f"workspaces/{id}/current-state-version-outputs").data:
                module, _, rest = output["attributes"]["value"].partition(" ")
                version, _, part = rest.partition(" ")
                if module == "uses":
                    found.setdefault((f"//modules/{part}" if part else "", version), []).append(workspace)
        return found

    def exact():
        until(lambda: rows(api, source) == by_states(), lambda: f"{rows(api, source)} are {by_states()}")

    apply("uses-one", call(host, "uses", "1.0.0"))
    apply("uses-two", call(host, "uses", "~> 1.0"))
    apply("uses-three", call(host, "uses", "1.0.0", "//modules/inner"))
    apply("uses-four", call(host, "uses", "1.0.0"))
    apply("uses-other", call(host, "uses2", "1.0.0"))
    exact()
    assert by_states() == {("", "1.0.0"): ["uses-four", "uses-one"], ("", "1.1.0"): ["uses-two"], ("//modules/inner", "1.0.0"): ["uses-three"]}
    apply("uses-one", call(host, "uses", "1.1.0"))
    apply("uses-four", 'output "word" {\n  value = "nothing of it"\n}\n')
    exact()
    api.delete(f"workspaces/{ids.pop('uses-two')}")
    exact()
    assert by_states() == {("", "1.1.0"): ["uses-one"], ("//modules/inner", "1.0.0"): ["uses-three"]}
