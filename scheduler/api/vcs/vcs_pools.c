/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/vcs/connections.h"

#include "scheduler/api/workers/pools.h"
#include "scheduler/store/workers/pools.h"

/* The agent pools of connections and of installations of the GitHub App. */

/* The pools must differ: workers of the connection's pool get its credential, so code of forks must not run there. */
int vcs_pools_read(const struct request *req, const char *organization_id, struct vcs_pools *pools, struct err *err)
{
	const struct pool_use all = {.organization_id = organization_id, .anywhere = true};
	const struct pool_use forks = {.organization_id = organization_id, .any_scope = true};
	static const char refusal[] = "the provided agent pool does not exist or you are not authorized to use it";

	if (body_pool(req, "agent-pool", &all, refusal, &pools->pool_id, err) < 0 ||
		body_pool(req, "fork-agent-pool", &forks, refusal, &pools->fork_pool_id, err) < 0)
		return -1;
	if (!pools->fork_pool_id || !text_equal(pools->fork_pool_id, pools->pool_id))
		return 0;
	return err_at(err, "/data/relationships/fork-agent-pool",
		"Fork agent pool must differ from the agent pool, whose workers have the connection's credential");
}
