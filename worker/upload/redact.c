/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/redact.h"

#include <string.h>

static const char replacement[] = "(sensitive value)";

static size_t pair_at(const char *at)
{
	return (size_t)(unsigned char)at[0] << 8 | (unsigned char)at[1];
}

static void secret_insert(struct redactor *redactor, char *secret)
{
	size_t at = 0, len = strlen(secret), pair = pair_at(secret);

	while (at < redactor->count && redactor->secrets[at].len > len)
		at++;
	redactor->secrets = mem_resize(redactor->secrets, redactor->count + 1, sizeof(*redactor->secrets));
	memmove(&redactor->secrets[at + 1], &redactor->secrets[at],
		(redactor->count - at) * sizeof(*redactor->secrets));
	redactor->secrets[at] = (struct redact_secret){secret, len};
	redactor->count++;
	redactor->pairs[pair / 8] |= (unsigned char)(1 << pair % 8);
}

/* The text as it appears between the quotes of a JSON string. Go's encoder, which terraform uses, escapes <, > and &
 * too. */
static char *json_form(const char *value, bool as_go)
{
	json_auto_t *string = json_string(value);
	_cleanup_(freep) char *dumped = json_dumps(string, JSON_ENCODE_ANY);
	struct buf out = BUF_INIT((size_t)-1);

	if (!dumped)
		return NULL;
	for (const char *at = dumped + 1; at[1]; at++) {
		if (as_go && strchr("<>&", *at))
			buf_printf(&out, "\\u%04x", (unsigned char)*at);
		else
			buf_append(&out, at, 1);
	}
	return buf_take(&out);
}

static void secret_add(struct redactor *redactor, char *secret)
{
	for (size_t i = 0; secret && i < redactor->count; i++) {
		if (text_equal(redactor->secrets[i].text, secret)) {
			free(secret);
			return;
		}
	}
	if (secret)
		secret_insert(redactor, secret);
}

/* Adds each line of a value of several lines, because plain output shows them line by line. */
static void lines_add(struct redactor *redactor, const char *value)
{
	_cleanup_(freep) char *copy = mem_text(value);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\r\n")))
		if (strlen(line) >= 2 * REDACT_SHORTEST)
			secret_add(redactor, mem_text(line));
}

/* True for JSON's literals: they are no secrets, and replacing them would break every line of JSON. */
static bool says_nothing(const char *value)
{
	return text_equal(value, "true") || text_equal(value, "false") || text_equal(value, "null");
}

static char *without_line_ends(const char *value)
{
	size_t len = strlen(value);

	while (len > 0 && strchr("\r\n", value[len - 1]))
		len--;
	return mem_printf("%.*s", (int)len, value);
}

void redactor_add(struct redactor *redactor, const char *text)
{
	_cleanup_(freep) char *value = without_line_ends(text);
	_cleanup_(freep) char *inner = NULL;

	if (strlen(value) < REDACT_SHORTEST || says_nothing(value))
		return;
	inner = json_form(value, false);
	if (inner)
		secret_add(redactor, json_form(inner, false));
	secret_add(redactor, json_form(value, false));
	secret_add(redactor, json_form(value, true));
	if (strchr(value, '\n'))
		lines_add(redactor, value);
	else
		secret_add(redactor, mem_text(value));
}

/* The length of a quoted string with its quotes; 0 if it has no end. */
static size_t quoted_len(const char *at)
{
	size_t len = 1;

	while (at[len] && at[len] != '"')
		len += at[len] == '\\' && at[len + 1] ? 2 : 1;
	return at[len] ? len + 1 : 0;
}

/* Adds a quoted string's text. Its escapes are those of JSON, but for a few, with which it is added as it is. */
static void quoted_add(struct redactor *redactor, const char *at, size_t len)
{
	json_auto_t *string = json_loadb(at, len, JSON_DECODE_ANY, NULL);
	_cleanup_(freep) char *inner = mem_printf("%.*s", (int)(len - 2), at + 1);

	redactor_add(redactor, json_is_string(string) ? json_string_value(string) : inner);
}

static bool is_key(const char *behind)
{
	behind += strspn(behind, " \t\r\n");
	return *behind == '=' || *behind == ':';
}

void redactor_add_literal(struct redactor *redactor, const char *literal)
{
	const char *at = literal;
	size_t len;

	redactor_add(redactor, literal);
	while (redactor->count < REDACT_PARTS && (at = strchr(at, '"')) && (len = quoted_len(at)) > 0) {
		if (!is_key(at + len))
			quoted_add(redactor, at, len);
		at += len;
	}
}

/* An engine parses TF_VAR_... as an expression unless its variable is a primitive. */
static void variable_add(struct redactor *redactor, const struct variable *variable)
{
	if (variable->hcl || text_starts(variable->key, "TF_VAR_"))
		redactor_add_literal(redactor, variable->value);
	else
		redactor_add(redactor, variable->value);
}

void redactor_init(struct redactor *redactor, const struct assignment *assignment)
{
	*redactor = (struct redactor){.secrets = NULL};
	redactor_add(redactor, text_or_empty(assignment->run_token));
	redactor_add(redactor, text_or_empty(assignment->ssh_key));
	for (size_t i = 0; i < assignment->variable_count; i++)
		if (assignment->variables[i].sensitive)
			variable_add(redactor, &assignment->variables[i]);
}

void redactor_release(struct redactor *redactor)
{
	for (size_t i = 0; i < redactor->count; i++)
		free(redactor->secrets[i].text);
	free(redactor->secrets);
	*redactor = (struct redactor){.secrets = NULL};
}

/* The first position from `at` on where a secret may begin. There are few in a line. */
static size_t place_next(const struct redactor *redactor, const char *line, size_t len, size_t at)
{
	for (; at + 1 < len; at++) {
		size_t pair = pair_at(line + at);

		if (redactor->pairs[pair / 8] & 1 << pair % 8)
			return at;
	}
	return len;
}

/* The length of the secret that begins here, or 0. */
static size_t secret_at(const struct redactor *redactor, const char *at, size_t left)
{
	for (size_t i = 0; i < redactor->count; i++) {
		const struct redact_secret *secret = &redactor->secrets[i];

		if (secret->len <= left && memcmp(at, secret->text, secret->len) == 0)
			return secret->len;
	}
	return 0;
}

int redact(const struct redactor *redactor, const char *line, size_t len, struct buf *out)
{
	size_t plain = 0;

	if (redactor->count == 0)
		return buf_append(out, line, len);
	for (size_t i = place_next(redactor, line, len, 0); i < len; i = place_next(redactor, line, len, i)) {
		size_t secret = secret_at(redactor, line + i, len - i);

		if (secret == 0) {
			i++;
			continue;
		}
		if (buf_append(out, line + plain, i - plain) < 0 || buf_text(out, replacement) < 0)
			return -1;
		i += secret;
		plain = i;
	}
	return buf_append(out, line + plain, len - plain);
}

/* ---- texts that were cut ---- */

/* The length of the longest beginning of a secret that the text ends with, or 0. */
static size_t beginning_at_end(const struct redactor *redactor, const char *text, size_t len)
{
	size_t longest = 0;

	for (size_t i = 0; i < redactor->count; i++) {
		const struct redact_secret *secret = &redactor->secrets[i];
		size_t part = secret->len - 1 < len ? secret->len - 1 : len;

		while (part > longest && memcmp(text + len - part, secret->text, part) != 0)
			part--;
		if (part > longest)
			longest = part;
	}
	return longest >= REDACT_SHORTEST ? longest : 0;
}

/* Appends a part of a text that ends where it was cut. */
static int part_redact(const struct redactor *redactor, const char *part, size_t len, struct buf *out)
{
	size_t cut = beginning_at_end(redactor, part, len);

	if (redact(redactor, part, len - cut, out) < 0)
		return -1;
	return cut > 0 ? buf_text(out, replacement) : 0;
}

int redact_cut(const struct redactor *redactor, const char *text, size_t len, struct buf *out)
{
	static const char mark[] = "... (";
	const char *end = text + len, *at;

	if (redactor->count == 0)
		return buf_append(out, text, len);
	while ((at = memmem(text, (size_t)(end - text), mark, strlen(mark)))) {
		if (part_redact(redactor, text, (size_t)(at - text), out) < 0 || buf_text(out, mark) < 0)
			return -1;
		text = at + strlen(mark);
	}
	return part_redact(redactor, text, (size_t)(end - text), out);
}

char *redact_text(const struct redactor *redactor, const char *text)
{
	struct buf clean = BUF_INIT((size_t)-1);

	redact_cut(redactor, text, strlen(text), &clean);
	return buf_take(&clean);
}

size_t redact_settled(const struct redactor *redactor, const char *line, size_t len)
{
	size_t longest = redactor->count ? redactor->secrets[0].len : 1;
	size_t open = len >= longest ? len - longest + 1 : 0; /* a secret that begins before this has ended */
	size_t settled = open;

	for (size_t i = place_next(redactor, line, len, 0); i < open; i = place_next(redactor, line, len, i)) {
		size_t secret = secret_at(redactor, line + i, len - i);

		i += secret ? secret : 1;
		if (secret && i > settled)
			settled = i;
	}
	return settled ? settled : len;
}
