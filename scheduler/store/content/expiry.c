/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/expiry.h"

#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/content/expiry.sql.h"
#include "scheduler/store/content/expiry_rules.sql.h"
#include "scheduler/store/content/objects.h"
#include "scheduler/store/runs/logs.h"

enum { BATCH = 200, DAY_SECONDS = 24 * 60 * 60 };

static const char packing[] = "packing";

/* ---- the scan ---- */

static const struct db_statement *const walks[] = {
	[WALK_RUNS] = &expiry_runs_statement,
	[WALK_STATES] = &expiry_states_statement,
	[WALK_CONFIGURATIONS] = &expiry_configurations_statement,
};

struct step {
	struct store *store;
	const char *name;
	bool by_policy;
	long long setting, age_seconds;
	enum expiry_walk walk;
	const struct expiry_rule *rule; /* NULL: log packing */
	const struct expiry_limits *limits;
	int max;         /* rows per batch */
	bool leaves_out; /* only advances the position, past the batch's one row */
	bool more;
	struct id last; /* the row that the position has reached */
};

static const char *scope(const struct step *s)
{
	return s->by_policy ? "policy" : "site";
}

/* Locks the rule's position. No row: another scheduler holds it. */
static int mark_take(const struct step *s, struct rows *ret_rows, struct err *err)
{
	if (db_query(s->store->db, NULL, err, expiry_mark_ensure, .rule = s->name, .scope = scope(s),
		    .setting = s->setting) < 0)
		return -1;
	return db_query(s->store->db, ret_rows, err, expiry_mark_lock, .rule = s->name, .scope = scope(s),
		.setting = s->setting);
}

static int mark_set(const struct step *s, const struct rows *come_to, struct err *err)
{
	const struct expiry_walk_row *last = row_of(expiry_walk, come_to, come_to->count - 1);

	return db_query(s->store->db, NULL, err, expiry_mark_set, .rule = s->name, .scope = scope(s),
		.setting = s->setting, .at = last->at, .id = last->id);
}

/* ---- metrics and audit events ---- */

struct deed {
	const char *rule, *action, *what; /* names for metrics and the audit trail */
};

static int tell_organization(
	struct store *store, const struct deed *deed, const char *organization, struct db_array *ids, struct err *err)
{
	char request[AUDIT_UUID_SIZE];
	const struct audit_event event = {.organization = organization,
		.actor_type = "system",
		.request = request,
		.action = deed->action,
		.resource_type = deed->what,
		.attributes = ids};

	audit_uuid(request);
	return audit_write(store, &event, err);
}

/* `gone` is sorted by organization. */
static int tell(struct store *store, const struct deed *deed, const struct rows *gone, struct err *err)
{
	for (int i = 0; i < gone->count;) {
		_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
		const char *organization = row_of(expired, gone, i)->organization_id;

		for (; i < gone->count && text_equal(organization, row_of(expired, gone, i)->organization_id); i++)
			db_array_add(&ids, row_of(expired, gone, i)->id);
		if (tell_organization(store, deed, organization, &ids, err) < 0)
			return -1;
	}
	if (gone->count)
		metric_addf(M_EXPIRED, gone->count, "rule=\"%s\"", deed->rule);
	return 0;
}

/* ---- one batch ---- */

static int batch_expire(const struct step *s, struct db_array *ids, struct err *err)
{
	_cleanup_(rows_release) struct rows gone = ROWS_INIT;
	const struct expiry_batch batch = {ids, s->by_policy, s->setting, s->limits};
	const struct deed deed = {s->rule->name, "expire", s->rule->what};

	if (s->rule->expire(s->store, &batch, &gone, err) < 0)
		return -1;
	return tell(s->store, &deed, &gone, err);
}

static int batch_pack(const struct step *s, const struct rows *runs, struct err *err)
{
	for (int i = 0; i < runs->count; i++) {
		const char *run = row_of(expiry_walk, runs, i)->id;
		struct id plan = id_sibling(run, "plan"), apply = id_sibling(run, "apply");

		if (log_pack(s->store, plan.text, s->setting, err) < 0 ||
			log_pack(s->store, apply.text, s->setting, err) < 0)
			return -1;
	}
	return 0;
}

static int step_in(void *data, struct err *err)
{
	struct step *s = data;
	_cleanup_(rows_release) struct rows mark = ROWS_INIT, come_to = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	const struct expiry_mark_lock_row *position;

	s->more = false;
	if (mark_take(s, &mark, err) < 0)
		return -1;
	if (!mark.count)
		return 0;
	position = row_of(expiry_mark_lock, &mark, 0);
	if (db_query_one_of(s->store->db, &come_to, err, walks[s->walk], expiry_runs, .after_at = position->at,
		    .after_id = position->id, .age_seconds = (double)s->age_seconds, .max = s->max) < 0)
		return -1;
	if (!come_to.count)
		return 0;
	for (int i = 0; i < come_to.count; i++)
		db_array_add(&ids, row_of(expiry_walk, &come_to, i)->id);
	if (s->leaves_out && !text_equal(row_of(expiry_walk, &come_to, 0)->id, s->last.text))
		return 0; /* another scheduler has advanced the position */
	text_copy(s->last.text, sizeof(s->last.text), row_of(expiry_walk, &come_to, come_to.count - 1)->id);
	if (!s->leaves_out && (s->rule ? batch_expire(s, &ids, err) : batch_pack(s, &come_to, err)) < 0)
		return -1;
	s->more = come_to.count == s->max;
	return mark_set(s, &come_to, err);
}

/* Runs after a failed batch. Processes its rows one by one and skips those that fail, so that they do not block the
 * others. */
static int step_one_by_one(struct step *s, struct err *err)
{
	int left = s->max;

	s->max = 1;
	do {
		struct err why = ERR_INIT;

		s->leaves_out = false;
		if (db_transaction(s->store->db, step_in, s, &why) == 0)
			continue;
		if (why.kind == ERR_UNAVAILABLE) {
			*err = why;
			return -1;
		}
		log_error("a row that fails is left as it is", "rule", s->name, "row", s->last.text, "error",
			why.message, NULL);
		s->leaves_out = true;
		if (db_transaction(s->store->db, step_in, s, err) < 0)
			return -1;
	} while (s->more && --left > 0);
	return 0;
}

static int step_run(struct step *s, bool *ret_more, struct err *err)
{
	struct err why = ERR_INIT;

	/* Logs are decrypted and sealed again, so their batches are smaller. */
	s->max = s->rule ? BATCH : BATCH / 10;
	s->leaves_out = false;
	if (db_transaction(s->store->db, step_in, s, &why) < 0) {
		*err = why;
		if (why.kind == ERR_UNAVAILABLE || step_one_by_one(s, err) < 0)
			return err_context(err, "%s", s->name);
		*err = (struct err)ERR_INIT;
	}
	*ret_more = *ret_more || s->more;
	return 0;
}

/* ---- all rules ---- */

struct retention_policies {
	const struct expiry_limits *site;
	const struct rows *others; /* `days`: the different values of organizations' and workspaces' policies */
};

static int rule_run(struct store *store, const struct retention_policies *policies, const struct expiry_rule *rule,
	bool *ret_more, struct err *err)
{
	long long days = *(const long long *)((const char *)policies->site + rule->days);
	struct step s = {
		.store = store, .name = rule->name, .walk = rule->walk, .rule = rule, .limits = policies->site};

	s.setting = days;
	s.age_seconds = days * DAY_SECONDS;
	if (days && step_run(&s, ret_more, err) < 0)
		return -1;
	s.by_policy = true;
	for (int i = 0; rule->of_policies && i < policies->others->count; i++) {
		s.setting = row_of(expiry_policies, policies->others, i)->days;
		s.age_seconds = s.setting * DAY_SECONDS;
		if (step_run(&s, ret_more, err) < 0)
			return -1;
	}
	return 0;
}

struct hiding {
	struct store *store;
	const struct hidden_rule *rule;
	long long days;
	bool more;
};

static int hidden_in(void *data, struct err *err)
{
	struct hiding *h = data;
	_cleanup_(rows_release) struct rows gone = ROWS_INIT;
	const struct deed deed = {h->rule->name, "destroy", h->rule->what};

	if (db_query_one_of(
		    h->store->db, &gone, err, h->rule->delete, expiry_hidden_states, .days = h->days, .max = BATCH) < 0)
		return -1;
	h->more = gone.count == BATCH;
	return tell(h->store, &deed, &gone, err);
}

static int hidden_run(struct store *store, const struct expiry_limits *limits, bool *ret_more, struct err *err)
{
	for (size_t i = 0; i < HIDDEN_RULES && limits->hidden_days; i++) {
		struct hiding h = {.store = store, .rule = &hidden_rules[i], .days = limits->hidden_days};

		if (db_transaction(store->db, hidden_in, &h, err) < 0)
			return err_context(err, "%s", h.rule->name);
		*ret_more = *ret_more || h.more;
	}
	return 0;
}

int expiry_run(struct store *store, const struct expiry_limits *limits, bool *ret_more, struct err *err)
{
	_cleanup_(rows_release) struct rows others = ROWS_INIT;

	*ret_more = false;
	if (db_query(store->db, &others, err, expiry_policies) < 0)
		return -1;
	for (size_t i = 0; i < EXPIRY_RULES; i++)
		if (rule_run(store, &(struct retention_policies){limits, &others}, &expiry_rules[i], ret_more, err) < 0)
			return -1;
	return hidden_run(store, limits, ret_more, err);
}

int packing_run(struct store *store, const struct objects_settings *settings, bool *ret_more, struct err *err)
{
	struct step s = {.store = store,
		.name = packing,
		.walk = WALK_RUNS,
		.setting = settings->from_bytes,
		.age_seconds = settings->after_seconds};

	*ret_more = false;
	return step_run(&s, ret_more, err);
}

int expiry_restart(struct store *store, struct err *err)
{
	return db_query(store->db, NULL, err, expiry_restart, .packing = packing);
}
