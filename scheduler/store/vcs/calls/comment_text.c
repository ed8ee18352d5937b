/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/comment_text.h"

#include <ctype.h>
#include <string.h>

#include "common/buf.h"
#include "proto/states.h"

/* The smallest limit of the providers is Bitbucket's 32,768 characters. */
enum { TEXT_LIMIT = 30000, MAX_ERROR = 1500, SHORT_SHA = 8 };

char *comment_marker(const char *marker)
{
	return mem_printf("<!-- runyard:%s -->", marker);
}

/* Appends a text so that Markdown shows its characters: all that may mean something become references, and a line end
 * a space. A zero-width joiner behind "@" keeps names from being mentioned. */
static void plain_append(struct buf *out, const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c >= 0x80 || isalnum(*c) || *c == ' ' || *c == ',')
			buf_append(out, c, 1);
		else if (iscntrl(*c))
			buf_text(out, " ");
		else
			buf_printf(out, "&#%u;", *c);
	}
}

/* An error in a block of code. A line of backticks within it can't end the block: they become apostrophes. */
static void block_append(struct buf *out, const char *text)
{
	char cut[MAX_ERROR];

	text_copy(cut, sizeof(cut), text);
	for (char *c = cut; *c; c++) {
		if (*c == '`')
			*c = '\'';
		else if (iscntrl((unsigned char)*c) && *c != '\n')
			*c = ' ';
	}
	buf_printf(out, "\n```\n%s\n```\n", cut);
}

static const char *label_of(const char *status)
{
	int parsed = run_status_parse(status);

	return parsed >= 0 && parsed < RUN_STATUS_COUNT ? run_statuses[parsed].label : status;
}

static void line_append(struct buf *out, const struct comment_text *text, const struct comment_line *line)
{
	buf_text(out, "| ");
	plain_append(out, line->workspace);
	buf_printf(out, " | %s | ", label_of(line->status));
	if (line->planned)
		buf_printf(out, "+%lld ~%lld -%lld", line->additions, line->changes, line->destructions);
	buf_printf(out, " | [%s](%s/app/%s/", line->run, text->public_url, text->organization);
	buf_url(out, line->workspace);
	buf_printf(out, "/runs/%s) |\n", line->run);
}

static void head_append(struct buf *out, const struct comment_text *text)
{
	_cleanup_(freep) char *marker = comment_marker(text->marker);

	buf_printf(out, "%s\n### Runyard: ", marker);
	plain_append(out, text->organization);
	buf_text(out, "\n\n");
	if (text->closed)
		buf_text(out, "The pull request is closed: this is not updated any more.\n\n");
	if (text->sha && *text->sha)
		buf_printf(out, "Plans of commit %.*s", SHORT_SHA, text->sha);
	if (text->event)
		buf_printf(out, " ([details](%s/app/%s/vcs/events/%s))", text->public_url, text->organization,
			text->event);
	buf_text(out, "\n\n");
}

char *comment_write(const struct comment_text *text)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT(TEXT_LIMIT);
	const char *error = NULL;

	head_append(&out, text);
	if (!text->count)
		buf_text(&out, "No workspace is affected.\n");
	else
		buf_text(&out, "| Workspace | Run | Changes | |\n|---|---|---|---|\n");
	for (size_t i = 0; i < text->count; i++) {
		line_append(&out, text, &text->lines[i]);
		if (!error)
			error = text->lines[i].error;
	}
	if (text->total > (long long)text->count)
		buf_printf(&out, "\n%lld more workspaces are not listed.\n", text->total - (long long)text->count);
	if (error)
		block_append(&out, error);
	return buf_take(&out);
}
