/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_IMPORTS_TERRAFORM_H
#define POLICY_IMPORTS_TERRAFORM_H

/*
 * The imports of a plan (`terraform show -json`) and of a run's facts. Nothing of the file is read before the policy
 * uses a field; then the parts that it uses are decoded. A file that is no such JSON is an error at the field's use, at
 * its place in the file.
 *
 * `source` is the file; its name is its path. Imports of one file share what was found in it. It must live as long as
 * the run.
 */

#include "policy/values/value.h"

/* The file of that name if an import has been made of it, else NULL: it need not be mapped again. */
const struct source *terraform_opened(const struct run *run, const char *name);

/* The file's JSON object, whose members are decoded as they are read. Imports of one file share it, so that nothing may
 * be changed in it. */
struct value terraform_file(struct run *run, const struct source *source);

struct value import_tfplan(struct run *run, const struct source *source);
struct value import_tfconfig(struct run *run, const struct source *source);
struct value import_tfstate(struct run *run, const struct source *source);
struct value import_tfrun(struct run *run, const struct source *source);

#endif
