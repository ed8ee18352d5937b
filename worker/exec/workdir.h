/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_WORKDIR_H
#define WORKER_EXEC_WORKDIR_H

/*
 * A job's folder, <data-dir>/jobs/<job>-<attempt>/ (0700):
 *
 *     job.json              of an apply: data for a restarted worker to finish it (upload/unsent)
 *     delivered             of an apply: the last state that the scheduler has (upload/leftover)
 *     errored.tfstate       of an apply: the last state, if terraform could not write it below root/ (upload/leftover)
 *     errored.part          of an apply: disk space for that file (upload/reserve)
 *     output                of an apply: the engine's output (upload/record)
 *     cli.tfrc              the engine's CLI configuration; read-only for the job
 *     vault/                an empty folder, which is all that runyard-vault sees, if the job has a Vault
 *     *.tar.gz, *.json      downloads that are too large for the claim, and uploads; not visible to the job
 *     root/                 the job's own, /job inside the sandbox:
 *         config/           the configuration, with zz_runyard_override.tf and an empty errored.tfstate
 *                           (upload/reserve) in its working directory; with provider sets, zz_runyard_providers.tf
 *         state/            terraform.tfstate, where the override's local backend keeps it
 *         workspaces/NAME/  terraform.tfstate, a link to that file, for the engine's workspace NAME. "default" has
 *                           none: the backend's path names the file itself
 *         out/plan          the plan file
 *         packages/         links to the organization's provider packages that the lock file names, if there are any
 *         vars/             the .tfvars file of a plan, or that of an apply (0600), if there are any
 *         hook-env          TFC_AGENT_ENV of hooks in the sandbox (stage/hooks.c); a trusted hook's is beside root/
 *         home/             HOME; in .ssh/ the workspace's key (0600), while modules are fetched
 *         credentials/      the files of the run's dynamic credentials (0600), if there are any
 *
 * The backend's paths are relative to the working directory, since the plan file carries them to another worker.
 */

#include "worker/exec/beneath.h"
#include "worker/runtime/assignment.h"

struct quota;
struct sha256;

/* The folder that holds the job folders. */
struct workdir_place {
	int jobs;                  /* descriptor */
	const char *path;          /* of the same folder */
	const struct quota *quota; /* limits the job's disk use (limits/quota.h), or NULL */
};

struct workdir {
	char *path; /* on the machine; owned */
	char *name; /* "<job>-<attempt>"; owned */
	int jobs;   /* descriptor of the parent folder; borrowed */
	int top;    /* descriptor of the folder */
	int root;   /* descriptor of its root/ */
};

#define WORKDIR_INIT                                                                                                   \
	{                                                                                                              \
		.path = NULL, .name = NULL, .jobs = -1, .top = -1, .root = -1                                          \
	}

#define WORKDIR_OVERRIDE    "zz_runyard_override.tf"
#define WORKDIR_PROVIDERS   "zz_runyard_providers.tf" /* the provider sets (engine/provider_sets.h) */
#define WORKDIR_STATE       "state/terraform.tfstate"
#define WORKDIR_WORKSPACES  "workspaces"
#define WORKDIR_PLAN        "out/plan"
#define WORKDIR_PACKAGES    "packages"
#define WORKDIR_VARIABLES   "vars/variables.tfvars"
#define WORKDIR_AGAIN       "vars/again.tfvars"
#define WORKDIR_SSH_KEY     "home/.ssh/key"
#define WORKDIR_CREDENTIALS "credentials"
#define WORKDIR_HOOK_ENV    "hook-env"

/* In the job's folder itself. */
#define WORKDIR_OUTPUT "output"

/* Makes the folder and removes an existing one of that name first. With a quota, root/ belongs to a project that no
 * other job's folder has, and root/state/ belongs to a second one. ERR_INTERNAL,
 * ERR_UNAVAILABLE. */
int workdir_make(const struct workdir_place *place, const struct assignment *assignment, struct workdir *ret_dir,
	struct err *err);
/* Closes the descriptors and frees the paths; the files stay. */
void workdir_release(struct workdir *dir);

/* "config" or "config/<working directory>", below root. The caller frees it. */
char *workdir_folder(const struct assignment *assignment);
/* Appends a path below root, relative to the working directory. -1: over the limit. */
int workdir_seen(const struct assignment *assignment, const char *path, struct buf *out);
/* The name of the engine's workspace, the value of terraform.workspace: the workspace's own name. Borrowed. */
const char *workdir_workspace(const struct assignment *assignment);
/* Writes the override file: a local backend with the paths of the state and of workspaces/. */
int workdir_override(const struct assignment *assignment, struct buf *out);
/* Unpacks the configuration's tar.gz and writes the override file and a plan's variables. Adds the configuration to
 * `digest`, unless it is NULL. ERR_INVALID, ERR_TOO_LARGE, ERR_INTERNAL. */
int workdir_fill(const struct workdir *dir, const struct assignment *assignment, int archive, struct sha256 *digest,
	struct err *err);
/* Writes WORKDIR_AGAIN with the values of those variables, if there are any. ERR_TOO_LARGE, ERR_INTERNAL. */
int workdir_write_again(
	const struct workdir *dir, const struct assignment *assignment, const json_t *names, struct err *err);

#endif
