/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_SCOPE_GUESS_H
#define SCHEDULER_AUTH_SCOPE_GUESS_H

/*
 * The scope of a credential's last request in this thread. With it, a statement that reads an object can be sent
 * together with the statement that reads the caller's rights. It grants nothing: the object's rows may be used only if
 * the rights that were read give the same scope.
 */

#include "scheduler/store/access/response_scope.h"

/* Returns false if this thread remembers no request with the token or the session's cookie. */
bool scope_guess(const char *credential, struct response_scope *ret_guess);
/* Whether statements sent with the guess have the results that they have with the scope. */
bool scope_guess_right(const struct response_scope *guess, const struct response_scope *scope);
/* Remembers the scope of a user whose credential is valid. */
void scope_remember(const char *credential, const struct response_scope *scope);

#endif
