/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/state_order.h"

#include <strings.h>

enum state_order state_order(const struct state_mark *current, const struct state_mark *next)
{
	bool same_writer = next->job && text_equal(next->job, current->job);
	bool same_content = strcasecmp(next->md5, current->md5) == 0;

	if (same_writer && same_content && next->serial == current->serial)
		return STATE_KNOWN;
	if (*next->lineage && !text_equal(next->lineage, current->lineage))
		return STATE_OTHER_LINEAGE;
	if (next->serial < current->serial || (next->serial == current->serial && !same_writer && !same_content))
		return STATE_BEHIND;
	return STATE_FOLLOWS;
}

enum state_order state_order_late(
	const struct state_mark *current, const struct state_mark *next, const struct state_since *since)
{
	enum state_order order = current ? state_order(current, next) : STATE_FOLLOWS;

	if (order == STATE_KNOWN)
		return order;
	if (since->restored)
		return STATE_RESTORED;
	if (since->overtaken)
		return STATE_OVERTAKEN;
	return since->others_work ? STATE_MEETS_OTHERS : order;
}
