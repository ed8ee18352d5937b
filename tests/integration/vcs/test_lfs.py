# SPDX-License-Identifier: MPL-2.0
"""Pointers of Git LFS in commits."""

from support.wait import until

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
FILES = {"main.tf": "", "data/main.tf": "", "data/lookup.json": POINTER, "other/main.tf": ""}


def plan(api, ask, commit, **attributes):
    """The status and the error of a plan of these files, which are a commit's."""
    workspace = api.workspace(**attributes)
    configuration = api.upload(workspace, FILES)
    if commit:
        ask("insert into configuration_commits (configuration_version_id, id, sha) values (%s, %s, %s)", configuration, configuration.replace("cv-", "ia-"), "1" * 40)
    run = api.run(workspace, configuration)
    until(lambda: ask("select 1 from runs where id = %s and (ended or status = 'planned')", run), "the plan ends")
    return api.attributes(f"runs/{run}")["error"]


def test_a_pointer_is_an_error_below_the_working_directory_alone(api, ask, worker):
    worker()
    said = "data/lookup.json is a pointer of Git LFS: the file itself is not in the repository, and is not fetched."
    assert said in plan(api, ask, True, working_directory="data")
    assert said in plan(api, ask, True)
    assert plan(api, ask, True, working_directory="other") is None
    assert plan(api, ask, False, working_directory="data") is None
