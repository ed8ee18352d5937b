/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Documents that the scheduler parses. The first byte selects: states, plans whose secrets are redacted, forms,
 * addresses for run tasks, changes of plans.
 */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/http/guard.h"
#include "scheduler/api/runs/changes/change_search.h"
#include "scheduler/runs/plans/plan_summary.h"
#include "scheduler/api/runs/plan_redact.h"
#include "scheduler/http/form.h"
#include "scheduler/store/states/state_parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void read_state(const char *text, size_t len)
{
	struct state_facts facts;
	struct err err = ERR_INIT;

	if (state_parse(text, len, &facts, &err) < 0) {
		if (err.kind != ERR_INVALID)
			abort();
		return;
	}
	json_auto_t *resources = state_resources(&facts);
	json_auto_t *instances = state_instances(&facts);
	const json_t *output;
	const char *name;

	if (!json_is_array(resources) || !json_is_array(instances) || state_managed_count(resources) < 0)
		abort();
	json_object_foreach((json_t *)facts.outputs, name, output)
	{
		if (!output_type_word(json_at(output, "type")))
			abort();
	}
	state_facts_release(&facts);
}

static void read_plan(const char *text, size_t len)
{
	json_auto_t *plan = json_loadb(text, len, 0, NULL);
	json_auto_t *schemas = json_object();
	json_auto_t *secrets = json_pack("[s]", "hunter22");
	json_auto_t *shown = plan ? plan_redact(plan, schemas, secrets) : NULL;

	if (plan && !shown)
		abort();
}

static void read_form(const char *text, size_t len)
{
	json_t *form = NULL;
	struct err err = ERR_INIT;

	if (form_parse(text, len, &form, &err) < 0)
		return;
	if (!json_is_object(form))
		abort();
	json_decref(form);
}

/* An address as text, and an allow-list. */
static void read_address(const char *text, size_t len)
{
	struct guard *guard = NULL;
	struct err err = ERR_INIT;

	(void)len;
	mail_address_valid(text);
	if (guard_parse(text, &guard, &err) < 0)
		return;
	guard_judge_text(guard, &(struct guard_target){"host.example.com", text, 443});
	guard_judge_text(guard, &(struct guard_target){text, "10.0.0.1", 443});
	guard_allows(guard, text);
	guard_free(guard);
}

/* The summary must be JSON, and no text with the secret may be in it or in a change. */
static void read_changes(const char *text, size_t len)
{
	_cleanup_(plan_changes_draft_release) struct plan_changes_draft draft = PLAN_CHANGES_DRAFT_INIT;
	json_auto_t *secrets = json_pack("[s]", "hunter22");
	struct err err = ERR_INIT;
	json_t *summary;

	if (plan_summarize((struct json_span){text, len}, secrets, &draft, &err) < 0) {
		if (err.kind != ERR_INVALID)
			abort();
		return;
	}
	summary = json_loadb(buf_str(&draft.summary), draft.summary.len, 0, NULL);
	if (!summary || strstr(buf_str(&draft.summary), "hunter22") || strstr(buf_str(&draft.changes), "hunter22"))
		abort();
	json_decref(changes_filter(summary, &draft, "a"));
}

static void (*const readers[])(const char *text, size_t len) = {
	read_state, read_plan, read_form, read_address, read_changes};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	if (!len)
		return 0;
	_cleanup_(freep) char *text = mem_new(len, 1);
	memcpy(text, bytes + 1, len - 1);
	readers[*bytes % ARRAY_LEN(readers)](text, len - 1);
	return 0;
}
