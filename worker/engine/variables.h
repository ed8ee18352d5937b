/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_ENGINE_VARIABLES_H
#define WORKER_ENGINE_VARIABLES_H

/* Passes a run's variables to terraform: a .tfvars file and the environment. Pure. */

#include "common/buf.h"
#include "worker/runtime/assignment.h"

/* A growing NULL-terminated list of texts, for arguments and environments. */
struct texts {
	char **items; /* NULL-terminated, or NULL while empty */
	size_t count;
};

void texts_add(struct texts *texts, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds copies of the items up to the first NULL. `items` may be NULL. */
void texts_add_list(struct texts *texts, const char *const *items);
#define TEXTS_ADD(texts, ...) texts_add_list(texts, (const char *const[]){__VA_ARGS__, NULL})
/* Sets NAME=value, replacing an existing value. */
void texts_set_env(struct texts *texts, const char *name, const char *value);
void texts_release(struct texts *texts);

/* The beginning of the names of registries' credentials. */
extern const char variables_token[];

/* Appends the text as a quoted HCL string in which nothing is interpolated. */
int hcl_quote(struct buf *out, const char *text);

/* Writes the .tfvars file: each name once, with the value of the highest precedence, in the order of first
 * appearance. -1: over the limit. */
int variables_file(const struct assignment *assignment, struct buf *out);
/* The same for the variables that are members of the object `names`. Variables with the value null are left out,
 * because an engine treats them as not set. */
int variables_file_of(const struct assignment *assignment, const json_t *names, struct buf *out);
/* Adds the variables of the category env, except those that the worker sets itself (variables_reserved). */
void variables_environment(const struct assignment *assignment, struct texts *env);
/* Adds only the workload identity tokens, which the scheduler made. No value of a user is among them. */
void variables_identity(const struct assignment *assignment, struct texts *env);
/* Adds only those of them that the installation of providers may see: credentials of registries (TF_TOKEN_...). */
void variables_tokens(const struct assignment *assignment, struct texts *env);
/* Limits git to repositories that its caller names: git reads no system or user configuration, ignores a bare
 * repository in its folder, and searches neither above `root` nor above `folder`. Does not replace variables that
 * are already set. */
void variables_git(const char *root, const char *folder, struct texts *env);
/* True if the options for apply in this environment name another file for the state. */
bool variables_move_state(const struct texts *env);
/* True for names that an environment may have. */
bool variables_name_valid(const char *name);
/* True for names that would weaken the isolation of jobs or would move the files that the worker reads. */
bool variables_reserved(const char *name);

#endif
