/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/organization_sso.h"

#include <stdio.h>

#include "scheduler/store/access/organization_sso.sql.h"

int organization_sso_read(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, organization_sso_read, .organization_id = organization_id);
}

int organization_providers_list(
	struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, organization_providers_list, .organization_id = organization_id);
}

int organization_sso_fits(
	struct store *store, const char *organization_id, const char *provider_id, bool *ret_fits, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, organization_sso_fits, .organization_id = organization_id,
		    .provider_id = provider_id) < 0)
		return -1;
	*ret_fits = rows.count > 0;
	return 0;
}

int provider_of_domain(struct store *store, const char *domain, struct id *ret_provider, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, provider_of_domain, .domain = domain) < 0)
		return -1;
	text_copy(ret_provider->text, ID_SIZE, rows.count ? row_of(provider_of_domain, &rows, 0)->id : "");
	return 0;
}

/* ---- changing ---- */

/* The settings as they will be, and the providers that the organization may use. */
struct check {
	json_t *providers, *domains;
	bool is_required;
	const struct rows *allowed;
};

static bool provider_is_allowed(const struct check *check, const char *id)
{
	for (int i = 0; i < check->allowed->count; i++)
		if (text_equal(row_of(organization_provider, check->allowed, i)->id, id))
			return true;
	return false;
}

static bool domain_is_listed(const struct check *check, const char *domain)
{
	for (int i = 0; i < check->allowed->count; i++) {
		const struct organization_provider_row *row = row_of(organization_provider, check->allowed, i);
		json_auto_t *domains = json_shown(row->domains);

		if (json_has_text(check->providers, row->id) && json_has_text(domains, domain))
			return true;
	}
	return false;
}

static int settings_check(const struct check *check, struct err *err)
{
	json_t *one;
	size_t i;

	json_array_foreach(
		check->providers, i, one) if (!provider_is_allowed(check, json_string_value(one))) return err_at(err,
		"/data/relationships/identity-providers", "Identity provider not found");
	if (check->is_required && !json_array_size(check->providers))
		return err_at(err, "/data/attributes/required", "An identity provider must be named to require one");
	json_array_foreach(check->domains, i, one) if (!domain_is_listed(check, json_string_value(one))) return err_at(
		err, "/data/attributes/domains",
		"None of the identity providers lists the domain %.100s: a site administrator has to add it there",
		json_string_value(one));
	return 0;
}

struct writing {
	struct store *store;
	const char *organization_id;
	const struct organization_sso *wanted;
};

static int write_in(void *data, struct err *err)
{
	const struct writing *w = data;
	_cleanup_(db_array_release) struct db_array providers = DB_ARRAY_INIT, domains = DB_ARRAY_INIT;
	const bool *required = w->wanted->is_required;

	db_array_add_texts(&providers, w->wanted->providers);
	db_array_add_texts(&domains, w->wanted->domains);
	if (w->wanted->providers &&
		db_query(w->store->db, NULL, err, organization_providers_write, .organization_id = w->organization_id,
			.providers = &providers) < 0)
		return -1;
	return db_query(w->store->db, NULL, err, organization_sso_write, .organization_id = w->organization_id,
		.is_required = required ? (*required ? "true" : "false") : NULL,
		.domains = w->wanted->domains ? db_array_text(&domains) : NULL);
}

int organization_sso_update(
	struct store *store, const char *organization_id, const struct organization_sso *wanted, struct err *err)
{
	_cleanup_(rows_release) struct rows present = ROWS_INIT, allowed = ROWS_INIT;
	json_auto_t *providers = NULL, *domains = NULL;
	const struct organization_sso_row *row;
	struct check check;

	if (organization_sso_read(store, organization_id, &present, err) < 0 ||
		organization_providers_list(store, organization_id, &allowed, err) < 0)
		return -1;
	row = row_of(organization_sso, &present, 0);
	providers = wanted->providers ? json_deep_copy(wanted->providers) : json_shown(row->providers);
	domains = wanted->domains ? json_deep_copy(wanted->domains) : json_shown(row->domains);
	check = (struct check){.providers = providers,
		.domains = domains,
		.is_required = wanted->is_required ? *wanted->is_required : row->is_required,
		.allowed = &allowed};
	if (settings_check(&check, err) < 0)
		return -1;
	return db_transaction(store->db, write_in, &(struct writing){store, organization_id, wanted}, err);
}
