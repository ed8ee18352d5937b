/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/evaluator.h"
#include "worker/policy/sets.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/terraform/mocks.h"
#include "common/terraform/plan_text.h"
#include "worker/engine/variables.h"
#include "worker/exec/beneath.h"
#include "worker/policy/report.h"
#include "worker/policy/sentinel_config.h"

/* Both are in the configuration's folder. Paths in the configuration are relative to its folder or to the program's
 * working directory, which are the same here. A file of this name in an archive is replaced. */
#define MOCKS         "runyard-mocks"
#define CONFIGURATION "sentinel.hcl"

enum { CONFIGURATION_LIMIT = 16 << 20 };

static const size_t mock_limit = (size_t)2 << 30;

/* A source in an archive is a path. Any other source is resolved by the program, which knows the policy by its name. */
static char *place(const struct policy_set *set, const char *name, const char *source)
{
	(void)set;
	if (!source)
		return mem_printf("./%s.sentinel", name);
	if (strstr(source, "://") || strstr(source, "::"))
		return mem_text(name);
	return mem_printf("%s%s", *source == '.' || *source == '/' ? "" : "./", source);
}

/* ---- shared data ---- */

static int read_plan(int fd, struct json_document *ret_plan, struct err *err)
{
	struct stat info;
	void *text;
	int result;

	if (fstat(fd, &info) < 0)
		return err_errno(err, "the plan");
	text = info.st_size > 0 ? mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
	if (text == MAP_FAILED)
		return err_set(err, ERR_INVALID, "there is no plan to read");
	if (json_memory_check(text, (size_t)info.st_size, PLAN_MEMORY_MAX, err) < 0)
		result = err_set(err, ERR_TOO_LARGE, "the plan would take more than %d MiB of memory for Sentinel",
			PLAN_MEMORY_MAX >> 20);
	else
		result = plan_parse(text, (size_t)info.st_size, ret_plan, err);
	munmap(text, (size_t)info.st_size);
	return result;
}

static int write_mock(const struct shared *shared, const struct mock *mock, const json_t *plan, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(mock_limit);
	_cleanup_(closep) int fd = -1;

	if (mock_write(mock, plan, shared->run, &text) < 0)
		return err_set(err, ERR_TOO_LARGE, "the plan is too large for Sentinel");
	fd = shared_create(shared, mock->file, err);
	if (fd < 0)
		return -1;
	return write_fully(fd, buf_str(&text), text.len) < 0 ? err_errno(err, mock->file) : 0;
}

static int share(const struct shared *shared, struct err *err)
{
	_cleanup_(json_document_release) struct json_document plan = JSON_NO_DOCUMENT;

	if (read_plan(shared->plan, &plan, err) < 0)
		return -1;
	for (size_t i = 0; i < mock_count; i++)
		if (write_mock(shared, &mocks[i], plan.value, err) < 0)
			return -1;
	return 0;
}

/* ---- a set ---- */

static int lay_out(const struct shared *shared, struct policy_set *set, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(CONFIGURATION_LIMIT);
	_cleanup_(freep) char *path = mem_printf("%s/%s/" CONFIGURATION, set->folder, set->base);

	for (size_t i = 0; i < mock_count; i++) {
		_cleanup_(freep) char *link = mem_printf("%s/" MOCKS "/%s", set->base, mocks[i].file);

		if (shared_link(shared, set, mocks[i].file, link, err) < 0)
			return -1;
	}
	if (sentinel_config(set, "./" MOCKS, &text) < 0)
		return err_set(err, ERR_TOO_LARGE, "its configuration and parameters are too large");
	return beneath_write(shared->root, path, 0644, buf_bytes(&text), err);
}

/* ---- a policy ---- */

static const char *arguments(const struct evaluation *evaluation, struct texts *args)
{
	TEXTS_ADD(args, "apply", "-color=false");
	TEXTS_ADD(args, "-config=" CONFIGURATION, evaluation->policy->place);
	return evaluation->set->base;
}

static const char *const error_reasons[] = {
	[2] = "Its result is undefined",
	[3] = "It failed at run time",
};

static void say(struct judgement *judgement, const char *text)
{
	json_t *trimmed = text_trimmed(text);

	if (trimmed)
		json_array_append_new(judgement->says, trimmed);
}

static void judge(struct policy_set *set, const struct policy *policy, const struct evaluated *evaluated,
	struct judgement *ret_judgement)
{
	int code = evaluated->code;

	(void)set;
	(void)policy;
	ret_judgement->says = json_array();
	ret_judgement->verdict = code == 0 ? VERDICT_PASSED : code == 1 ? VERDICT_FAILED : VERDICT_ERRORED;
	if (code >= 2 && code < (int)ARRAY_LEN(error_reasons))
		text_copy(ret_judgement->reason, sizeof(ret_judgement->reason), error_reasons[code]);
	else if (code >= 2)
		snprintf(ret_judgement->reason, sizeof(ret_judgement->reason),
			"The policy could not be evaluated (exit code %d)", code);
	say(ret_judgement, evaluated->out);
	say(ret_judgement, evaluated->errors);
}

const struct evaluator evaluator_sentinel = {
	.name = "sentinel",
	.configuration = CONFIGURATION,
	.single = ".sentinel",
	.max_out = MAX_POLICY_PRINT,
	.prints_out = true,
	.levels = (const char *const[]){"advisory", "soft-mandatory", "hard-mandatory", NULL},
	.place = place,
	.share = share,
	.lay_out = lay_out,
	.arguments = arguments,
	.judge = judge,
};
