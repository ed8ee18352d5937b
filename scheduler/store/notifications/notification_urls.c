/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/notifications/notification_urls.h"

#include "common/err.h"
#include "common/log.h"

#define CONTEXT "notification-url"

void notification_url_seal(struct store *store, const char *url, struct buf *ret_sealed)
{
	if (url)
		store_seal(store, CONTEXT, url, ret_sealed);
}

int notification_url_open(struct store *store, const struct rows *rows, int row, struct buf *ret_url, struct err *err)
{
	if (!row_null(rows, row, "url_sealed"))
		return store_open(store, CONTEXT, rows, row, "url_sealed", ret_url, err);
	buf_text(ret_url, text_or_empty(row_text(rows, row, "url")));
	return 0;
}

static int response_open(struct store *store, json_t *response, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(NOTIFICATION_URL_LIMIT),
					  url = BUF_INIT(NOTIFICATION_URL_LIMIT);
	const char *text = json_string_at(response, "url-sealed");

	if (text) {
		if (crypto_base64_decode(text, &sealed) < 0 ||
			keyring_open(store->keyring, CONTEXT, buf_str(&sealed), sealed.len, &url, err) < 0)
			return -1;
		json_object_set_new(response, "url", json_string(buf_str(&url)));
	}
	json_object_del(response, "url-sealed");
	return 0;
}

int notification_responses_open(
	struct store *store, const struct rows *rows, int row, json_t **ret_responses, struct err *err)
{
	json_auto_t *responses = row_json(rows, row, "responses");
	json_t *response;
	size_t i;

	json_array_foreach(responses, i, response)
	{
		if (response_open(store, response, err) < 0)
			return -1;
	}
	*ret_responses = json_incref(responses);
	return 0;
}

/* ---- at startup ---- */

/* Rows of both tables have an id, `url` and `url_sealed`. Rows that another scheduler is sealing are skipped. */
static const struct {
	const char *read, *write;
} tables[] = {
	{"select id::text as id, url from notification_configurations where url is not null limit 500 for update skip "
	 "locked",
		"update notification_configurations set url = null, url_sealed = $2 where id = $1"},
	{"select id::text as id, url from notification_responses where url is not null limit 500 for update skip "
	 "locked",
		"update notification_responses set url = null, url_sealed = $2 where id = $1::bigint"},
};

struct sealing {
	struct store *store;
	size_t table;
	int count; /* of the rows that the transaction sealed */
};

static int seal_one(struct sealing *s, const struct rows *rows, int row, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(NOTIFICATION_URL_LIMIT);

	notification_url_seal(s->store, row_text(rows, row, "url"), &sealed);
	return db_query(s->store->db, NULL, err, tables[s->table].write, P_TEXT(row_text(rows, row, "id")),
		P_BYTES(sealed.data, sealed.len));
}

static int seal_some(void *data, struct err *err)
{
	struct sealing *s = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(s->store->db, &rows, err, tables[s->table].read) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (seal_one(s, &rows, i, err) < 0)
			return -1;
	s->count = rows.count;
	return 0;
}

int notification_urls_seal_all(struct store *store, struct err *err)
{
	for (size_t table = 0; table < ARRAY_LEN(tables); table++) {
		struct sealing s = {.store = store, .table = table};

		do {
			if (db_transaction(store->db, seal_some, &s, err) < 0)
				return err_context(err, "sealing the URLs of notifications");
		} while (s.count);
	}
	return 0;
}
