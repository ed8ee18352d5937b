/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_COMMAND_COMMAND_H
#define POLICY_COMMAND_COMMAND_H

/* The commands. Each returns the program's exit code (enum exit_code). */

#include "policy/command/options.h"

/* eval, apply: evaluates a policy, or the policies of a configuration. */
int command_eval(const struct options *options);
/* test: evaluates the test cases of policies. */
int command_test(const struct options *options);

#endif
