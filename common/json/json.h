/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_JSON_JSON_H
#define COMMON_JSON_JSON_H

/* Small readers over jansson; json_auto_t is jansson's own cleanup. All of them accept NULL for the value. */

#include <jansson.h>

#include "common/base.h"
#include "common/json/json_scan.h"

struct err;

enum { JSON_NAME_SIZE = 128 };

/* Parses one document of any kind; -1 with ERR_MALFORMED that names the line. For documents that are not large:
 * ERR_TOO_LARGE if it would take more than JSON_PARSE_MOST bytes of memory. */
enum { JSON_PARSE_MOST = 512 << 20 };
int json_parse(const char *bytes, size_t len, json_t **ret_value, struct err *err);

/* A document that may be large: its memory is bounded (common/memory.h) until it is released. */
struct json_document {
	json_t *value;
	size_t taken;
};
#define JSON_NO_DOCUMENT ((struct json_document){NULL, 0})
/* Parses it as jansson's json_loadb does. -1 with ERR_MALFORMED that names the line, or an error of memory_take. */
int json_document_load(
	struct json_document *ret_document, const char *bytes, size_t len, size_t flags, struct err *err);
/* The same as json_parse does. */
int json_document_parse(struct json_document *ret_document, const char *bytes, size_t len, struct err *err);
/* For _cleanup_, too. */
void json_document_release(struct json_document *document);
/* About the bytes that a document takes as a value, and hardly ever less: up to JSON_MEMORY_MOST times its own. Reads
 * it once. */
size_t json_memory_of(const char *text, size_t len);
enum { JSON_MEMORY_MOST = 100 };
/* 0, or -1 with ERR_TOO_LARGE if the document would take more memory than that. */
int json_memory_check(const char *text, size_t len, size_t most, struct err *err);

/* Parses a text that PostgreSQL or this project wrote; null if it can't be parsed. A new reference. */
json_t *json_of(const char *text);
/* Parses a string, a number or a word of at most `most` bytes, of a text that was scanned (json_scan.h). An integer
 * that does not fit becomes a real. A new reference, or NULL if it is longer or anything else. */
json_t *json_of_scalar(struct json_span value, size_t most);
/* The compact text, with keys in their order. Never NULL; the caller frees it. The value must not contain cycles. */
char *json_text(const json_t *value);
/* The same with its length. */
char *json_text_len(const json_t *value, size_t *ret_len);

/* Takes the next name off a dotted path. False at the path's end. A longer name is cut off. */
bool json_path_next(const char **path, char name[JSON_NAME_SIZE]);
/* The member at a dotted path ("data.attributes.name"), or NULL. Borrowed. */
const json_t *json_at(const json_t *value, const char *path);
/* The text at the path, or NULL if it is missing or not a string. Borrowed. */
const char *json_string_at(const json_t *value, const char *path);
/* The integer at the path, or the fallback. */
long long json_int_at(const json_t *value, const char *path, long long fallback);
/* Reads a number within [low, high], also one that the parser took for a real. A fraction is cut off. -1 otherwise,
 * with *ret_number unchanged. The limits are at most JSON_WHOLE_MAX, up to which doubles are exact. */
#define JSON_WHOLE_MAX 9000000000000000
int json_whole(const json_t *value, long long low, long long high, long long *ret_number);
/* The boolean at the path, or the fallback. */
bool json_bool_at(const json_t *value, const char *path, bool fallback);
/* Whether the array has the text. */
bool json_has_text(const json_t *array, const char *text);
/* A JSON string, or null for NULL. A new reference. */
json_t *json_string_or_null(const char *text);

#endif
