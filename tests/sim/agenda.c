/* SPDX-License-Identifier: MPL-2.0 */
#include <stdarg.h>

#include "tests/sim/world.h"

enum { STALL_CHECK = 10 * SECOND };

/* ---- random numbers: splitmix64 ---- */

static uint64_t random_next(struct world *w)
{
	uint64_t z = w->random += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

uint32_t roll(struct world *w, uint32_t sides)
{
	return (uint32_t)(random_next(w) % sides);
}

bool random_chance(struct world *w, int per_mille)
{
	return (int)roll(w, 1000) < per_mille;
}

bool fault_chance(struct world *w, int per_mille)
{
	return random_chance(w, per_mille * w->fault_rates.small_faults) && !w->calm;
}

int64_t between(struct world *w, int64_t low, int64_t high)
{
	return low + (int64_t)(random_next(w) % (uint64_t)(high - low + 1));
}

int64_t message_delay(struct world *w)
{
	if (w->calm || !random_chance(w, w->fault_rates.slow))
		return between(w, 1, 50);
	return roll(w, 4) ? between(w, 50, 5 * SECOND) : between(w, 5 * SECOND, 100 * SECOND);
}

/* ---- clocks ---- */

int64_t clock_of(const struct world *w, const struct process *process)
{
	return w->now + w->now * process->clock_ppm / 1000000;
}

int64_t real_time(const struct process *process, int64_t ms)
{
	return ms * 1000000 / (1000000 + process->clock_ppm);
}

/* ---- the agenda: a heap of indexes of moments ---- */

static bool sooner(const struct world *w, int a, int b)
{
	const struct moment *one = &w->moments[w->heap[a]], *other = &w->moments[w->heap[b]];

	return one->at != other->at ? one->at < other->at : one->order < other->order;
}

static void swap(struct world *w, int a, int b)
{
	short moment = w->heap[a];

	w->heap[a] = w->heap[b];
	w->heap[b] = moment;
}

static void heap_add(struct world *w, short moment)
{
	int at = w->heap_count++;

	w->heap[at] = moment;
	for (; at > 0 && sooner(w, at, (at - 1) / 2); at = (at - 1) / 2)
		swap(w, at, (at - 1) / 2);
}

static short heap_take(struct world *w)
{
	short first = w->heap[0];
	int at = 0, child;

	w->heap[0] = w->heap[--w->heap_count];
	while ((child = 2 * at + 1) < w->heap_count) {
		if (child + 1 < w->heap_count && sooner(w, child + 1, child))
			child++;
		if (!sooner(w, child, at))
			break;
		swap(w, at, child);
		at = child;
	}
	return first;
}

void schedule(struct world *w, struct process *of, int64_t delay, act_fn act, const struct note *note)
{
	struct moment *moment;
	short place;

	if (!w->free_count) {
		check_failed(w, "more than %d moments are on the agenda", MOMENTS);
		return;
	}
	place = w->free[--w->free_count];
	moment = &w->moments[place];
	*moment = (struct moment){.at = w->now + (delay > 0 ? delay : 0), .order = ++w->last_order, .act = act};
	if (note)
		moment->note = *note;
	moment->note.of = of;
	moment->note.life = of ? of->life : 0;
	heap_add(w, place);
}

/* Moments of a dead process are dropped; those of a stalled process wait. */
static bool moment_waits(struct world *w, const struct moment *moment)
{
	const struct process *of = moment->note.of;
	int64_t left;

	if (!of || of->life != moment->note.life || of->stalled_until <= w->now)
		return false;
	left = of->stalled_until - w->now;
	/* It is checked again every STALL_CHECK, in case the calm phase has begun. */
	schedule(w, moment->note.of, left < STALL_CHECK ? left + between(w, 0, 5) : STALL_CHECK, moment->act,
		&moment->note);
	return true;
}

bool world_move(struct world *w)
{
	struct moment moment;
	short place;

	if (!w->heap_count)
		return false;
	place = heap_take(w);
	moment = w->moments[place];
	w->free[w->free_count++] = place;
	w->now = moment.at;
	if (moment_waits(w, &moment) || (moment.note.of && moment.note.of->life != moment.note.life))
		return true;
	w->step++;
	moment.act(w, &moment.note);
	check_all(w);
	return true;
}

/* ---- trace ---- */

void trace_print(const struct world *w, const struct process *who, const char *format, ...)
{
	static const char *const kinds[] = {"scheduler", "worker", "notifier", "broker"};
	char name[32] = "-";
	va_list args;

	if (who)
		snprintf(name, sizeof(name), "%s-%d", kinds[who->kind], who->number);
	printf("%5d %9.3f  %-12s ", w->step, (double)w->now / SECOND, name);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
}
