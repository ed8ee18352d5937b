/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/evaluator.h"
#include "worker/policy/sets.h"

#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/engine/variables.h"
#include "worker/exec/beneath.h"
#include "worker/policy/mentions.h"
#include "worker/policy/report.h"
#include "worker/policy/sentinel_config.h"

/* In the set's folder, from which the program starts. */
#define PLAN          "plan.json"
#define RUN           "run.json"
#define ROOT          "policies"
#define CONFIGURATION "sentinel.hcl"

enum { CONFIGURATION_LIMIT = 16 << 20, MAX_OUT = 4 << 20 /* prints, which the program limits, and the trace */ };

/* The program's own limits are this much below those at which it is stopped, so that it ends with a message: at most
 * two seconds, and an eighth of the memory, for its stack and for writing its output. */
enum { MAX_SPARE_MS = 2000, SPARE_TIME = 5, SPARE_MEMORY = 8 };

/* Of an archive the program is given the policy's label. Two policies may have one source and other parameters. */
static char *place(const struct policy_set *set, const char *name, const char *source)
{
	(void)set;
	(void)source;
	return mem_text(name);
}

/* ---- shared data ---- */

static int write_run(const struct shared *shared, struct err *err)
{
	_cleanup_(freep) char *text = json_text(shared->run);
	_cleanup_(closep) int fd = shared_create(shared, RUN, err);

	if (fd < 0)
		return -1;
	return write_fully(fd, text, strlen(text)) < 0 ? err_errno(err, RUN) : 0;
}

static int share(const struct shared *shared, struct err *err)
{
	_cleanup_(closep) int fd = shared_create(shared, PLAN, err);

	if (fd < 0 || shared_copy_plan(shared, fd, err) < 0)
		return -1;
	return write_run(shared, err);
}

/* ---- a set ---- */

static bool imports_http(const struct buf *text)
{
	return has_word(text, "\"http\"");
}

/* tfplan of before tfplan/v2 reads the provider schemas. Other files than policies may have its name, too: then the
 * schemas are there for nothing. */
static bool imports_tfplan_v1(const struct buf *text)
{
	return has_word(text, "\"tfplan\"") || has_word(text, "\"tfplan/v1\"") || has_word(text, "`tfplan");
}

/* A set has a network only if one of its files has the name of the import. */
static bool needs_network(const struct shared *shared, const struct policy_set *set)
{
	_cleanup_(freep) char *policies = mem_printf("%s/" ROOT, set->folder);

	return *shared->http_hosts && folder_mentions(shared->root, policies, "", imports_http);
}

static bool reads_schemas(const struct shared *shared, const struct policy_set *set)
{
	_cleanup_(freep) char *policies = mem_printf("%s/" ROOT, set->folder);

	return folder_mentions(shared->root, policies, "", imports_tfplan_v1);
}

static int lay_out(const struct shared *shared, struct policy_set *set, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(CONFIGURATION_LIMIT);
	_cleanup_(freep) char *path = mem_printf("%s/%s/" CONFIGURATION, set->folder, set->base);

	if (shared_link(shared, set, PLAN, PLAN, err) < 0 || shared_link(shared, set, RUN, RUN, err) < 0)
		return -1;
	set->offline = set->offline || !needs_network(shared, set);
	set->reads_schemas = reads_schemas(shared, set);
	if (sentinel_config_own(set, &text) < 0)
		return err_set(err, ERR_TOO_LARGE, "its configuration and parameters are too large");
	return beneath_write(shared->root, path, 0644, buf_bytes(&text), err);
}

/* ---- a policy ---- */

static const char *arguments(const struct evaluation *evaluation, struct texts *args)
{
	const char *base = evaluation->set->base;
	int64_t spare_ms = evaluation->max_ms / SPARE_TIME;

	TEXTS_ADD(args, "eval", "-trace", "-color=false", "-plan=" PLAN, "-tfrun=" RUN, "-root=" ROOT);
	texts_add(args, "-config=%s/" CONFIGURATION, base);
	texts_add(args, "-timeout=%lldms",
		(long long)(evaluation->max_ms - (spare_ms < MAX_SPARE_MS ? spare_ms : MAX_SPARE_MS)));
	texts_add(args, "-memory=%lld", (long long)(evaluation->memory - evaluation->memory / SPARE_MEMORY));
	if (!evaluation->set->offline)
		texts_add(args, "-http-hosts=%s", evaluation->http_hosts);
	if (evaluation->set->has_schemas)
		texts_add(args, "-schemas=" SHARED_SCHEMAS);
	if (evaluation->set->archived)
		texts_add(args, "-policy=%s", evaluation->policy->place);
	else
		texts_add(args, "%s/%s", base, evaluation->policy->place);
	return "";
}

static void say(struct judgement *judgement, const char *text)
{
	json_t *trimmed = text_trimmed(text);

	if (trimmed)
		json_array_append_new(judgement->says, trimmed);
}

/* A sandbox reports a signal as an exit code above 128. */
static char *reason_of_code(int code)
{
	if (code > 128)
		return mem_printf("It was killed by signal %d", code - 128);
	return mem_printf("The policy could not be evaluated (exit code %d)", code);
}

/* Takes the first line of standard error as the reason. Returns the text behind it. */
static const char *take_reason(struct judgement *judgement, const char *errors, int code)
{
	size_t len = strcspn(errors, "\n");
	_cleanup_(freep) char *line = len > 0 ? mem_printf("%.*s", (int)len, errors) : reason_of_code(code);

	text_copy(judgement->reason, sizeof(judgement->reason), line);
	return errors + len;
}

static void judge(struct policy_set *set, const struct policy *policy, const struct evaluated *evaluated,
	struct judgement *ret_judgement)
{
	static const enum verdict verdicts[] = {VERDICT_PASSED, VERDICT_FAILED};
	const char *errors = evaluated->errors;
	int code = evaluated->code;

	(void)set;
	(void)policy;
	ret_judgement->says = json_array();
	ret_judgement->verdict = code == 0 || code == 1 ? verdicts[code] : VERDICT_ERRORED;
	if (ret_judgement->verdict == VERDICT_ERRORED)
		errors = take_reason(ret_judgement, errors, code);
	say(ret_judgement, evaluated->out);
	say(ret_judgement, errors);
}

const struct evaluator evaluator_runyard_policy = {
	.name = "sentinel",
	.configuration = CONFIGURATION,
	.single = ".sentinel",
	.max_out = MAX_OUT,
	.prints_out = true,
	.limits_itself = true,
	.levels = (const char *const[]){"advisory", "soft-mandatory", "hard-mandatory", NULL},
	.place = place,
	.share = share,
	.lay_out = lay_out,
	.arguments = arguments,
	.judge = judge,
};
