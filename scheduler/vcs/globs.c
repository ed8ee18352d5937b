/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A pattern is an automaton whose places are followed all at once, so no pattern needs more steps than the product of
 * both lengths. A range of places bounds what is looked at for each character.
 */
#include "scheduler/vcs/globs.h"

#include <string.h>

#include "common/buf.h"
#include "common/err.h"

enum token_kind {
	TOKEN_TEXT,    /* exactly this character */
	TOKEN_ONE,     /* any character but a slash */
	TOKEN_ANY,     /* any characters but slashes, or none */
	TOKEN_FOLDERS, /* any folders, or none: followed by TOKEN_FOLDER */
	TOKEN_FOLDER,  /* within one of these folders */
	TOKEN_END
};

struct token {
	enum token_kind kind;
	const char *text; /* of TOKEN_TEXT */
	size_t len;
};

enum { TOKENS_MAX = VCS_GLOB_MAX + 4 };

/* The places that are reached. Those below `low` or from `high` on are not. */
struct places {
	bool at[TOKENS_MAX];
	size_t low, high;
};

/* The length of the UTF-8 character, or 1 for bytes that are none. */
static size_t char_len(const char *text)
{
	const unsigned char byte = (unsigned char)*text;
	const size_t len = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;

	for (size_t i = 1; i < len; i++) {
		if (((unsigned char)text[i] & 0xc0) != 0x80)
			return 1;
	}
	return len;
}

/* --- patterns --- */

/* True if "**" is a whole part at `at`. */
static bool is_folders(const char *pattern, const char *at)
{
	return at[0] == '*' && at[1] == '*' && (at == pattern || at[-1] == '/') && (at[2] == '/' || !at[2]);
}

/* Reads one token and returns what follows it. */
static const char *read_token(const char *at, struct token *ret_token)
{
	*ret_token = (struct token){TOKEN_TEXT, at, 1};
	if (*at == '?' || *at == '*') {
		ret_token->kind = *at == '?' ? TOKEN_ONE : TOKEN_ANY;
		return at + (*at == '*' ? strspn(at, "*") : 1);
	}
	if (*at == '\\' && at[1])
		ret_token->text = ++at;
	ret_token->len = char_len(at);
	return at + ret_token->len;
}

/* The number of tokens without TOKEN_END; 0 if the pattern is empty or too long. */
static size_t compile(const char *pattern, struct token tokens[TOKENS_MAX])
{
	size_t count = 0;

	if (strlen(pattern) > VCS_GLOB_MAX)
		return 0;
	pattern += strspn(pattern, "/");
	for (const char *at = pattern; *at;) {
		if (is_folders(pattern, at)) {
			tokens[count++].kind = TOKEN_FOLDERS;
			tokens[count++].kind = TOKEN_FOLDER;
			at += at[2] ? 3 : 2;
			if (!*at)
				tokens[count++].kind = TOKEN_ANY; /* of a last "**": the file itself */
		} else {
			at = read_token(at, &tokens[count++]);
		}
	}
	tokens[count].kind = TOKEN_END;
	return count;
}

/* --- matching --- */

static void reach(struct places *places, size_t place)
{
	places->at[place] = true;
	if (places->low > place)
		places->low = place;
	if (places->high <= place)
		places->high = place + 1;
}

/* Adds the places that need no character. They are all further on. */
static void skip(const struct token *tokens, struct places *places)
{
	for (size_t i = places->low; i < places->high; i++) {
		if (!places->at[i])
			continue;
		if (tokens[i].kind == TOKEN_ANY)
			reach(places, i + 1);
		else if (tokens[i].kind == TOKEN_FOLDERS)
			reach(places, i + 2);
	}
}

/* Reads one character at one place. */
static void step(const struct token *tokens, size_t i, struct bytes text, struct places *next)
{
	const char *character = text.data;
	const bool slash = *character == '/';

	switch (tokens[i].kind) {
	case TOKEN_TEXT:
		if (tokens[i].len == text.len && !memcmp(tokens[i].text, character, text.len))
			reach(next, i + 1);
		break;
	case TOKEN_ONE:
		if (!slash)
			reach(next, i + 1);
		break;
	case TOKEN_ANY:
		if (!slash)
			reach(next, i);
		break;
	case TOKEN_FOLDERS:
		if (!slash)
			reach(next, i + 1);
		break;
	case TOKEN_FOLDER:
		reach(next, slash ? i - 1 : i);
		break;
	case TOKEN_END:
		break;
	}
}

static void clear(struct places *places, size_t count)
{
	memset(places->at, 0, (count + 1) * sizeof(places->at[0]));
	places->low = TOKENS_MAX;
	places->high = 0;
}

bool vcs_glob_match(const char *pattern, const char *path)
{
	struct token tokens[TOKENS_MAX];
	struct places places[2];
	struct places *now = &places[0], *next = &places[1], *other;
	const size_t count = compile(pattern, tokens);

	if (!count)
		return false;
	path += strspn(path, "/");
	clear(now, count);
	reach(now, 0);
	skip(tokens, now);
	for (size_t len; *path && now->high; path += len) {
		len = char_len(path);
		clear(next, count);
		for (size_t i = now->low; i < now->high; i++) {
			if (now->at[i])
				step(tokens, i, (struct bytes){path, len}, next);
		}
		skip(tokens, next);
		other = now;
		now = next;
		next = other;
	}
	return !*path && now->at[count];
}

/* --- checks --- */

static bool has_parent(const char *pattern)
{
	for (const char *at = strstr(pattern, ".."); at; at = strstr(at + 1, "..")) {
		if ((at == pattern || at[-1] == '/') && (at[2] == '/' || !at[2]))
			return true;
	}
	return false;
}

static bool ends_escaped(const char *pattern)
{
	size_t slashes = 0;

	for (size_t i = strlen(pattern); i && pattern[i - 1] == '\\'; i--)
		slashes++;
	return slashes % 2 == 1;
}

int vcs_glob_check(const char *pattern, struct err *err)
{
	if (!pattern[strspn(pattern, "/")])
		return err_set(err, ERR_INVALID, "A pattern must not be empty.");
	if (strlen(pattern) > VCS_GLOB_MAX)
		return err_set(err, ERR_INVALID, "A pattern must have %d bytes at most.", VCS_GLOB_MAX);
	for (const char *at = pattern; *at; at++) {
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			return err_set(err, ERR_INVALID, "A pattern must not have control characters.");
	}
	if (has_parent(pattern))
		return err_set(
			err, ERR_INVALID, "A pattern begins at the root of the repository and must not have \"..\".");
	if (ends_escaped(pattern))
		return err_set(err, ERR_INVALID, "A pattern must not end with a single backslash.");
	return 0;
}

/* --- folders --- */

bool vcs_folder_has(const char *folder, const char *path)
{
	size_t len;

	while (*folder == '/' || (*folder == '.' && (folder[1] == '/' || !folder[1])))
		folder++;
	path += strspn(path, "/");
	len = strlen(folder);
	while (len && folder[len - 1] == '/')
		len--;
	return !strncmp(path, folder, len) && (!len || path[len] == '/' || !path[len]);
}
