/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/call.h"

#include "scheduler/store/vcs/calls/calls.sql.h"

const struct vcs_purpose_traits vcs_purposes[VCS_PURPOSES] = {
	[VCS_FOR_REPORT] = {"report", 0, true},
	[VCS_FOR_COMMENT] = {"comment", 2, true},
	[VCS_FOR_HOOK] = {"hook", 1, true},
	[VCS_FOR_LOOKUP] = {"lookup", 1, false},
	[VCS_FOR_VERIFY] = {"verify", 1, false},
	[VCS_FOR_PULLS] = {"pulls", 1, false},
	[VCS_FOR_COMMIT] = {"commit", 1, false},
	[VCS_FOR_FILES] = {"files", 1, false},
	[VCS_FOR_REMOVAL] = {"removal", 1, true},
};

enum vcs_purpose vcs_purpose_of(const char *name)
{
	for (int i = 0; i < VCS_PURPOSES; i++)
		if (text_equal(name, vcs_purposes[i].name))
			return (enum vcs_purpose)i;
	return VCS_PURPOSES;
}

int vcs_calls_enqueue(
	struct store *store, enum vcs_purpose purpose, const struct db_statement *statement, int max, struct err *err)
{
	const struct vcs_purpose_traits *of = &vcs_purposes[purpose];

	return db_query_one_of(store->db, NULL, err, statement, vcs_lookups_enqueue, .purpose = of->name,
		.urgency = of->urgency, .writes = of->writes, .max = max);
}
