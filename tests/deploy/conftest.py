# SPDX-License-Identifier: MPL-2.0
"""Fixtures for the shipped files, from a release build."""

import shutil

import pytest

from support import release
from support.site import new_folder


@pytest.fixture(scope="session")
def built():
    """The folder of a release build."""
    return release.build()


@pytest.fixture(scope="module")
def installed(built):
    """The files of `cmake --install`. All tests of a file share them and must not change them."""
    folder = new_folder("installed")
    yield release.install(built, folder / "root")
    shutil.rmtree(folder)
