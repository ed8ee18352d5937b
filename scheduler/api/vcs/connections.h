/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_VCS_CONNECTIONS_H
#define SCHEDULER_API_VCS_CONNECTIONS_H

/* What the handlers of connections share. */

#include "scheduler/api/api.h"
#include "scheduler/store/vcs/connections.h"

/* The connection in the path's `:client`, if the actor has the route's permission: a row
 * `vcs_connection`. */
int vcs_connection_in_path(const struct request *req, struct rows *ret_rows, struct err *err);

/* Replaces the pools whose relationships the body has: agent-pool, fork-agent-pool. ERR_INVALID at the relationship if
 * one may not be used, or if both are the same. */
int vcs_pools_read(const struct request *req, const char *organization_id, struct vcs_pools *pools, struct err *err);

/* 0 for one private key without a passphrase, in PEM or OpenSSH's form; else ERR_INVALID "Ssh key is invalid". */
int vcs_ssh_key_check(const char *key, struct err *err);
/* 0 for lines of known_hosts: hosts, type and key; "" is none. */
int vcs_host_keys_check(const char *host_keys, struct err *err);

#endif
