/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_TEST_BEDS_H
#define SCHEDULER_STORE_REGISTRY_TEST_BEDS_H

/*
 * The test beds of private modules. A test bed is a workspace of the module's own (workspaces.module_id) that has the
 * variables, the configurations, the pool and the runs of its tests. No list, number or route of workspaces has it, no
 * variable set applies to it, and no state is shared with it. A module gets its test bed when it first needs it, and
 * deleting the module deletes it.
 */

#include "scheduler/store/store.h"

/* The module's test bed, which is made if there is none. */
int test_bed_open(struct store *store, const char *module_id, struct id *ret_workspace, struct err *err);
/* The same, without making one. ERR_NOT_FOUND. */
int test_bed_find(struct store *store, const char *module_id, struct id *ret_workspace, struct err *err);

/* The options of a commit's test run: those of `terraform test` without arguments. A new reference. */
json_t *test_bed_options(void);

/* After a change of the module's branch or of its test-config: whether its commits start test runs, as pushes to a
 * workspace's branch start runs. Within a transaction. */
int test_bed_follow(struct store *store, const char *module_id, struct err *err);

/* The attribute `test-config` of a module. Borrowed. */
struct module_test_config {
	bool has_enabled, enabled;   /* each commit of its branch is tested */
	bool has_required, required; /* its versions are published after their tests (runs/registry/version_tests.h) */
	const char *mode;            /* "remote", "agent", or NULL: it stays */
	const char *pool_id;         /* with "agent" */
};
/* ERR_INVALID with a pointer: tests of each commit need a branch; the pool must be of the organization, and available
 * to its default project. Within a transaction. */
int module_test_config_set(
	struct store *store, const char *module_id, const struct module_test_config *config, struct err *err);

#endif
