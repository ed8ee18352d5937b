/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/notifications/notification_urls.h"

#include "common/err.h"
#include "scheduler/store/content/seals.h"

#define CONTEXT "notification-url"

void notification_url_seal(struct store *store, const char *url, struct buf *ret_sealed)
{
	if (url)
		seal_text(store, CONTEXT, url, ret_sealed);
}

int notification_url_open(struct store *store, struct db_hex sealed, struct buf *ret_url, struct err *err)
{
	return sealed.text ? seal_open(store, CONTEXT, sealed, ret_url, err) : 0;
}

static int response_open(struct store *store, json_t *response, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(NOTIFICATION_URL_LIMIT),
					  url = BUF_INIT(NOTIFICATION_URL_LIMIT);
	const char *text = json_string_at(response, "url-sealed");

	if (text) {
		if (crypto_base64_decode(text, &sealed) < 0 ||
			keyring_open(store->keyring, CONTEXT, buf_bytes(&sealed), &url, err) < 0)
			return -1;
		json_object_set_new(response, "url", json_string(buf_str(&url)));
	}
	json_object_del(response, "url-sealed");
	return 0;
}

int notification_responses_open(struct store *store, const char *sealed, json_t **ret_responses, struct err *err)
{
	json_auto_t *responses = json_shown(sealed);
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
