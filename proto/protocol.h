/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_PROTOCOL_H
#define PROTO_PROTOCOL_H

/*
 * The version of this folder's contract. A release of N works with processes of N and N - 1, in both orders. Additions
 * that the other side may ignore change no number. Raise both numbers together.
 *
 *   1  processes that name no version
 *   2  workers and notifiers name the versions that they support
 */
enum { PROTOCOL_VERSION = 2, PROTOCOL_OLDEST = 1 };

#endif
