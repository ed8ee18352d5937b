# SPDX-License-Identifier: MPL-2.0
"""Fixtures of sign-in by identity providers."""

import pytest

from support.saml_site import SamlSite


@pytest.fixture(scope="module")
def saml(api_site, tmp_path_factory):
    """The site with an identity provider of SAML that is set up by its metadata's address."""
    saml = SamlSite(api_site, tmp_path_factory.mktemp("saml"))
    yield saml
    saml.release()


@pytest.fixture(autouse=True)
def as_it_was(request):
    """Each test of SAML begins with the same settings."""
    if "saml" in request.fixturenames:
        request.getfixturevalue("saml").reset()
