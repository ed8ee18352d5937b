/* SPDX-License-Identifier: MPL-2.0 */
#include <stdio.h>
#include <string.h>

#include "worker/git/helper/run.h"

enum { SENTENCE_MAX = 700, LINE_MAX_LEN = 300 };

/*
 * The messages of git, curl and ssh (in the C locale), with a sentence for users. The first row whose text occurs is
 * used. PASSES: another try may succeed. The sentence is followed by git's line, except for FINAL_ALONE.
 */
enum meaning { FINAL, FINAL_ALONE, PASSES };

static const struct {
	const char *text, *sentence;
	enum meaning meaning;
} meanings[] = {
	{"Authentication failed for", "The server refused the connection's user and password.", FINAL_ALONE},
	{"could not read Username", "The server asks for a login, and the connection has none for it.", FINAL_ALONE},
	{"could not read Password", "The server asks for a login, and the connection has none for it.", FINAL_ALONE},
	{"Permission denied (", "The server refused the connection's SSH key.", FINAL_ALONE},
	{"no mutual signature", "The server refused the connection's SSH key.", FINAL},
	{"invalid format", "The connection's SSH key can't be read.", FINAL_ALONE},
	{"error in libcrypto", "The connection's SSH key can't be read.", FINAL_ALONE},
	{"HOST IDENTIFICATION HAS CHANGED", "The server's host key is not the one that is pinned for it.", FINAL_ALONE},
	{"Host key verification failed", "The server's host key is not the one that is pinned for it.", FINAL_ALONE},
	{"unable to update url base from redirection",
		"The server redirects to another address, which is not followed.", FINAL},
	{"requested URL returned error: 30", "The server redirects to another address, which is not followed.", FINAL},
	{"requested URL returned error: 401", "The server refused the connection's user and password.", FINAL_ALONE},
	{"requested URL returned error: 403", "The server refused access to the repository.", FINAL},
	{"requested URL returned error: 404", "The server has no such repository, or does not show it.", FINAL},
	{"requested URL returned error: 410", "The server has no such repository any more.", FINAL},
	{"requested URL returned error: 429", "The server limits the rate of requests.", PASSES},
	{"requested URL returned error: 5", "The server failed.", PASSES},
	{"' not found", "The server has no such repository, or does not show it.", FINAL},
	{"Repository not found", "The server has no such repository, or does not show it.", FINAL},
	{"does not appear to be a git repository", "The server has no such repository, or does not show it.", FINAL},
	{"not exported", "The server has no such repository, or does not show it.", FINAL},
	{"is this a git repository?", "The server's answer is not that of a repository.", FINAL},
	/* The first six are GnuTLS's, which curl 8 says in other words than curl 7. The others are OpenSSL's. */
	{"server certificate verification failed",
		"The server's certificate is of no CA that the worker trusts (--ca-file).", FINAL_ALONE},
	{"certificate signer not trusted", "The server's certificate is of no CA that the worker trusts (--ca-file).",
		FINAL_ALONE},
	{"server certificate expiration date has passed", "The server's certificate has expired.", FINAL_ALONE},
	{"certificate has expired", "The server's certificate has expired.", FINAL_ALONE},
	{"server verification failed", "The server's certificate is not trusted.", FINAL},
	{"SSL: certificate subject name", "The server's certificate is of another name.", FINAL},
	{"SSL certificate problem", "The server's certificate is not trusted.", FINAL},
	{"SSL: no alternative certificate", "The server's certificate is of another name.", FINAL},
	{"invalid refspec", "The name of a ref is not valid.", FINAL},
	{"transport '", "The kind of address is not permitted.", FINAL},
	{"not our ref", "The server does not have the commit.", FINAL},
	{"unadvertised object", "The server does not give the commit.", FINAL},
	{"couldn't find remote ref", "The server does not have the ref.", FINAL},
	{"fsck error", "The repository has a damaged or dangerous object.", FINAL},
	{"No space left on device", "The worker's disk is full.", PASSES},
	{"Disk quota exceeded", "The commit needs more disk than --job-disk permits.", FINAL},
	{"File too large", "The commit needs more disk than --job-disk permits.", FINAL},
	{"more output than fits", "git's answer is too large.", FINAL},
	{"Operation too slow", "The server sent nothing for a minute.", PASSES},
	{"Could not resolve", "The server can't be reached.", PASSES},
	{"no connection to", "The server can't be reached.", PASSES},
	{"Failed to connect", "The server can't be reached.", PASSES},
	{"SOCKS5", "The server can't be reached.", PASSES},
	{"early EOF", "The server ended the connection too early.", PASSES},
	{"hung up unexpectedly", "The server ended the connection too early.", PASSES},
	{"protocol error", "The server ended the connection too early.", PASSES},
	{"unexpected disconnect", "The server ended the connection too early.", PASSES},
	{"index-pack failed", "The server's answer is incomplete or damaged.", PASSES},
	{"invalid index-pack output", "The server's answer is incomplete or damaged.", PASSES},
	{"RPC failed", "The server ended the connection too early.", PASSES},
};

static void printable(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = ' ';
}

static void outcome_add(struct work *work, bool passes, const char *sentence)
{
	buf_reset(&work->result);
	record_add(&work->result, "outcome", passes ? "retry" : "failed");
	record_add(&work->result, "error", sentence);
}

void work_failed(struct work *work, const char *sentence, ...)
{
	char text[SENTENCE_MAX];
	va_list list;

	va_start(list, sentence);
	vsnprintf(text, sizeof(text), sentence, list);
	va_end(list);
	printable(text);
	outcome_add(work, false, text);
}

/* The line that has the text, without git's "fatal: " before it. */
static void line_with(const struct buf *errors, const char *at, char ret_line[LINE_MAX_LEN])
{
	static const char *const prefixes[] = {"fatal: ", "error: ", "remote: ", "ERROR: "};
	const char *begin = at, *text = buf_str(errors);
	size_t len;

	while (begin > text && begin[-1] != '\n' && begin[-1] != '\r')
		begin--;
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++)
		if (text_starts(begin, prefixes[i]))
			begin += strlen(prefixes[i]);
	len = strcspn(begin, "\r\n");
	snprintf(ret_line, LINE_MAX_LEN, "%.*s", (int)len, begin);
}

/* The last line that git itself calls an error, or the last line. */
static const char *last_error(const struct buf *errors)
{
	const char *at = buf_str(errors), *last = at, *fatal = NULL;

	while (*at) {
		if (text_starts(at, "fatal: "))
			fatal = at;
		if (*at != '\n')
			last = at;
		at += strcspn(at, "\n");
		at += *at == '\n';
	}
	return fatal ? fatal : last;
}

void work_failed_by_git(struct work *work, const char *what)
{
	char sentence[SENTENCE_MAX], line[LINE_MAX_LEN];
	const char *at = NULL;
	size_t i = 0;

	while (i < ARRAY_LEN(meanings) && !(at = strstr(buf_str(&work->errors), meanings[i].text)))
		i++;
	line_with(&work->errors, at ? at : last_error(&work->errors), line);
	if (at && meanings[i].meaning == FINAL_ALONE)
		snprintf(sentence, sizeof(sentence), "%s", meanings[i].sentence);
	else if (at)
		snprintf(sentence, sizeof(sentence), "%s (git: %s)", meanings[i].sentence, line);
	else
		snprintf(sentence, sizeof(sentence), "%s failed. (git: %s)", what, line);
	printable(sentence);
	outcome_add(work, !at || meanings[i].meaning == PASSES, sentence);
	/* The scheduler may have a newer token for another try. */
	if (at && text_equal(meanings[i].sentence, meanings[0].sentence))
		record_add(&work->result, "login", "refused");
}

bool git_lacks_commit(const struct work *work)
{
	const char *errors = buf_str(&work->errors);

	return strstr(errors, "not our ref") || strstr(errors, "unadvertised object") ||
		strstr(errors, "couldn't find remote ref") || strstr(errors, "shallow capabilities") ||
		strstr(errors, "Server does not support shallow");
}

bool git_lacks_ref(const struct work *work)
{
	return strstr(buf_str(&work->errors), "couldn't find remote ref") != NULL;
}
