/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/site_settings.h"

#include "scheduler/store/site_settings.sql.h"

#include <stdatomic.h>

static long long option; /* the value of --rate-limit */
static _Atomic long long rate;

int site_settings_read(struct store *store, json_t **ret_settings, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, site_settings_read) < 0)
		return -1;
	*ret_settings = json_shown(row_of(site_settings, &rows, 0)->settings);
	return 0;
}

static void rate_set(const json_t *settings)
{
	bool limited = json_bool_at(settings, "api-rate-limiting-enabled", option > 0);

	atomic_store(&rate, limited ? json_int_at(settings, "api-rate-limit", option) : 0);
}

int site_settings_update(struct store *store, const json_t *changes, json_t **ret_settings, struct err *err)
{
	_cleanup_(freep) char *text = json_text(changes);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, site_settings_update, .changes = text) < 0)
		return -1;
	*ret_settings = json_shown(row_of(site_settings, &rows, 0)->settings);
	rate_set(*ret_settings);
	return 0;
}

void site_rate_limit_begin(long long per_second)
{
	option = per_second;
	atomic_store(&rate, per_second);
}

long long site_rate_limit(void)
{
	return atomic_load(&rate);
}

int site_rate_limit_watch(struct store *store, struct err *err)
{
	json_auto_t *settings = NULL;

	if (site_settings_read(store, &settings, err) < 0)
		return -1;
	rate_set(settings);
	return 0;
}
