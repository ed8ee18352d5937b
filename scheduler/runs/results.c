/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/results.h"

#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/metrics.h"
#include "scheduler/store/runs/run_events.h"

struct batch {
	const struct kafka_message *messages[INTAKE_BATCH]; /* of each result */
	struct job_result results[INTAKE_BATCH];
	struct run_transition items[INTAKE_BATCH];
	size_t count;
};

/* Workers of earlier versions give no error if the apply passed and its state is owed (event_kind in lifecycle/run.c).
 */
static const char *reason_of(const struct job_result *result)
{
	if (result->outcome == OUTCOME_PASSED && result->state_owed)
		return "The apply succeeded, but its last state has not arrived.";
	return result->error;
}

struct run_transition result_transition(const struct job_result *result)
{
	static const enum run_event_kind events[] = {
		[OUTCOME_PASSED] = EV_PASSED,
		[OUTCOME_FAILED] = EV_FAILED,
		[OUTCOME_SOFT_FAILED] = EV_SOFT_FAILED,
		[OUTCOME_ERRORED] = EV_ERRORED,
		[OUTCOME_CANCELED] = EV_STOPPED,
	};

	return (struct run_transition){
		.run = result->run,
		.event = {.kind = events[result->outcome],
			.has_changes = result->has_changes,
			.state_owed = result->state_owed},
		.job = result->job,
		.attempt = result->attempt,
		.reason = reason_of(result),
		.result = result,
	};
}

/* Returns -1 only if the process ends before it has stored the dead letter. */
static int refuse_unproven(struct intake *intake, const struct kafka_message *message, const struct job_result *result)
{
	metric_add(M_RESULTS, "outcome=\"unproven\"", 1);
	return intake_refuse_unproven(intake, message, result->job.text,
		*result->mac ? "the result's MAC was not made with the token of the job's current attempt"
			     : "the result has no MAC of this version");
}

static int batch_decode(struct intake *intake, struct batch *batch, const struct kafka_message *messages, size_t count)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < count; i++) {
		struct job_result *result = &batch->results[batch->count];

		if (job_result_decode(messages[i].payload, messages[i].len, result, &err) < 0) {
			metric_add(M_RESULTS, "outcome=\"malformed\"", 1);
			if (intake_letter(intake, &messages[i], err.message) < 0)
				return -1;
		} else if (!*result->mac) {
			if (refuse_unproven(intake, &messages[i], result) < 0)
				return -1;
		} else {
			log_debug("result read", "run", result->run.text, NULL);
			batch->items[batch->count] = result_transition(result);
			batch->items[batch->count].needs_proof = true;
			batch->messages[batch->count++] = &messages[i];
		}
	}
	return 0;
}

/* model: settle */
static int batch_apply(struct store *store, void *data, struct err *err)
{
	struct batch *batch = data;

	return runs_apply_transitions(store, batch->items, batch->count, err);
}

static int item_apply(struct store *store, void *data, struct err *err)
{
	return runs_apply_transitions(store, data, 1, err);
}

bool result_is_refused(const struct run_transition *item)
{
	return item->outcome == TRANSITION_REFUSED || item->outcome == TRANSITION_BROKEN;
}

void result_refused_note(struct store *store, const struct run_transition *item)
{
	_cleanup_(freep) char *text =
		mem_printf("The result of the run's job (%s) is not taken yet: %s. Its worker sends "
			   "it again.",
			outcome_name(item->result->outcome), item->refused);
	const struct run_event_row event = {.run_id = item->run.text, .action = "result-refused", .description = text};
	struct err err = ERR_INIT;
	bool first = false;

	metric_add(M_RESULTS, "outcome=\"refused\"", 1);
	if (run_event_add_once(store, &event, &first, &err) < 0 || first)
		log_error("a result is refused: its worker sends it again", "run", item->run.text, "job",
			item->job.text, "outcome", outcome_name(item->result->outcome), "error", item->refused, NULL);
}

void result_count(const struct run_transition *item)
{
	metric_add(M_RESULTS, item->outcome == TRANSITION_APPLIED ? "outcome=\"accepted\"" : "outcome=\"late\"", 1);
}

static void late_note(struct intake *intake, const struct run_transition *item)
{
	char count[RATE_COUNT_SIZE];

	if (intake_late_line_due(intake, count))
		log_info("a result came too late", "run", item->run.text, "job", item->job.text, "count", count, NULL);
}

/* Returns -1 only if the process ends before it has stored a dead letter. */
static int outcome_note(struct intake *intake, const struct run_transition *item, const struct kafka_message *message)
{
	metric_observe(M_RESULT_SECONDS, "", kafka_message_age(message));
	if (item->outcome == TRANSITION_UNPROVEN)
		return refuse_unproven(intake, message, item->result);
	if (result_is_refused(item)) {
		result_refused_note(intake_store(intake), item);
		return intake_letter_proven(intake, message, item->refused);
	}
	result_count(item);
	if (item->outcome != TRANSITION_APPLIED)
		late_note(intake, item);
	return 0;
}

/* Makes a result that cannot be saved a dead letter. If a decision was made, the result's MAC has verified. */
static int dead_letter_failed(
	struct intake *intake, const struct run_transition *item, const struct kafka_message *message, const char *why)
{
	bool proven = item->outcome == TRANSITION_APPLIED || result_is_refused(item);

	return proven ? intake_letter_proven(intake, message, why) : intake_letter(intake, message, why);
}

/* Applies the results of a failed batch one by one, to find the one that fails. */
static int batch_one_by_one(struct intake *intake, struct batch *batch)
{
	log_warn("result batch failed: its results are applied one by one", NULL);
	for (size_t i = 0; i < batch->count; i++) {
		struct err err = ERR_INIT;
		int noted;

		if (intake_try(intake, item_apply, &batch->items[i], &err) == 0)
			noted = outcome_note(intake, &batch->items[i], batch->messages[i]);
		else if (err.kind == ERR_UNAVAILABLE)
			noted = -1;
		else
			noted = dead_letter_failed(intake, &batch->items[i], batch->messages[i], err.message);
		if (noted < 0)
			return -1;
	}
	return 0;
}

static int batch_settle(struct intake *intake, struct batch *batch)
{
	struct err err = ERR_INIT;

	if (!batch->count)
		return 0;
	metric_add(M_RESULT_BATCH, "", 1);
	if (intake_try(intake, batch_apply, batch, &err) < 0)
		return err.kind == ERR_UNAVAILABLE ? -1 : batch_one_by_one(intake, batch);
	for (size_t i = 0; i < batch->count; i++)
		if (outcome_note(intake, &batch->items[i], batch->messages[i]) < 0)
			return -1;
	return 0;
}

int results_settle(struct intake *intake, const struct kafka_message *messages, size_t count)
{
	_cleanup_(freep) struct batch *batch = mem_new(1, sizeof(*batch));

	if (batch_decode(intake, batch, messages, count) < 0)
		return -1;
	return batch_settle(intake, batch);
}
