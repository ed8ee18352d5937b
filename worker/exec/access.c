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

	if (buf_text(out, "host ") < 0 || hcl_quote(out, host) < 0 || buf_text(out, " {\n  services = {\n") < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (add_pair(out, names[i], api) < 0)
			return -1;
	if (add_pair(out, "modules.v1", modules) < 0)
		return -1;
	return buf_text(out, "  }\n}\n");
}

int access_cli_config(const struct assignment *assignment, struct buf *out)
{
	const char *url = assignment->api_url, *scheme_end = strstr(url, "://");
	_cleanup_(freep) char *host = scheme_end ? mem_text(scheme_end + 3) : NULL;

	if (!host || !*assignment->run_token)
		return 0;
	host[strcspn(host, "/")] = '\0';
	if (buf_text(out, "credentials ") < 0 || hcl_quote(out, host) < 0 || buf_text(out, " {\n  token = ") < 0 ||
		hcl_quote(out, assignment->run_token) < 0 || buf_text(out, "\n}\n") < 0)
		return -1;
	return text_starts(url, "http://") ? add_services(out, host, url) : 0;
}
