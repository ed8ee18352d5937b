/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "common/build_info.h"
#include "scheduler/api/api.h"
#include "scheduler/auth/oauth.h"

/* Browsers ask for HTML and are led to the web UI. */
int site_home(struct request *req, struct response *res, struct err *err)
{
	struct buf page = BUF_INIT(1 << 16);

	(void)err;
	if (strstr(text_or_empty(http_header(req->http, "Accept")), "text/html")) {
		text_copy(res->http->location, sizeof(res->http->location), "/app");
		return respond_empty(res, 303);
	}
	buf_printf(&page,
		"Runyard %s: a run system for Terraform and OpenTofu.\n\n"
		"API:       %s/api/v2/ (JSON:API, as HCP Terraform and Terraform Enterprise have it)\n"
		"Discovery: %s/.well-known/terraform.json\n"
		"Health:    /healthz /readyz /metrics\n",
		build_version, req->store->settings->public_url, req->store->settings->public_url);
	return respond_bytes(res, "text/plain; charset=utf-8", &page);
}

/* The services of this host, by the ids that clients look up. */
int site_discovery(struct request *req, struct response *res, struct err *err)
{
	static const char *const services[] = {"tfe.v2", "tfe.v2.1", "tfe.v2.2", "state.v2"};
	json_t *document = json_object();

	(void)req;
	(void)err;
	for (size_t i = 0; i < ARRAY_LEN(services); i++)
		json_object_set_new(document, services[i], json_string("/api/v2/"));
	json_object_set_new(document, "modules.v1", json_string(REGISTRY_PREFIX "/modules/"));
	json_object_set_new(document, "providers.v1", json_string(REGISTRY_PREFIX "/providers/"));
	json_object_set_new(document, "login.v1",
		json_pack("{ss s[s] ss ss s[ii]}", "client", OAUTH_CLIENT, "grant_types", "authz_code", "authz",
			OAUTH_AUTHORIZE_PATH, "token", OAUTH_TOKEN_PATH, "ports", OAUTH_PORT_LOW, OAUTH_PORT_HIGH));
	return respond_json(res, 200, document);
}

/* Clients read only the answer's headers. */
int site_ping(struct request *req, struct response *res, struct err *err)
{
	(void)req;
	(void)err;
	return respond_empty(res, 204);
}
