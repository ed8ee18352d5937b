/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/git/proxy_settings.h"

#include <string.h>

#include <curl/curl.h>

#include "common/crypto.h"
#include "worker/git/records.h"
#include "worker/git/upstream.h"

/* The names in lower case have priority, as in libcurl. */
static const struct {
	const char *record, *lower, *upper;
	bool url;
} settings[] = {
	{UPSTREAM_HTTPS, "https_proxy", "HTTPS_PROXY", true},
	{UPSTREAM_HTTP, "http_proxy", "HTTP_PROXY", true},
	{UPSTREAM_NONE, "no_proxy", "NO_PROXY", false},
};

/* A part of the URL, or "". The caller frees it. */
static char *part_of(CURLU *url, CURLUPart part, unsigned flags)
{
	char *value = NULL, *copy;

	curl_url_get(url, part, &value, flags);
	copy = mem_text(text_or_empty(value));
	curl_free(value);
	return copy;
}

/* Returns "HOST PORT LOGIN", or UPSTREAM_UNUSABLE. The caller frees it. */
static char *proxy_read(const char *text)
{
	_cleanup_(freep) char *whole = mem_printf("%s%s", strstr(text, "://") ? "" : "http://", text);
	CURLU *url = mem_check(curl_url());
	bool valid = curl_url_set(url, CURLUPART_URL, whole, CURLU_NON_SUPPORT_SCHEME) == CURLUE_OK;
	_cleanup_(freep) char *scheme = part_of(url, CURLUPART_SCHEME, 0);
	_cleanup_(freep) char *host = part_of(url, CURLUPART_HOST, 0);
	_cleanup_(freep) char *port = part_of(url, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	_cleanup_(freep) char *user = part_of(url, CURLUPART_USER, CURLU_URLDECODE);
	_cleanup_(freep) char *password = part_of(url, CURLUPART_PASSWORD, CURLU_URLDECODE);
	_cleanup_(freep) char *both = mem_printf("%s:%s", user, password);
	_cleanup_(freep) char *login = *user ? crypto_base64(both, strlen(both)) : mem_text("");

	curl_url_cleanup(url);
	if (!valid || !text_equal(scheme, "http"))
		return mem_text(UPSTREAM_UNUSABLE);
	if (*host == '[')
		return mem_printf("%.*s %s %s", (int)strcspn(host + 1, "]"), host + 1, port, login);
	return mem_printf("%s %s %s", host, port, login);
}

int proxy_settings_add(struct buf *order)
{
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		const char *lower = getenv(settings[i].lower), *upper = getenv(settings[i].upper);
		const char *given = text_or_empty(lower && *lower ? lower : upper);
		_cleanup_(freep) char *value = *given && settings[i].url ? proxy_read(given) : mem_text(given);

		if (*value && record_add(order, settings[i].record, value) < 0)
			return -1;
	}
	return 0;
}
