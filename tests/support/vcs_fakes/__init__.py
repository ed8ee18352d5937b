# SPDX-License-Identifier: MPL-2.0
"""Fakes of hosted VCS providers, which check every request against what the provider documents."""

from support.vcs_fakes.azure import Azure
from support.vcs_fakes.bitbucket_cloud import BitbucketCloud
from support.vcs_fakes.bitbucket_server import BitbucketServer
from support.vcs_fakes.github import GitHub
from support.vcs_fakes.gitlab import GitLab

# An identifier of the form that each provider has.
FAKES = {GitHub: "acme/network", GitLab: "acme/platform/teams/core/eu/network", BitbucketCloud: "acme/network", BitbucketServer: "ACME/network", Azure: "acme/platform/_git/network"}
