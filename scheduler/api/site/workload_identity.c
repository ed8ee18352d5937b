/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/auth/workload/keys.h"
#include "scheduler/auth/workload/tokens.h"

/* The issuer of the identities of runs, for those who verify them (OpenID Connect Discovery 1.0). Public. */

/* A new key is published a day before it signs, so an answer may be kept for some minutes. */
static const char *kept[][2] = {
	{"Cache-Control", "public, max-age=600"},
	{"X-Content-Type-Options", "nosniff"},
	{NULL, NULL},
};

int workload_issuer(struct request *req, struct response *res, struct err *err)
{
	static const char *const claims[] = {"sub", "aud", "exp", "iat", "iss", "jti", "nbf",
		"terraform_organization_id", "terraform_organization_name", "terraform_project_id",
		"terraform_project_name", "terraform_workspace_id", "terraform_workspace_name",
		"terraform_full_workspace", "terraform_run_id", "terraform_run_phase"};
	const char *issuer = req->store->settings->public_url;
	_cleanup_(freep) char *keys = mem_printf("%s" WORKLOAD_KEYS_PATH, issuer);
	json_t *names = json_array();

	(void)err;
	for (size_t i = 0; i < ARRAY_LEN(claims); i++)
		json_array_append_new(names, json_string(claims[i]));
	res->http->extra = kept;
	return respond_json(res, 200,
		json_pack("{ss ss s[s] s[s] s[s] s[s] so}", "issuer", issuer, "jwks_uri", keys,
			"response_types_supported", "id_token", "scopes_supported", "openid", "subject_types_supported",
			"public", "id_token_signing_alg_values_supported", "RS256", "claims_supported", names));
}

int workload_jwks(struct request *req, struct response *res, struct err *err)
{
	json_t *keys = NULL;

	if (workload_keys_published(req->store, &keys, err) < 0)
		return -1;
	res->http->extra = kept;
	return respond_json(res, 200, keys);
}
