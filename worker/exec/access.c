/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/access.h"

#include <string.h>

#include "worker/engine/variables.h"

static int add_pair(struct buf *out, const char *name, const char *value)
{
	if (buf_printf(out, "    \"%s\" = ", name) < 0 || hcl_quote(out, value) < 0)
		return -1;
	return buf_text(out, "\n");
}

static int add_services(struct buf *out, const char *host, const char *url)
{
	static const char *const names[] = {"state.v2", "tfe.v2", "tfe.v2.1", "tfe.v2.2"};
	_cleanup_(freep) char *api = mem_printf("%s/api/v2/", url);
	_cleanup_(freep) char *modules = mem_printf("%s/api/registry/v1/modules/", url);
	_cleanup_(freep) char *providers = mem_printf("%s/api/registry/v1/providers/", url);

	if (buf_text(out, "host ") < 0 || hcl_quote(out, host) < 0 || buf_text(out, " {\n  services = {\n") < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (add_pair(out, names[i], api) < 0)
			return -1;
	if (add_pair(out, "modules.v1", modules) < 0 || add_pair(out, "providers.v1", providers) < 0)
		return -1;
	return buf_text(out, "  }\n}\n");
}

/* The host with its port, or NULL. The caller frees it. */
static char *host_of(const char *url)
{
	const char *scheme_end = strstr(url, "://");

	return scheme_end ? mem_printf("%.*s", (int)strcspn(scheme_end + 3, "/"), scheme_end + 3) : NULL;
}

/* Engines refuse the whole CLI configuration if a pattern in it has an invalid host. */
char *access_host(const struct assignment *assignment)
{
	static const char characters[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-.";
	char *host = host_of(assignment->api_url);
	size_t len = host ? strspn(host, characters) : 0;
	bool fits = len && !strchr("-.", host[0]) && !strchr("-.", host[len - 1]) && !strstr(host, "..") &&
		(!host[len] || (host[len] == ':' && text_number(host + len + 1, 1, 65535, &(long long){0}) == 0));

	if (fits)
		return host;
	free(host);
	return NULL;
}

char *access_mirror(const struct assignment *assignment)
{
	return assignment->has_mirror && text_starts(assignment->api_url, "https://")
		? mem_printf("%s/api/registry/v1/mirror/", assignment->api_url)
		: NULL;
}

int access_cli_config(const struct assignment *assignment, struct buf *out)
{
	const char *url = assignment->api_url;
	_cleanup_(freep) char *host = host_of(url);

	if (!host || !*assignment->run_token)
		return 0;
	if (buf_text(out, "credentials ") < 0 || hcl_quote(out, host) < 0 || buf_text(out, " {\n  token = ") < 0 ||
		hcl_quote(out, assignment->run_token) < 0 || buf_text(out, "\n}\n") < 0)
		return -1;
	return text_starts(url, "http://") ? add_services(out, host, url) : 0;
}
