/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/identity_providers.h"

#include <stdio.h>

#include "scheduler/store/access/identity_providers.sql.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/names.h"

enum { SEALED_LIMIT = 64 << 10 };

int identity_provider_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, identity_provider_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "identity provider not found");
}

int identity_provider_of_kind(struct store *store, const char *kind, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, identity_provider_of_kind, .kind = kind);
}

int identity_providers_list(
	struct store *store, const char *kind, const struct list_range *range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, identity_providers_list, .kind = kind, .limit = range->limit,
		.offset = range->offset);
}

int identity_providers_enabled(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, identity_providers_enabled);
}

static void secret_seal(struct store *store, const char *id, const char *secret, struct buf *ret_sealed)
{
	_cleanup_(freep) char *context = mem_printf(PROVIDER_SECRET_SEAL "%s", id);

	seal_text(store, context, secret, ret_sealed);
}

/* Always returns -1. */
static int taken(struct store *store, struct err *err)
{
	value_taken(store, "identity_providers_issuer", "Issuer", "/data/attributes/issuer", err);
	return name_taken(store, "identity_providers_name", err);
}

int identity_provider_create(
	struct store *store, const struct identity_provider *provider, struct id *ret_id, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	_cleanup_(freep) char *settings = provider->settings ? json_text(provider->settings) : mem_text("{}");
	struct id id = id_new("idp");
	const char *secret = text_or_null(provider->secret);

	if (secret)
		secret_seal(store, id.text, secret, &sealed);
	if (db_query(store->db, NULL, err, identity_provider_create, .id = id.text, .kind = provider->kind,
		    .name = provider->name, .issuer = provider->issuer,
		    .is_enabled = !provider->is_enabled || *provider->is_enabled, .settings = settings,
		    .secret_sealed = secret ? db_blob(sealed.data, sealed.len) : db_blob(NULL, 0),
		    .token_days = provider->token_days ? (int)*provider->token_days : 0) < 0)
		return taken(store, err);
	*ret_id = id;
	return 0;
}

int identity_provider_update(
	struct store *store, const char *id, const struct identity_provider *provider, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(SEALED_LIMIT);
	_cleanup_(freep) char *settings = provider->settings ? json_text(provider->settings) : NULL;
	const char *secret = text_or_null(provider->secret);
	char days[24];

	if (secret)
		secret_seal(store, id, secret, &sealed);
	if (provider->token_days)
		snprintf(days, sizeof(days), "%lld", *provider->token_days);
	if (db_query(store->db, NULL, err, identity_provider_update, .id = id, .name = provider->name,
		    .issuer = provider->issuer,
		    .is_enabled = provider->is_enabled ? (*provider->is_enabled ? "true" : "false") : NULL,
		    .settings = settings, .has_secret = provider->secret != NULL,
		    .secret_sealed = secret ? db_blob(sealed.data, sealed.len) : db_blob(NULL, 0),
		    .token_days = provider->token_days ? days : NULL) < 0)
		return taken(store, err);
	return 0;
}

int identity_provider_delete(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, identity_provider_delete, .id = id) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_set(err, ERR_NOT_FOUND, "identity provider not found");
}
