/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/viewer.h"

void viewer_release(struct viewer *viewer)
{
	rows_release(&viewer->memberships);
}

rights viewer_base(const struct viewer *viewer, const char *organization_id)
{
	if (!viewer || viewer->all)
		return ~(rights)0;
	for (int i = 0; i < viewer->memberships.count; i++)
		if (text_equal(row_text(&viewer->memberships, i, "organization_id"), organization_id))
			return (rights)row_int(&viewer->memberships, i, "rights");
	return 0;
}

const char *viewer_user(const struct viewer *viewer)
{
	return viewer && !viewer->all && !viewer->owns ? viewer->user.text : NULL;
}

bool viewer_may_all(const struct viewer *viewer, const char *organization_id, enum permission permission)
{
	return viewer_base(viewer, organization_id) & right_of(permission);
}
