/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "tests/sim/world.h"

/*
 * runs/claim.sql, claim_pick: by class; within a class the organization with the fewest running and earlier jobs
 * first, then the oldest job. tests/integration/runs/test_claim_order.py compares the two.
 */

static bool older(const struct waiting *a, const struct waiting *b)
{
	return a->created_at != b->created_at ? a->created_at < b->created_at : strcmp(a->id, b->id) < 0;
}

/* The number of the organization's jobs that run or precede it. */
static int turn_of(const struct waiting *jobs, size_t count, const int *busy, const struct waiting *job)
{
	int turn = busy[job->organization];

	for (size_t i = 0; i < count; i++)
		turn += jobs[i].class == job->class && jobs[i].organization == job->organization &&
			older(&jobs[i], job);
	return turn;
}

static bool before(const struct waiting *jobs, size_t count, const int *busy, size_t a, size_t b)
{
	int turn_a, turn_b;

	if (jobs[a].class != jobs[b].class)
		return jobs[a].class < jobs[b].class;
	turn_a = turn_of(jobs, count, busy, &jobs[a]);
	turn_b = turn_of(jobs, count, busy, &jobs[b]);
	return turn_a != turn_b ? turn_a < turn_b : older(&jobs[a], &jobs[b]);
}

size_t claim_order(const struct waiting *jobs, size_t count, const int *busy, size_t max, size_t *ret_order)
{
	for (size_t i = 0; i < count; i++) {
		size_t at = i;

		for (; at > 0 && before(jobs, count, busy, i, ret_order[at - 1]); at--)
			ret_order[at] = ret_order[at - 1];
		ret_order[at] = i;
	}
	return count < max ? count : max;
}
