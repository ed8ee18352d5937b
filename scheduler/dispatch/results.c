/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/results.h"

#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/metrics.h"

struct batch {
	const struct kafka_message *messages[INTAKE_BATCH]; /* of each result */
	struct job_result results[INTAKE_BATCH];
	struct happening items[INTAKE_BATCH];
	size_t count;
};

struct happening result_happening(const struct job_result *result)
{
	static const enum run_event_kind events[] = {
		[OUTCOME_PASSED] = EV_PASSED,
		[OUTCOME_FAILED] = EV_FAILED,
		[OUTCOME_SOFT_FAILED] = EV_SOFT_FAILED,
		[OUTCOME_ERRORED] = EV_ERRORED,
		[OUTCOME_CANCELED] = EV_STOPPED,
	};

	return (struct happening){
		.run = result->run,
		.event = {.kind = events[result->outcome],
			.has_changes = result->has_changes,
			.state_owed = result->state_owed},
		.job = result->job,
		.attempt = result->attempt,
		.reason = result->error,
		.result = result,
	};
}

static int batch_decode(struct intake *intake, struct batch *batch, const struct kafka_message *messages, size_t count)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < count; i++) {
		struct job_result *result = &batch->results[batch->count];

		if (job_result_decode(messages[i].payload, messages[i].len, result, &err) == 0) {
			log_debug("result read", "run", result->run.text, NULL);
			batch->items[batch->count] = result_happening(result);
			batch->messages[batch->count++] = &messages[i];
			continue;
		}
		metric_add(M_RESULTS, "outcome=\"malformed\"", 1);
		if (intake_letter(intake, &messages[i], err.message) < 0)
			return -1;
	}
	return 0;
}

/* model: settle */
static int batch_happen(struct store *store, void *data, struct err *err)
{
	struct batch *batch = data;

	return runs_happen(store, batch->items, batch->count, err);
}

static int item_happen(struct store *store, void *data, struct err *err)
{
	return runs_happen(store, data, 1, err);
}

static void note_outcome(const struct happening *item, const struct kafka_message *message)
{
	metric_observe(M_RESULT_SECONDS, "", kafka_message_age(message));
	metric_add(M_RESULTS, item->outcome == HAPPENED ? "outcome=\"accepted\"" : "outcome=\"late\"", 1);
	if (item->outcome != HAPPENED)
		log_info("a result came too late", "run", item->run.text, "job", item->job.text, NULL);
}

/* One that breaks its batch is found by taking them one by one, and put aside. */
static int batch_one_by_one(struct intake *intake, struct batch *batch)
{
	log_warn("a batch of results is taken one by one", NULL);
	for (size_t i = 0; i < batch->count; i++) {
		struct err err = ERR_INIT;

		if (intake_try(intake, item_happen, &batch->items[i], &err) == 0)
			note_outcome(&batch->items[i], batch->messages[i]);
		else if (err.kind == ERR_UNAVAILABLE || intake_letter(intake, batch->messages[i], err.message) < 0)
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
	if (intake_try(intake, batch_happen, batch, &err) < 0)
		return err.kind == ERR_UNAVAILABLE ? -1 : batch_one_by_one(intake, batch);
	for (size_t i = 0; i < batch->count; i++)
		note_outcome(&batch->items[i], batch->messages[i]);
	return 0;
}

int results_settle(struct intake *intake, const struct kafka_message *messages, size_t count)
{
	_cleanup_(freep) struct batch *batch = mem_new(1, sizeof(*batch));

	if (batch_decode(intake, batch, messages, count) < 0)
		return -1;
	return batch_settle(intake, batch);
}
