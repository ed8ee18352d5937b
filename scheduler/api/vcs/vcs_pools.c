/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/vcs/connections.h"

#include <stdio.h>

#include "scheduler/http/relations.h"
#include "scheduler/store/workers/pools.h"

/* The agent pools of connections and of installations of the GitHub App. */

/* Sets the agent pool if the body has the relationship. Null means no pool. */
static int pool_read_relation(const struct request *req, const char *relation, const struct pool_use *use,
	const char **pool_id, struct err *err)
{
	char pointer[64];
	const char *id;

	snprintf(pointer, sizeof(pointer), "/data/relationships/%s", relation);
	if (!json_object_get(json_at(req->body, "data.relationships"), relation))
		return 0;
	if (body_to_one(req, relation, "agent-pools", &id, err) < 0)
		return -1;
	*pool_id = id;
	if (!id || pool_use_check(req->store, id, use, pointer, err) == 0)
		return 0;
	if (err->kind != ERR_INVALID)
		return -1;
	return err_at(err, pointer, "the provided agent pool does not exist or you are not authorized to use it");
}

/* The pools must differ: workers of the connection's pool get its credential, so code of forks must not run there. */
int vcs_pools_read(const struct request *req, const char *organization_id, struct vcs_pools *pools, struct err *err)
{
	const struct pool_use all = {.organization_id = organization_id, .anywhere = true};
	const struct pool_use forks = {.organization_id = organization_id, .any_scope = true};

	if (pool_read_relation(req, "agent-pool", &all, &pools->pool_id, err) < 0 ||
		pool_read_relation(req, "fork-agent-pool", &forks, &pools->fork_pool_id, err) < 0)
		return -1;
	if (!pools->fork_pool_id || !text_equal(pools->fork_pool_id, pools->pool_id))
		return 0;
	return err_at(err, "/data/relationships/fork-agent-pool",
		"Fork agent pool must differ from the agent pool, whose workers have the connection's credential");
}
