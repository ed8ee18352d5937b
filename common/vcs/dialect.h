/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_VCS_DIALECT_H
#define COMMON_VCS_DIALECT_H

/* The kinds of VCS providers (providers.def), and how each kind's API, hooks and addresses work. Pure. */

#include "common/base.h"

enum vcs_dialect {
	VCS_GITHUB,
	VCS_GITLAB,
	VCS_BITBUCKET_CLOUD,
	VCS_BITBUCKET_SERVER,
	VCS_AZURE,
	VCS_GITEA,
	VCS_GIT, /* plain git: no API, no hooks */
	VCS_DIALECTS
};

enum vcs_provider {
#define PROVIDER(symbol, name, display, dialect, source) VCS_PROVIDER_##symbol,
#include "common/vcs/providers.def"
#undef PROVIDER
	VCS_PROVIDERS
};

/* The provider of a service-provider's name; VCS_PROVIDERS for NULL and for any other text. */
enum vcs_provider vcs_provider_of(const char *name);
/* "github_enterprise". Static, as the other names are. */
const char *vcs_provider_name(enum vcs_provider provider);
/* "GitHub Enterprise". */
const char *vcs_provider_display(enum vcs_provider provider);
/* The source of configuration versions from this provider: "github". */
const char *vcs_provider_source(enum vcs_provider provider);
/* The dialect that a connection uses. `api_url` may be NULL. */
enum vcs_dialect vcs_dialect_of(enum vcs_provider provider, const char *api_url);
/* "bitbucket_cloud": for logs and metrics. */
const char *vcs_dialect_name(enum vcs_dialect dialect);

#endif
