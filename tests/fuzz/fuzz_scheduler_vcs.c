/* SPDX-License-Identifier: MPL-2.0 */
/*
 * What comes from providers and from users' settings of repositories. The first byte selects: payloads (the second
 * byte selects provider and event), a glob with a path, a regular expression with a tag, proofs, addresses.
 */
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/vcs/address.h"
#include "common/vcs/ref.h"
#include "scheduler/vcs/globs.h"
#include "scheduler/vcs/payload.h"
#include "scheduler/vcs/proof.h"
#include "scheduler/vcs/rules.h"
#include "scheduler/vcs/tags_regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* --- payloads --- */

static const struct {
	enum vcs_dialect dialect;
	const char *event;
} kinds[] = {
	{VCS_GITHUB, "push"},
	{VCS_GITHUB, "pull_request"},
	{VCS_GITHUB, "repository"},
	{VCS_GITHUB, "installation"},
	{VCS_GITLAB, "Push Hook"},
	{VCS_GITLAB, "Merge Request Hook"},
	{VCS_BITBUCKET_CLOUD, "repo:push"},
	{VCS_BITBUCKET_CLOUD, "pullrequest:updated"},
	{VCS_BITBUCKET_SERVER, "repo:refs_changed"},
	{VCS_BITBUCKET_SERVER, "pr:modified"},
	{VCS_AZURE, "git.push"},
	{VCS_AZURE, "git.pullrequest.updated"},
	{VCS_GITEA, "push"},
	{VCS_GITEA, "pull_request"},
};

static void check_event(const struct vcs_event *event)
{
	json_auto_t *detail = vcs_event_detail(event);
	_cleanup_(vcs_event_release) struct vcs_event again = VCS_EVENT_INIT;
	const struct vcs_subject subject = {
		.default_branch = "main", .speculative = true, .queue_all_runs = true, .cancels_plans = true};
	const enum vcs_reason reason = vcs_decide(event, &subject);

	must(!*event->ref || vcs_ref_valid(event->ref));
	must(!*event->sha || vcs_sha_valid(event->sha));
	must(!*event->before || vcs_sha_valid(event->before));
	must(!*event->base || vcs_ref_name_valid(event->base));
	must(!vcs_event_is_pr(event) || event->number > 0);
	must(vcs_reason_makes(reason) != VCS_MAKES_RUN || *event->sha);
	must(event->fork == VCS_FORK_NO || vcs_reason_makes(reason) != VCS_MAKES_RUN || !vcs_event_is_pr(event));
	vcs_older_runs(event, &subject, reason);
	vcs_event_from_detail(&again, detail);
	must(text_equal(again.title, event->title) &&
		again.fork == (vcs_event_is_pr(event) ? event->fork : VCS_FORK_UNKNOWN));
}

static void read_payload(const char *text, size_t len)
{
	_cleanup_(vcs_events_release) struct vcs_events events = VCS_EVENTS_INIT;
	const size_t kind = len ? (unsigned char)*text % ARRAY_LEN(kinds) : 0;
	json_auto_t *body = len ? json_loadb(text + 1, len - 1, JSON_REJECT_DUPLICATES, NULL) : NULL;
	struct err err = ERR_INIT;

	if (vcs_payload_read(kinds[kind].dialect, kinds[kind].event, body, &events, &err) < 0) {
		must(err.kind == ERR_INVALID && !events.count);
		return;
	}
	must(events.count <= VCS_EVENTS_MAX);
	for (size_t i = 0; i < events.count; i++)
		check_event(&events.items[i]);
}

/* --- filters --- */

/* Ends the text at its first line's end and returns the rest. */
static char *split(char *text)
{
	char *rest = strchr(text, '\n');

	if (!rest)
		return text + strlen(text);
	*rest = '\0';
	return rest + 1;
}

static void read_glob(const char *text, size_t len)
{
	_cleanup_(freep) char *pattern = mem_text(text);
	char *path = split(pattern);
	struct err err = ERR_INIT;

	(void)len;
	vcs_glob_check(pattern, &err);
	vcs_glob_match(pattern, path);
	/* "**" matches what is there. */
	must(!path[strspn(path, "/")] || strstr(path, "//") || path[strlen(path) - 1] == '/' ||
		vcs_glob_match("**", path));
	vcs_folder_has(pattern, path);
	must(vcs_folder_has("", path));
}

static void read_regex(const char *text, size_t len)
{
	_cleanup_(freep) char *pattern = mem_text(text);
	char *tag = split(pattern);
	struct err err = ERR_INIT;
	const bool valid = tags_regex_check(pattern, &err) == 0;
	const enum tags_regex_match match = tags_regex_match(pattern, tag);

	(void)len;
	must(valid || match == TAGS_REGEX_LIMIT);
}

/* --- proofs --- */

static const char *header(const void *value, const char *name)
{
	(void)name;
	return value;
}

/* One text as each header, and as the body. Nothing proves a secret that it does not have. */
static void read_proof(const char *text, size_t len)
{
	const struct vcs_secrets secrets = {"whsec_MDEyMzQ1Njc4OWFiY2RlZg==", "hunter22"};
	json_auto_t *body = json_loadb(text, len, 0, NULL);

	for (enum vcs_dialect dialect = 0; dialect < VCS_DIALECTS; dialect++) {
		const struct vcs_delivery delivery = {dialect, header, text, {text, len}};
		struct vcs_delivery_name name;

		must(!vcs_proof_holds(&delivery, &secrets, 0) || strstr(text, secrets.current) ||
			strstr(text, secrets.previous) || strstr(text, "aHVudGVy"));
		vcs_delivery_name(&delivery, body, &name);
		must(*name.id);
	}
}

/* --- addresses --- */

static bool is_one_word(const char *text)
{
	for (; *text; text++) {
		if (*text <= ' ' || *text >= 0x7f || strchr("\"'<>\\`", *text))
			return false;
	}
	return true;
}

/* Frees `address`. */
static void check_address(char *address, const char *begin)
{
	must(!address || (is_one_word(address) && (text_starts(address, begin) || text_starts(address, "ssh://"))));
	free(address);
}

/* "http-url\nidentifier\nbranch" */
static void read_address(const char *text, size_t len)
{
	_cleanup_(freep) char *url = mem_text(text);
	char *identifier = split(url), *branch = split(identifier);
	struct err err = ERR_INIT;

	(void)len;
	vcs_ref_valid(text);
	for (enum vcs_dialect dialect = 0; dialect < VCS_DIALECTS; dialect++) {
		const struct vcs_place place = {dialect, url, identifier};

		vcs_pr_ref_number(dialect, text);
		if (vcs_http_url_check(dialect, url, &err) < 0 || vcs_identifier_check(dialect, identifier, &err) < 0)
			continue;
		must(!strchr(identifier, ':') && *identifier != '-' && *identifier != '/');
		check_address(vcs_clone_url(&place), dialect == VCS_GIT ? "" : "http");
		check_address(vcs_clone_ssh_url(&place), "ssh://");
		check_address(vcs_repository_url(&place), "http");
		check_address(vcs_commit_url(&place, branch), "http");
	}
}

static void (*const readers[])(const char *text, size_t len) = {
	read_payload, read_glob, read_regex, read_proof, read_address};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	if (!len)
		return 0;
	_cleanup_(freep) char *text = mem_new(len, 1);
	memcpy(text, bytes + 1, len - 1);
	readers[*bytes % ARRAY_LEN(readers)](text, len - 1);
	return 0;
}
