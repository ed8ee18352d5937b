/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/git/git_result.h"

#include <string.h>

#include "common/crypto.h"
#include "worker/git/records.h"

enum { ERROR_MAX = 1000, SECRET_MIN = 4 };

/* ---- texts ---- */

/* Replaces bytes that are not UTF-8. The caller frees it. */
static char *text_valid(const char *text)
{
	char *copy = mem_text(text);

	for (size_t at = 0; copy[at];) {
		size_t len = 1;
		json_t *whole = NULL;

		if ((unsigned char)copy[at] < 0x80) {
			at++;
			continue;
		}
		for (len = 2; len <= 4 && !whole && strnlen(copy + at, len) == len; len++)
			whole = json_stringn(copy + at, len);
		if (whole)
			at += len - 1;
		else
			copy[at++] = '?';
		json_decref(whole);
	}
	return copy;
}

static void blacken(char *text, const char *secret)
{
	size_t len = strlen(text_or_empty(secret));
	char *at = text;

	while (len >= SECRET_MIN && (at = strstr(at, secret))) {
		memset(at, '*', len);
		at += len;
	}
}

/* A server may repeat what it was sent: the password, or the header that has it. */
static json_t *text_blackened(const json_t *order, const char *text)
{
	_cleanup_(freep) char *copy = text_valid(text);
	const char *password = text_or_empty(json_string_at(order, "login.password"));
	_cleanup_(freep) char *both = mem_printf("%s:%s", text_or_empty(json_string_at(order, "login.user")), password);
	_cleanup_(freep) char *header = crypto_base64(both, strlen(both));
	char bounded[ERROR_MAX];

	if (*password) {
		blacken(copy, header);
		blacken(copy, password);
	}
	text_copy(bounded, sizeof(bounded), copy);
	return json_string(bounded);
}

static json_t *text_json(const char *text)
{
	_cleanup_(freep) char *valid = text_valid(text);

	return json_string(valid);
}

/* ---- members ---- */

static void refs_add(json_t *result, struct bytes records)
{
	json_t *refs = json_object();
	struct record record;

	for (size_t at = 0; record_next(records, &at, &record);) {
		const char *space = text_equal(record.name, "ref") ? strchr(record.value, ' ') : NULL;
		size_t len = space ? strlen(space + 1) : 0;
		_cleanup_(freep) char *name = space ? text_valid(space + 1) : NULL;

		if (len > 3 && text_equal(name + len - 3, "^{}"))
			name[len - 3] = '\0';
		if (space)
			json_object_set_new(refs, name, json_stringn(record.value, (size_t)(space - record.value)));
	}
	json_object_set_new(result, "refs", refs);
	json_object_set_new(result, "head",
		*record_value(records, "head") ? text_json(record_value(records, "head")) : json_null());
}

static void files_add(json_t *result, struct bytes records)
{
	json_t *files = json_array();
	struct record record;

	for (size_t at = 0; record_next(records, &at, &record);)
		if (text_equal(record.name, "file"))
			json_array_append_new(files, text_json(record.value));
	if (*record_value(records, "listed"))
		json_object_set(result, "files", files);
	else
		json_object_set_new(result, "note", text_json(record_value(records, "note")));
	json_decref(files);
}

static void commit_add(json_t *result, struct bytes records)
{
	const char *sha = record_value(records, "commit");

	if (*sha)
		json_object_set_new(result, "commits",
			json_pack("{s{so so so}}", sha, "message", text_json(record_value(records, "message")),
				"author", text_json(record_value(records, "author")), "author-mail",
				text_json(record_value(records, "author-mail"))));
}

/* What the proxy has seen explains a failure better than git does. */
static void error_add(const json_t *order, json_t *result, struct bytes records, long long max_mib)
{
	const char *outcome = json_string_at(result, "outcome"), *error = record_value(records, "error");
	const char *refused = record_value(records, "refused"), *unreachable = record_value(records, "unreachable");
	_cleanup_(freep) char *text = NULL;

	if (*record_value(records, "exceeded")) {
		outcome = "failed";
		text = mem_printf("The server sent more than %lld MiB (--fetch-size).", max_mib);
	} else if (*refused) {
		outcome = "failed";
		text = mem_printf("%s.", refused);
	} else if (*unreachable && text_equal(outcome, "retry")) {
		text = mem_printf("%s.", unreachable);
	} else {
		text = mem_text(error);
	}
	json_object_set_new(result, "outcome", json_string(outcome));
	json_object_set_new(result, "error", text_blackened(order, text));
}

json_t *git_result_read(const json_t *order, struct bytes records, bool ended, long long max_mib)
{
	const char *outcome = record_value(records, "outcome"), *kind = json_string_at(order, "kind");
	json_t *result = json_pack("{ss}", "outcome", *outcome ? outcome : "retry");

	if (*record_value(records, "host-keys"))
		json_object_set_new(result, "host-keys", text_json(record_value(records, "host-keys")));
	if (text_equal(outcome, "done") && ended) {
		if (text_equal(kind, "look"))
			refs_add(result, records);
		if (text_equal(kind, "diff"))
			files_add(result, records);
		commit_add(result, records);
		return result;
	}
	json_object_set_new(result, "outcome", json_string(text_equal(outcome, "failed") ? "failed" : "retry"));
	if (text_equal(record_value(records, "login"), "refused"))
		json_object_set_new(result, "login-refused", json_true());
	error_add(order, result, records, max_mib);
	if (!*json_string_at(result, "error"))
		json_object_set_new(result, "error", json_string("git was killed, or could not be started."));
	return result;
}
