/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/site_settings.h"

#include <pthread.h>
#include <stdatomic.h>

#include "scheduler/store/content/seals.h"
#include "scheduler/store/site_settings.sql.h"

#define SECRET_CONTEXT "site-secret:"

static long long option; /* the value of --rate-limit */
static _Atomic long long rate;
static pthread_mutex_t known_lock = PTHREAD_MUTEX_INITIALIZER;
static json_t *known; /* all settings, or NULL */

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

static void known_set(const json_t *settings)
{
	json_t *copy = json_deep_copy(settings);

	pthread_mutex_lock(&known_lock);
	json_decref(known);
	known = copy;
	pthread_mutex_unlock(&known_lock);
}

char *site_text(const char *name)
{
	_cleanup_(freep) char *path = mem_printf("customization.%s", name);
	char *text;

	pthread_mutex_lock(&known_lock);
	text = mem_text(text_or_empty(json_string_at(known, path)));
	pthread_mutex_unlock(&known_lock);
	return text;
}

static bool flag_or(const char *name, bool fallback)
{
	bool is_set;

	pthread_mutex_lock(&known_lock);
	is_set = json_bool_at(known, name, fallback);
	pthread_mutex_unlock(&known_lock);
	return is_set;
}

bool site_flag(const char *name)
{
	return flag_or(name, false);
}

bool site_takes_passwords(void)
{
	return flag_or(SITE_TAKES_PASSWORDS, true);
}

int site_group_update(
	struct store *store, const char *group, const json_t *changes, json_t **ret_settings, struct err *err)
{
	_cleanup_(freep) char *text = json_text(changes);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, site_group_update, .name = group, .changes = text) < 0)
		return -1;
	*ret_settings = json_shown(row_of(site_settings, &rows, 0)->settings);
	known_set(*ret_settings);
	return 0;
}

int site_secret_set(struct store *store, const char *name, const char *value, struct err *err)
{
	_cleanup_(freep) char *context = mem_printf(SECRET_CONTEXT "%s", name);
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(1 << 16);

	if (!*value)
		return db_query(store->db, NULL, err, site_secret_delete, .name = name);
	seal_text(store, context, value, &sealed);
	return db_query(
		store->db, NULL, err, site_secret_set, .name = name, .sealed = db_blob(sealed.data, sealed.len));
}

int site_secret_read(struct store *store, const char *name, char **ret_value, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	*ret_value = NULL;
	if (db_query(store->db, &rows, err, site_secret_read, .name = name) < 0)
		return -1;
	if (!rows.count)
		return 0;
	return secret_open(
		store, row_of(site_secret_read, &rows, 0)->value_sealed, SECRET_CONTEXT, name, ret_value, err);
}

/* A login needs TLS, which protects the password on its way. */
static json_t *server_shown(const json_t *smtp, const char *password)
{
	long long port = json_int_at(smtp, "port", 25);
	const char *auth = text_or_empty(json_string_at(smtp, "auth"));
	bool login = text_equal(auth, "plain") || text_equal(auth, "login");
	_cleanup_(freep) char *url = mem_printf(
		"smtp%s://%s:%lld", port == 465 ? "s" : "", text_or_empty(json_string_at(smtp, "host")), port);

	return json_pack("{ss ss ss ss ss ss}", "url", url, "from", text_or_empty(json_string_at(smtp, "sender")),
		"user", login ? text_or_empty(json_string_at(smtp, "username")) : "", "password",
		login ? text_or_empty(password) : "", "login", login ? auth : "", "tls", login ? "required" : "tried");
}

json_t *site_mail_server_of(const json_t *smtp, const char *password)
{
	return json_bool_at(smtp, "enabled", false) ? server_shown(smtp, password) : NULL;
}

int site_mail_server(struct store *store, json_t **ret_server, struct err *err)
{
	_cleanup_(crypto_secret_freep) char *password = NULL;
	json_auto_t *settings = NULL;

	if (site_settings_read(store, &settings, err) < 0 || site_secret_read(store, SMTP_PASSWORD, &password, err) < 0)
		return -1;
	*ret_server = site_mail_server_of(json_object_get(settings, "smtp"), password);
	return 0;
}

int site_settings_update(struct store *store, const json_t *changes, json_t **ret_settings, struct err *err)
{
	_cleanup_(freep) char *text = json_text(changes);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, site_settings_update, .changes = text) < 0)
		return -1;
	*ret_settings = json_shown(row_of(site_settings, &rows, 0)->settings);
	rate_set(*ret_settings);
	known_set(*ret_settings);
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

int site_settings_watch(struct store *store, struct err *err)
{
	json_auto_t *settings = NULL;

	if (site_settings_read(store, &settings, err) < 0)
		return -1;
	rate_set(settings);
	known_set(settings);
	return 0;
}
