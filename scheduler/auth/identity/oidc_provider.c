/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/identity/oidc_provider.h"

#include "scheduler/store/access/identity_providers.h"
#include "scheduler/store/access/identity_providers.sql.h"
#include "scheduler/store/content/seals.h"

void oidc_provider_release(struct oidc_provider *provider)
{
	free(provider->name);
	free(provider->issuer);
	free(provider->client_id);
	crypto_secret_freep(&provider->secret);
	json_decref(provider->settings);
	*provider = (struct oidc_provider)OIDC_PROVIDER_INIT;
}

static int provider_take(struct store *store, const struct identity_provider_row *row,
	struct oidc_provider *ret_provider, struct err *err)
{
	struct oidc_provider provider = OIDC_PROVIDER_INIT;

	if (secret_open(store, row->secret_sealed, PROVIDER_SECRET_SEAL, row->id, &provider.secret, err) < 0)
		return -1;
	if (!provider.secret)
		provider.secret = mem_text("");
	text_copy(provider.id.text, ID_SIZE, row->id);
	provider.name = mem_text(row->name);
	provider.issuer = mem_text(row->issuer);
	provider.settings = json_shown(row->settings);
	provider.client_id = mem_text(text_or_empty(json_string_at(provider.settings, "client-id")));
	provider.is_enabled = row->is_enabled;
	*ret_provider = provider;
	return 0;
}

int oidc_provider_read(struct store *store, const char *id, struct oidc_provider *ret_provider, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (identity_provider_read(store, id, &rows, err) < 0)
		return -1;
	if (!text_equal(row_of(identity_provider, &rows, 0)->kind, OIDC_PROVIDER))
		return err_set(err, ERR_NOT_FOUND, "identity provider not found");
	return provider_take(store, row_of(identity_provider, &rows, 0), ret_provider, err);
}

/* Each provider has its own address, so an answer of one can't pass for that of another. */
char *oidc_redirect_uri(const struct store *store, const struct oidc_provider *provider)
{
	return mem_printf("%s/oidc/%s/callback", store->settings->public_url, provider->id.text);
}
