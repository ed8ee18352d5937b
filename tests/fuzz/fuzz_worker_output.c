/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Texts of programs and users that a worker parses. The first byte selects: terraform's lines, states, plans and
 * lock files; opa's answers; versions; a job's description. No secret may pass the redactor.
 */
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/json/json.h"
#include "common/terraform/applied.h"
#include "proto/version.h"
#include "worker/cost/plan.h"
#include "worker/packages/lockfile.h"
#include "worker/policy/opa_answer.h"
#include "worker/runtime/assignment.h"
#include "worker/stage/summary.h"
#include "worker/upload/leftover.h"
#include "worker/upload/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const char secret[] = "hunter22";

static void read_line(const char *text, size_t len)
{
	struct job_result result = {.additions = 0};
	char first[RESULT_ERROR_SIZE];

	summary_line(text, len, &result);
	if (strnlen(result.error, sizeof(result.error)) == sizeof(result.error))
		abort();
	summary_first_error(text, first, sizeof(first));
}

static void read_secret(const char *text, size_t len)
{
	_cleanup_(buf_release) struct buf out = BUF_INIT(1 << 20);
	struct variable variable = {.key = "password", .value = secret, .sensitive = true};
	struct assignment assignment = {.variables = &variable, .variable_count = 1};
	struct redactor redactor;

	redactor_init(&redactor, &assignment);
	if (redact(&redactor, text, len, &out) < 0 || memmem(buf_str(&out), out.len, secret, strlen(secret)))
		abort();
	redactor_release(&redactor);
}

static void read_state(const char *text, size_t len)
{
	struct state_facts facts;

	state_facts_read(text, len, &facts);
}

static void count_one(void *data, const struct planned *planned)
{
	if (!planned->address || !planned->type)
		abort();
	++*(size_t *)data;
}

static void read_plan(const char *text, size_t len)
{
	struct err err = ERR_INIT;
	struct plan plan;
	size_t count = 0;

	if (plan_read(text, len, &plan, &err) < 0)
		return;
	plan_each(&plan, count_one, &count);
	plan_release(&plan);
}

static void read_lockfile(const char *text, size_t len)
{
	struct lockfile lockfile;

	lockfile_read(text, &lockfile);
	for (size_t i = 0; i < lockfile.count; i++)
		if (lockfile.providers[i].insert_at > len)
			abort();
	lockfile_release(&lockfile);
}

static void read_version(const char *text, size_t len)
{
	struct version version, known = {.part = {1, 11, 4}, .text = "1.11.4"};
	bool valid;

	(void)len;
	if (version_parse(text, &version) == 0 && version_compare(&version, &version) != 0)
		abort();
	version_fits(&known, text, &valid);
	if (version_exact(text, &version) == 0 && strpbrk(version.text, "/ %"))
		abort();
}

static void read_answer(const char *text, size_t len)
{
	struct evaluated evaluated = {.code = 0, .out = text, .errors = text, .out_len = len};
	struct judgement judgement = {.verdict = VERDICT_PASSED};

	opa_answer_read(&evaluated, &judgement);
	opa_answer_unparsed(&evaluated);
	judgement_release(&judgement);
}

static void read_assignment(const char *text, size_t len)
{
	json_auto_t *source = json_loadb(text, len, 0, NULL);
	struct assignment assignment;
	struct err err = ERR_INIT;

	if (!source || (assignment_read(source, &assignment, &err) < 0 && err.kind == ERR_MALFORMED))
		return;
	assignment_release(&assignment);
}

/* Parses the whole text as an engine's output, and the text after its last line as a state. */
static void read_report(const char *text, size_t len)
{
	const char *end = memrchr(text, '\n', len);
	struct json_span state = {end ? end : text, end ? len - (size_t)(end - text) : 0};
	struct applied *applied = applied_new();
	json_t *missing, *item;
	size_t i;

	applied_text(applied, text, len);
	missing = applied_missing(applied, state);
	json_array_foreach(missing, i, item)
	{
		if (!applied_address_valid(json_string_at(item, "address")))
			abort();
	}
	json_decref(missing);
	applied_free(applied);
}

static void (*const readers[])(const char *text, size_t len) = {
	read_line,
	read_secret,
	read_state,
	read_plan,
	read_lockfile,
	read_version,
	read_answer,
	read_assignment,
	read_report,
};

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	if (!len)
		return 0;
	_cleanup_(freep) char *text = mem_new(len, 1); /* ended by a zero, as buffers are */
	memcpy(text, bytes + 1, len - 1);
	readers[*bytes % ARRAY_LEN(readers)](text, len - 1);
	return 0;
}
