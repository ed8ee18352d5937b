/* SPDX-License-Identifier: MPL-2.0 */
#include "common/vcs/operation.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/vcs/operation_rows.h"

enum { MAX_WAIT_S = 3600, SECONDARY_WAIT_S = 60, UNAUTHORIZED_WAIT_S = 300, MESSAGE_SIZE = 200 };

/* The header's number; -1 if it is missing or no number. */
static long long header_number(const struct vcs_answer *answer, const char *name)
{
	const char *text = json_string_value(json_array_get(json_object_get(answer->headers, name), 0));
	long long number = -1;

	return text && text_number(text, 0, INT64_MAX, &number) == 0 ? number : -1;
}

/* Where the providers' answers have their sentence. */
static const char *const message_paths[] = {"message", "error.message", "error_description", "error", "message.base"};

static const char *provider_sentence(const json_t *body)
{
	const json_t *first = json_array_get(json_at(body, "errors"), 0);
	const char *text;

	for (size_t i = 0; i < ARRAY_LEN(message_paths); i++)
		if ((text = json_string_at(body, message_paths[i])))
			return text;
	text = json_string_at(first, "message");
	return text ? text : json_string_value(first);
}

/* Copies the provider's sentence; control characters become spaces. "" if there is none, or it may not be shown. */
static void message_copy(const struct vcs_answer *answer, char ret_message[MESSAGE_SIZE])
{
	text_copy(ret_message, MESSAGE_SIZE, answer->internal ? "" : text_or_empty(provider_sentence(answer->body)));
	for (char *c = ret_message; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
}

static bool says(const struct vcs_answer *answer, const char *what)
{
	const char *text = provider_sentence(answer->body);

	return text && strcasestr(text, what);
}

static int bounded(long long seconds)
{
	return seconds < 1 ? 1 : seconds < MAX_WAIT_S ? (int)seconds : MAX_WAIT_S;
}

/* The time until a limit is over. Both headers with a reset are seconds since 1970. */
static int limit_wait(const struct vcs_answer *answer)
{
	static const char *const names[][2] = {
		{"x-ratelimit-remaining", "x-ratelimit-reset"}, {"ratelimit-remaining", "ratelimit-reset"}};
	long long wait = header_number(answer, "retry-after");

	if (wait >= 0)
		return bounded(wait);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (header_number(answer, names[i][0]) == 0 && (wait = header_number(answer, names[i][1])) >= 0)
			return bounded(wait - answer->now);
	return 0;
}

/* GitHub answers 403 or 429 over its limits. Without a header, its documentation requires a pause of at least a minute.
 */
static bool over_limit(const struct vcs_answer *answer)
{
	if (answer->status == 429)
		return true;
	return answer->status == 403 && (limit_wait(answer) > 0 || says(answer, "rate limit") || says(answer, "abuse"));
}

static void why_set(const struct vcs_answer *answer, struct vcs_verdict *verdict, const char *what)
{
	char message[MESSAGE_SIZE];

	message_copy(answer, message);
	snprintf(verdict->why, sizeof(verdict->why), "%s (%s answered with status %d%s%s)", what,
		vcs_operation_name(answer->operation), answer->status, *message ? ": " : "", message);
}

/* Azure DevOps answers with the page for signing in. */
static bool is_sign_in(const struct vcs_answer *answer)
{
	return answer->dialect == VCS_AZURE && answer->status == 203;
}

static bool counts_as_taken(const struct vcs_answer *answer)
{
	const struct vcs_row *row = vcs_row_of(answer->dialect, answer->operation);

	if (is_sign_in(answer))
		return false;
	return (answer->status >= 200 && answer->status < 300) || (row && row->taken && row->taken(answer));
}

static void judge_unanswered(const struct vcs_answer *answer, struct vcs_verdict *verdict)
{
	verdict->fate = answer->forbidden ? VCS_NEVER : VCS_AGAIN;
	snprintf(verdict->why, sizeof(verdict->why), "The provider can't be reached: %s",
		answer->error ? answer->error : "no answer");
}

static void judge_limited(const struct vcs_answer *answer, struct vcs_verdict *verdict)
{
	verdict->fate = VCS_AGAIN;
	verdict->limited = true;
	verdict->wait_s = limit_wait(answer);
	if (!verdict->wait_s)
		verdict->wait_s = SECONDARY_WAIT_S;
	why_set(answer, verdict, "The provider limits the rate of requests");
}

static void judge_refused(const struct vcs_answer *answer, struct vcs_verdict *verdict)
{
	int status = answer->status;

	if (status == 401 || is_sign_in(answer)) {
		verdict->fate = VCS_AGAIN;
		verdict->unauthorized = true;
		verdict->wait_s = UNAUTHORIZED_WAIT_S;
		why_set(answer, verdict, "The provider refuses the connection's credentials");
	} else if (status == 408 || status == 425 || status >= 500) {
		verdict->fate = VCS_AGAIN;
		verdict->wait_s = limit_wait(answer);
		why_set(answer, verdict, "The provider fails");
	} else {
		verdict->fate = VCS_NEVER;
		verdict->missing = status == 404 || status == 410;
		why_set(answer, verdict,
			verdict->missing ? "The provider does not find it, or the connection's token may not see it"
				: status == 403     ? "The connection's token may not do this"
				: status / 100 == 3 ? "The provider redirects: the repository or the API has moved"
						    : "The provider refuses the request");
	}
}

void vcs_answer_judge(const struct vcs_answer *answer, struct vcs_verdict *ret_verdict)
{
	*ret_verdict = (struct vcs_verdict){.fate = VCS_TAKEN};
	if (answer->status == 0) {
		judge_unanswered(answer, ret_verdict);
	} else if (counts_as_taken(answer)) {
		/* The last request within a limit. */
		ret_verdict->wait_s = limit_wait(answer);
		ret_verdict->limited = ret_verdict->wait_s > 0;
	} else if (over_limit(answer)) {
		judge_limited(answer, ret_verdict);
	} else {
		judge_refused(answer, ret_verdict);
	}
}
