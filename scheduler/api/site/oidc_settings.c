/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/resources.h"
#include "scheduler/auth/identity/oidc.h"
#include "scheduler/auth/identity/oidc_metadata.h"
#include "scheduler/auth/passwords.h"
#include "scheduler/http/fields.h"
#include "scheduler/store/access/identity_providers.h"
#include "scheduler/store/access/identity_providers.sql.h"

/* OIDC providers of the site, for site admins. The client secret is never shown. */

enum {
	MAX_NAME = 90,
	MAX_ISSUER = 512,
	MAX_TEXT = 512,
	MAX_SECRET = 1024,
	MAX_TOKEN_DAYS = 3650,
	MAX_LIST = 100,
	MAX_AGE_MINUTES = 86400
};

/* What identity_providers.settings has. */
static const struct field settings[] = {
	{"client-id", FIELD_TEXT, "\"\""},
	{"scopes", FIELD_TEXT, "\"openid profile email\""},
	{"subject-claim", FIELD_TEXT, "\"sub\""},
	{"username-claim", FIELD_TEXT, "\"preferred_username\""},
	{"groups-claim", FIELD_TEXT, "\"groups\""},
	{"graph-endpoint", FIELD_TEXT, "null"},
	{"site-admin-group", FIELD_TEXT, "null"},
	{"site-admin-max-age", FIELD_INT, "null"},
	{"trust-email-addresses", FIELD_BOOL, "false"},
	{"domains", FIELD_TEXTS, "[]"},
	{"allowed-organizations", FIELD_TEXTS, "[]"},
};

static json_t *provider_resource(const void *of_row)
{
	const struct identity_provider_row *row = of_row;
	json_auto_t *set = json_shown(row->settings);
	_cleanup_(freep) char *redirect = mem_printf("/oidc/%s/callback", row->id);
	_cleanup_(freep) char *logout = mem_printf("/oidc/%s/backchannel-logout", row->id);
	json_t *attributes = json_pack("{ss ss ss ss sb sb si so}", "redirect-path", redirect, "logout-path", logout,
		"name", row->name, "issuer", row->issuer, "enabled", row->is_enabled, "has-client-secret",
		row->secret_sealed.text != NULL, "token-days", row->token_days, "created-at",
		time_shown(row->created_at));

	fields_show(settings, ARRAY_LEN(settings), set, attributes);
	return resource_new("oidc-settings", row->id, attributes, NULL);
}

static const struct resource_kind kind_oidc_settings = {.type = "oidc-settings", .show = provider_resource};

static int page_of_providers(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	(void)scope;
	return identity_providers_list(
		req->store, OIDC_PROVIDER, &(struct list_range){page->size, page->offset}, ret_rows, err);
}

int oidc_settings_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res, &(struct resource_list){&kind_oidc_settings, NULL, page_of_providers}, err);
}

/* The provider in the path, if it is one of OIDC. */
static int provider_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (identity_provider_read(req->store, param(req, "provider"), ret_rows, err) < 0)
		return -1;
	if (!text_equal(row_of(identity_provider, ret_rows, 0)->kind, OIDC_PROVIDER))
		return err_set(err, ERR_NOT_FOUND, "identity provider not found");
	return 0;
}

static int provider_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (identity_provider_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_resource(res, status, provider_resource(row_of(identity_provider, &rows, 0)));
}

int oidc_settings_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (provider_in_path(req, &rows, err) < 0)
		return -1;
	return provider_show(req, res, 200, param(req, "provider"), err);
}

/* ---- input ---- */

struct input {
	json_t *settings;
	struct identity_provider provider;
	bool enabled;
	long long token_days;
};

static void input_release(struct input *input)
{
	json_decref(input->settings);
}

static int lists_check(const json_t *set, struct err *err)
{
	static const char *const lists[] = {"domains", "allowed-organizations"};
	static const char *const pointers[] = {"/data/attributes/domains", "/data/attributes/allowed-organizations"};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (json_array_size(json_object_get(set, lists[i])) > MAX_LIST)
			return err_at(err, pointers[i], "There can be %d at most", MAX_LIST);
	return 0;
}

/* Without TLS a proxy could answer for the provider. */
static int address_check(
	const struct request *req, const char *what, const char *pointer, const char *url, struct err *err)
{
	bool plain =
		text_starts(req->store->settings->public_url, "http://") && text_starts(text_or_empty(url), "http://");

	if (!url || plain || text_starts(url, "https://"))
		return 0;
	return err_at(err, pointer, "%s must begin with https://", what);
}

static int texts_check(const struct request *req, const struct input *input, struct err *err)
{
	const struct identity_provider *p = &input->provider;
	const char *graph = json_string_at(input->settings, "graph-endpoint");

	if (length_check("Name", "/data/attributes/name", p->name, MAX_NAME, err) < 0 ||
		length_check("Issuer", "/data/attributes/issuer", p->issuer, MAX_ISSUER, err) < 0 ||
		length_check("Client secret", "/data/attributes/client-secret", p->secret, MAX_SECRET, err) < 0 ||
		address_check(req, "Issuer", "/data/attributes/issuer", p->issuer, err) < 0 ||
		address_check(req, "Graph endpoint", "/data/attributes/graph-endpoint", text_or_null(graph), err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		_cleanup_(freep) char *pointer = mem_printf("/data/attributes/%s", settings[i].name);

		if (settings[i].type == FIELD_TEXT &&
			length_check("The text", pointer, json_string_at(input->settings, settings[i].name), MAX_TEXT,
				err) < 0)
			return -1;
	}
	return 0;
}

static int input_read(const struct request *req, struct input *input, struct err *err)
{
	struct identity_provider *p = &input->provider;

	input->settings = json_object();
	input->enabled = true;
	if (body_check(req, "oidc-settings", err) < 0 || body_text(req, "name", &p->name, err) < 0 ||
		body_text(req, "issuer", &p->issuer, err) < 0 || body_text(req, "client-secret", &p->secret, err) < 0 ||
		body_bool(req, "enabled", &input->enabled, err) < 0 ||
		body_int(req, "token-days", &input->token_days, err) < 0 ||
		fields_read(req, settings, ARRAY_LEN(settings), input->settings, err) < 0 ||
		texts_check(req, input, err) < 0 || lists_check(input->settings, err) < 0)
		return -1;
	if (json_int_at(input->settings, "site-admin-max-age", 1) < 1 ||
		json_int_at(input->settings, "site-admin-max-age", 1) > MAX_AGE_MINUTES)
		return err_at(err, "/data/attributes/site-admin-max-age", "Site admin max age must be 1 to %d minutes",
			MAX_AGE_MINUTES);
	if (input->token_days < 0 || input->token_days > MAX_TOKEN_DAYS)
		return err_at(err, "/data/attributes/token-days", "Token days must be 0 to %d", MAX_TOKEN_DAYS);
	p->kind = OIDC_PROVIDER;
	p->settings = input->settings;
	p->is_enabled = body_has(req, "enabled") ? &input->enabled : NULL;
	p->token_days = body_has(req, "token-days") ? &input->token_days : NULL;
	if (body_has(req, "client-secret") && !p->secret)
		p->secret = "";
	return 0;
}

/* An attribute that can't be empty: of a new provider, or of a change that sets it. */
static int needed_check(const struct request *req, const char *name, const char *value, bool creating, struct err *err)
{
	_cleanup_(freep) char *pointer = mem_printf("/data/attributes/%s", name);

	if (*text_or_empty(value) || (!creating && !body_has(req, name)))
		return 0;
	return err_at(err, pointer, "%s can't be blank", name);
}

static int needed_all(const struct request *req, const struct input *input, bool creating, struct err *err)
{
	if (needed_check(req, "name", input->provider.name, creating, err) < 0 ||
		needed_check(req, "issuer", input->provider.issuer, creating, err) < 0)
		return -1;
	/* A provider that is switched off needs none yet: its redirect address must be registered first. */
	return needed_check(
		req, "client-id", json_string_at(input->settings, "client-id"), creating && input->enabled, err);
}

int oidc_settings_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(input_release) struct input input = {.settings = NULL};
	struct id id;

	if (input_read(req, &input, err) < 0 || needed_all(req, &input, true, err) < 0 ||
		identity_provider_create(req->store, &input.provider, &id, err) < 0)
		return -1;
	return provider_show(req, res, 201, id.text, err);
}

int oidc_settings_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(input_release) struct input input = {.settings = NULL};
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (provider_in_path(req, &rows, err) < 0 || input_read(req, &input, err) < 0 ||
		needed_all(req, &input, false, err) < 0 ||
		identity_provider_update(req->store, param(req, "provider"), &input.provider, err) < 0 ||
		password_alternatives_keep(req->store, err) < 0)
		return -1;
	oidc_metadata_forget(param(req, "provider"));
	return provider_show(req, res, 200, param(req, "provider"), err);
}

int oidc_settings_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (provider_in_path(req, &rows, err) < 0 ||
		identity_provider_delete(req->store, param(req, "provider"), err) < 0 ||
		password_alternatives_keep(req->store, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* Asks the provider now: its discovery document and its keys. */
int oidc_settings_check(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(oidc_provider_release) struct oidc_provider provider = OIDC_PROVIDER_INIT;
	json_t *facts = NULL;

	if (oidc_provider_read(req->store, param(req, "provider"), &provider, err) < 0)
		return -1;
	if (oidc_provider_test(req->store, &provider, &facts, err) < 0) {
		/* This server works: what fails is what the settings name. */
		err->kind = ERR_INVALID;
		return -1;
	}
	return respond_json(res, 200, facts);
}
