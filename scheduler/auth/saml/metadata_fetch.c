/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/saml/metadata_fetch.h"

#include <curl/curl.h>

#include "common/err.h"
#include "common/http/easy.h"
#include "common/http/fetch.h"
#include "common/http/guard.h"

enum { CONNECT_MS = 5000, TOTAL_MS = 10000 };

static void easy_freep(CURL **easy)
{
	curl_easy_cleanup(*easy);
}

static size_t body_came(char *bytes, size_t size, size_t count, void *data)
{
	return buf_append(data, bytes, size * count) == 0 ? size * count : 0;
}

static void request_set(CURL *easy, const char *url, struct buf *document, char *error)
{
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "Runyard");
	if (fetch_trusted())
		curl_easy_setopt(easy, CURLOPT_CAINFO, fetch_trusted());
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TOTAL_MS);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body_came);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, document);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error);
}

/* The answer is not shown: it may come from a host that only this machine reaches. */
static int outcome(CURL *easy, CURLcode code, const struct guarded *guarded, const char *error, struct err *err)
{
	long status = 0;

	curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	if (*guarded->why)
		return err_set(err, ERR_INVALID, "The metadata can't be read: %s", guarded->why);
	if (code == CURLE_WRITE_ERROR)
		return err_set(err, ERR_INVALID, "The metadata is larger than 256 KiB");
	if (code != CURLE_OK)
		return err_set(
			err, ERR_INVALID, "The metadata can't be read: %s", *error ? error : curl_easy_strerror(code));
	if (status >= 300 && status < 400)
		return err_set(
			err, ERR_INVALID, "The metadata's address answers with a redirect, which is not followed");
	return status == 200 ? 0
			     : err_set(err, ERR_INVALID, "The metadata's address answers with the status %ld", status);
}

int metadata_fetch(const struct guard *guard, const char *url, struct buf *ret_document, struct err *err)
{
	_cleanup_(easy_freep) CURL *easy = easy_new();
	struct guarded guarded = {.guard = guard};
	char error[CURL_ERROR_SIZE] = "";

	request_set(easy, url, ret_document, error);
	if (guard_curl(easy, url, &guarded, err) < 0)
		return -1;
	return outcome(easy, curl_easy_perform(easy), &guarded, error, err);
}
