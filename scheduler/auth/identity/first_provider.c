/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/identity/first_provider.h"

#include "common/log.h"
#include "scheduler/auth/identity/first_provider.sql.h"
#include "scheduler/store/access/identity_providers.h"

#define NAME "Single sign-on"

/* Several schedulers may start at once: the one that is late finds the issuer taken. */
static int provider_create(struct store *store, const struct first_provider *provider, struct err *err)
{
	json_auto_t *settings = json_pack("{ss}", "client-id", provider->client_id);
	const struct identity_provider wanted = {.kind = OIDC_PROVIDER,
		.name = NAME,
		.issuer = provider->issuer,
		.settings = settings,
		.secret = provider->client_secret,
		.token_days = &provider->token_days};
	struct id id;

	if (identity_provider_create(store, &wanted, &id, err) == 0) {
		log_info("the identity provider of --oidc-issuer was created", "id", id.text, NULL);
		return 0;
	}
	if (err->kind != ERR_INVALID)
		return -1;
	*err = (struct err)ERR_INIT;
	return 0;
}

int first_provider_ensure(struct store *store, const struct first_provider *provider, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (!*provider->issuer)
		return 0;
	if (!*provider->client_id)
		return err_set(err, ERR_INVALID, "--oidc-issuer needs --oidc-client-id");
	if (db_query(store->db, &rows, err, provider_of_issuer, .issuer = provider->issuer) < 0)
		return -1;
	return rows.count ? 0 : provider_create(store, provider, err);
}
