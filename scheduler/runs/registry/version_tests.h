/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_REGISTRY_VERSION_TESTS_H
#define SCHEDULER_RUNS_REGISTRY_VERSION_TESTS_H

/*
 * Tests of module versions before they are published, if the module requires them (test-config in
 * store/registry/test_beds.h). A version with content is reg_ingressing until its tests have ended: no engine and no
 * no-code module sees it. The VCS thread starts a test run of exactly that content, with all tests of the module. The
 * transaction that ends the test run publishes the version, or makes it reg_ingress_failed with an error that names the
 * test run (changes_ended_tests).
 *
 * A version has only its last test run, and none when its content was replaced. All other test runs publish nothing.
 */

#include "scheduler/store/store.h"

/* Starts the test run of a version that waits for it. *ret_more: call it again. For the VCS thread. */
int version_tests_step(struct store *store, bool *ret_more, struct err *err);
/* Tests a version again whose tests have not passed. `actor`: user id, or NULL. ERR_CONFLICT if its tests have not
 * failed; the errors of run_create. */
int version_test_again(struct store *store, const char *version_id, const char *actor, struct err *err);

#endif
