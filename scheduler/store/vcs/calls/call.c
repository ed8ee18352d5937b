/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/call.h"

const char *const vcs_purpose_names[VCS_PURPOSES] = {
	[VCS_FOR_REPORT] = "report",
	[VCS_FOR_COMMENT] = "comment",
	[VCS_FOR_HOOK] = "hook",
	[VCS_FOR_LOOKUP] = "lookup",
	[VCS_FOR_VERIFY] = "verify",
	[VCS_FOR_PULLS] = "pulls",
	[VCS_FOR_COMMIT] = "commit",
	[VCS_FOR_FILES] = "files",
	[VCS_FOR_REMOVAL] = "removal",
};

enum vcs_purpose vcs_purpose_of(const char *name)
{
	for (int i = 0; i < VCS_PURPOSES; i++)
		if (text_equal(name, vcs_purpose_names[i]))
			return (enum vcs_purpose)i;
	return VCS_PURPOSES;
}
