/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/sim/world.h"

/*
 * The broker: at-least-once delivery without an order (there are partitions). When it dies, the embedded broker's
 * messages are lost, and Kafka's are delivered later.
 */

static void deliver(struct world *w, const struct note *note);

static void deliver_later(struct world *w, int64_t delay, const struct note *note)
{
	schedule(w, w->fault_rates.kept ? NULL : &w->broker, delay, deliver, note);
}

/* ---- readers ---- */

/* One member of the group that reads the topic, or NULL. */
static struct process *reader_any(struct world *w, enum topic topic)
{
	struct process *reader;

	if (topic == ON_RESULTS || topic == ON_TASK_RESULTS)
		return scheduler_any(w);
	reader = topic == ON_TASKS ? &w->notifiers[roll(w, NOTIFIERS)].process : &w->workers[roll(w, WORKERS)].process;
	return reader->up && reader->stalled_until <= w->now ? reader : NULL;
}

static bool read_by(struct world *w, struct process *reader, const struct message *message)
{
	if (reader->kind == SCHEDULER)
		return scheduler_reads(w, reader, message);
	if (reader->kind == NOTIFIER)
		notifier_reads(w, &w->notifiers[reader->number], message);
	else
		worker_wake(w, &w->workers[reader->number]);
	return true;
}

static void deliver(struct world *w, const struct note *note)
{
	struct process *reader = w->broker.up ? reader_any(w, note->message.topic) : NULL;

	if (!reader || !read_by(w, reader, &note->message) || fault_chance(w, 30))
		deliver_later(w, between(w, SECOND, 10 * SECOND), note);
}

/* Every worker that is running reads these topics. */
static void control(struct world *w, const struct note *note)
{
	struct worker *worker = &w->workers[note->who];

	if (worker->process.up && w->broker.up)
		worker_stop(w, worker, &note->message);
}

static void distribute(struct world *w, const struct message *message)
{
	struct note note = {.message = *message};

	if (message->topic == ON_EVENTS) {
		w->db.runs[message->run].published |= 1ull << message->word;
		return;
	}
	if (message->topic != ON_CONTROL) {
		deliver_later(w, message_delay(w), &note);
		return;
	}
	for (note.who = 0; note.who < WORKERS; note.who++)
		if (!fault_chance(w, 50))
			schedule(w, &w->workers[note.who].process, message_delay(w), control, &note);
}

/* ---- writers ---- */

static void arrives(struct world *w, const struct note *note)
{
	struct note answer = *note;
	bool taken = w->broker.up && !fault_chance(w, 20);

	if (taken)
		distribute(w, &note->message);
	answer.answer = taken && !fault_chance(w, 10) ? ANSWER_OK : ANSWER_NONE;
	if (note->answered && note->caller->life == note->caller_life)
		schedule(w, note->caller, answer.answer == ANSWER_OK ? 1 : between(w, 1, 5 * SECOND), note->answered,
			&answer);
}

void produce(struct world *w, struct process *from, const struct message *message, act_fn on_answer)
{
	const struct note note = {
		.caller = from, .caller_life = from->life, .answered = on_answer, .message = *message};

	schedule(w, NULL, between(w, 1, 30), arrives, &note);
}
