/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/dialect.h"

#include <string.h>

static const struct {
	const char *name, *display, *source;
	enum vcs_dialect dialect;
} providers[VCS_PROVIDERS] = {
#define PROVIDER(symbol, name, display, dialect, source) {name, display, source, VCS_##dialect},
#include "common/vcs/providers.def"
#undef PROVIDER
};

static const char *const dialects[VCS_DIALECTS] = {
	[VCS_GITHUB] = "github",
	[VCS_GITLAB] = "gitlab",
	[VCS_BITBUCKET_CLOUD] = "bitbucket_cloud",
	[VCS_BITBUCKET_SERVER] = "bitbucket_server",
	[VCS_AZURE] = "azure",
	[VCS_GITEA] = "gitea",
	[VCS_GIT] = "git",
};

enum vcs_provider vcs_provider_of(const char *name)
{
	enum vcs_provider provider = 0;

	while (provider < VCS_PROVIDERS && !text_equal(providers[provider].name, name))
		provider++;
	return provider;
}

const char *vcs_provider_name(enum vcs_provider provider)
{
	return providers[provider].name;
}

const char *vcs_provider_display(enum vcs_provider provider)
{
	return providers[provider].display;
}

const char *vcs_provider_source(enum vcs_provider provider)
{
	return providers[provider].source;
}

static bool is_gitea_api(const char *api_url)
{
	static const char end[] = "/api/v1";
	size_t len = strlen(api_url);

	while (len && api_url[len - 1] == '/')
		len--;
	return len >= sizeof(end) - 1 && !memcmp(api_url + len - (sizeof(end) - 1), end, sizeof(end) - 1);
}

enum vcs_dialect vcs_dialect_of(enum vcs_provider provider, const char *api_url)
{
	if (provider == VCS_PROVIDER_GITHUB_ENTERPRISE && api_url && is_gitea_api(api_url))
		return VCS_GITEA;
	return providers[provider].dialect;
}

const char *vcs_dialect_name(enum vcs_dialect dialect)
{
	return dialects[dialect];
}
