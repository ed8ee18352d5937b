/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/auth/identity/oidc_metadata.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "scheduler/auth/vcs/provider_request.h"

enum { CACHED = 64, FRESH_MS = 3600000, REACHED_MS = 5000, LOOK_UP_MS = 60000, MAX_ERROR = 64 };

/* ---- requests ---- */

/* The provider's error code, if it is a word: nothing else of an answer is shown. */
static const char *error_code(const struct provider_answer *answer)
{
	const char *code = json_string_value(json_object_get(answer->body, "error"));

	for (const char *at = code; at && *at; at++)
		if ((!isalnum((unsigned char)*at) && !strchr("_-.", *at)) || at - code >= MAX_ERROR)
			return "";
	return text_or_empty(code);
}

int oidc_call(struct store *store, const struct oidc_call *call, const char *what, json_t **ret_answer, struct err *err)
{
	const struct provider_request request = {.method = call->method,
		.url = call->url,
		.headers = {call->form ? "Content-Type: application/x-www-form-urlencoded" : call->authorization,
			call->form ? call->authorization : NULL},
		.body = call->form};
	_cleanup_(provider_answer_release) struct provider_answer answer = {.body = NULL};

	provider_request_send(store->settings->identity_guard, &request, &answer);
	if (answer.status == 200 && json_is_object(answer.body)) {
		*ret_answer = json_incref(answer.body);
		return 0;
	}
	log_warn("an identity provider gave no usable answer", "request", what, "error", answer.why, "code",
		error_code(&answer), NULL);
	if (provider_answer_is_passing(&answer))
		return err_set(err, ERR_UNAVAILABLE,
			"The identity provider does not answer (%s). Try again, or ask a site administrator.",
			answer.why);
	return err_set(err, ERR_FORBIDDEN, "The identity provider refused %s%s%s.", what,
		*error_code(&answer) ? " with the error " : "", error_code(&answer));
}

/* ---- what is kept ---- */

struct kept {
	struct id provider;
	char *issuer; /* the document is that of this issuer */
	json_t *document, *keys;
	int64_t document_at, keys_at; /* when they were read, in ms of a monotonic clock */
	int64_t looked_up;            /* when a missing key was looked up */
};

static struct kept kept[CACHED];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void kept_clear(struct kept *k)
{
	json_decref(k->document);
	json_decref(k->keys);
	free(k->issuer);
	*k = (struct kept){.document = NULL};
}

/* The entry of the provider: an empty one if nothing is kept, or if its issuer has changed. With the lock. */
static struct kept *kept_of(const struct oidc_provider *provider)
{
	struct kept *oldest = kept;

	for (struct kept *k = kept; k < kept + CACHED; k++) {
		if (text_equal(k->provider.text, provider->id.text)) {
			if (text_equal(k->issuer, provider->issuer))
				return k;
			oldest = k;
			break;
		}
		if (k->document_at < oldest->document_at)
			oldest = k;
	}
	kept_clear(oldest);
	oldest->provider = provider->id;
	oldest->issuer = mem_text(provider->issuer);
	return oldest;
}

void oidc_metadata_forget(const char *provider_id)
{
	pthread_mutex_lock(&lock);
	for (struct kept *k = kept; k < kept + CACHED; k++)
		if (text_equal(k->provider.text, provider_id))
			kept_clear(k);
	pthread_mutex_unlock(&lock);
}

/* ---- reading ---- */

/* An installation with TLS calls only providers with TLS. */
static int address_check(const struct store *store, const char *url, struct err *err)
{
	bool plain = text_starts(store->settings->public_url, "http://") && text_starts(text_or_empty(url), "http://");

	if (plain || text_starts(text_or_empty(url), "https://"))
		return 0;
	return err_set(err, ERR_FORBIDDEN, "The identity provider names an address that is not https.");
}

static int document_check(
	const struct store *store, const struct oidc_provider *provider, const json_t *document, struct err *err)
{
	static const char *const needed[] = {"authorization_endpoint", "token_endpoint", "jwks_uri"};

	if (!text_equal(json_string_value(json_object_get(document, "issuer")), provider->issuer))
		return err_set(err, ERR_FORBIDDEN,
			"The identity provider's discovery document names another issuer than its settings here.");
	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		if (address_check(store, json_string_value(json_object_get(document, needed[i])), err) < 0)
			return err_context(err, "%s", needed[i]);
	return 0;
}

static int document_fetch(
	struct store *store, const struct oidc_provider *provider, json_t **ret_document, struct err *err)
{
	size_t len = strlen(provider->issuer);
	_cleanup_(freep) char *url = mem_printf("%.*s/.well-known/openid-configuration",
		(int)(len - (len && provider->issuer[len - 1] == '/')), provider->issuer);
	json_auto_t *document = NULL;

	if (address_check(store, provider->issuer, err) < 0 ||
		oidc_call(store, &(struct oidc_call){.method = "GET", .url = url}, "the discovery document", &document,
			err) < 0 ||
		document_check(store, provider, document, err) < 0)
		return -1;
	*ret_document = json_incref(document);
	return 0;
}

/* What is kept of the provider: a copy with references of its own. */
static void kept_read(const struct oidc_provider *provider, struct kept *ret)
{
	struct kept *k;

	pthread_mutex_lock(&lock);
	k = kept_of(provider);
	*ret = *k;
	ret->issuer = NULL;
	json_incref(ret->document);
	json_incref(ret->keys);
	pthread_mutex_unlock(&lock);
}

/* A document or keys that were fetched replace the kept ones. */
static void kept_write(const struct oidc_provider *provider, json_t *document, json_t *keys)
{
	struct kept *k;

	pthread_mutex_lock(&lock);
	k = kept_of(provider);
	if (document) {
		json_decref(k->document);
		k->document = json_incref(document);
		k->document_at = clock_mono_ms();
	}
	if (keys) {
		json_decref(k->keys);
		k->keys = json_incref(keys);
		k->keys_at = clock_mono_ms();
	}
	pthread_mutex_unlock(&lock);
}

static int document_renew(
	struct store *store, const struct oidc_provider *provider, json_t **ret_document, struct err *err)
{
	json_auto_t *document = NULL;

	if (document_fetch(store, provider, &document, err) < 0)
		return -1;
	kept_write(provider, document, NULL);
	*ret_document = json_incref(document);
	return 0;
}

static bool document_is_newer(const struct kept *k, int64_t ms)
{
	return k->document && clock_mono_ms() - k->document_at < ms;
}

int oidc_metadata_read(
	struct store *store, const struct oidc_provider *provider, json_t **ret_document, struct err *err)
{
	_cleanup_(kept_clear) struct kept k = {.document = NULL};

	kept_read(provider, &k);
	if (!document_is_newer(&k, FRESH_MS)) {
		if (document_renew(store, provider, ret_document, err) == 0)
			return 0;
		if (!k.document || err->kind != ERR_UNAVAILABLE)
			return -1;
		*err = (struct err)ERR_INIT;
	}
	*ret_document = json_incref(k.document);
	return 0;
}

int oidc_metadata_reach(
	struct store *store, const struct oidc_provider *provider, json_t **ret_document, struct err *err)
{
	_cleanup_(kept_clear) struct kept k = {.document = NULL};

	kept_read(provider, &k);
	if (!document_is_newer(&k, REACHED_MS))
		return document_renew(store, provider, ret_document, err);
	*ret_document = json_incref(k.document);
	return 0;
}

/* Whether this thread may look up a missing key now. */
static bool look_up_begin(const struct oidc_provider *provider)
{
	int64_t now = clock_mono_ms();
	struct kept *k;
	bool may;

	pthread_mutex_lock(&lock);
	k = kept_of(provider);
	may = !k->looked_up || now - k->looked_up >= LOOK_UP_MS;
	if (may)
		k->looked_up = now;
	pthread_mutex_unlock(&lock);
	return may;
}

int oidc_keys_read(
	struct store *store, const struct oidc_provider *provider, bool anew, json_t **ret_keys, struct err *err)
{
	_cleanup_(kept_clear) struct kept k = {.document = NULL};
	json_auto_t *document = NULL, *keys = NULL;
	bool fresh;

	if (oidc_metadata_read(store, provider, &document, err) < 0)
		return -1;
	kept_read(provider, &k);
	fresh = k.keys && clock_mono_ms() - k.keys_at < FRESH_MS;
	if (fresh && (!anew || !look_up_begin(provider))) {
		*ret_keys = json_incref(k.keys);
		return 0;
	}
	if (oidc_call(store,
		    &(struct oidc_call){
			    .method = "GET", .url = json_string_value(json_object_get(document, "jwks_uri"))},
		    "the keys", &keys, err) < 0) {
		if (!k.keys)
			return -1;
		*err = (struct err)ERR_INIT;
		*ret_keys = json_incref(k.keys);
		return 0;
	}
	kept_write(provider, NULL, keys);
	*ret_keys = json_incref(keys);
	return 0;
}
