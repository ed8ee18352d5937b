/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_IDENTITY_VAULT_ORDER_H
#define WORKER_IDENTITY_VAULT_ORDER_H

/*
 * The order of a job for runyard-vault, and the events that the program sends back. Pure.
 *
 * The order is one JSON document on its standard input:
 *
 *     {"vaults":[{"id":0,"title":"vault","address":"https://vault.example.com:8200","namespace":"","login":"auth/jwt/login",
 *                 "role":"tfc-role","jwt":…,"ca":"PEM, or empty","timeout":60}],
 *      "secrets":[{"id":1,"title":"vault-backed-aws","vault":0,"path":"aws/creds/deploy"}],"sleep":30}
 *
 * It logs in to the vaults, reads the secrets, and sleeps. `timeout`: seconds within which a Vault must answer the
 * request for a secret. Then it keeps the tokens alive until it gets SIGINT, revokes them, and ends. Each line of its
 * standard output is an event:
 *
 *     {"begun":true}                                it handles SIGINT from now on
 *     {"vault":0,"token":…}                         of a login
 *     {"secret":1,"data":{…}}                       as Vault answered
 *     {"sleeping":30}
 *     {"ready":true}
 *     {"failed":"a sentence for users"}             it ends, after it has revoked the tokens
 *     {"warning":"a sentence for operators"}        a token was not renewed or revoked
 *
 * The addresses and the answers are a tenant's, so the events are untrusted.
 */

#include "common/json/json.h"

struct err;

enum { MAX_VAULT_EVENT = 1024 * 1024 };

/* Whether the credentials of a job need a Vault. */
bool vault_needed(const json_t *credentials);
/* The order for the credentials of a job. A new reference. */
json_t *vault_order(const json_t *credentials);
/* Adds the token or the secrets of an event to their configuration. Ignores other events. ERR_INVALID with a sentence
 * for users: the answer can't be used. */
int vault_take(const json_t *credentials, const json_t *event, struct err *err);
/* True if each token and each secret of the order has arrived. */
bool vault_complete(const json_t *credentials);

#endif
