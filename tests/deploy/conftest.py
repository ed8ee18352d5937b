# SPDX-License-Identifier: MPL-2.0
"""What is shipped, made from a release build."""

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
    """The files of `cmake --install`, for all tests of a file: they do not change them."""
    folder = new_folder("installed")
    yield release.install(built, folder / "root")
    shutil.rmtree(folder)
