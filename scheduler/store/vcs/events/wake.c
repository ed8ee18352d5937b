/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events/wake.h"

#include "scheduler/store/vcs/events/wake.sql.h"

int vcs_wake(struct store *store, struct err *err)
{
	return db_queue(store->db, err, vcs_wake);
}
