/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_LIMITS_MEASURE_H
#define WORKER_LIMITS_MEASURE_H

#include <stdint.h>

/* Disk use of the files below a folder in bytes, at any depth, with 512 for each entry's inode. It follows no links,
 * enters no other file systems, and skips unreadable entries. It stops soon after `max`, so a larger tree takes no
 * more time. */
int64_t measure_folder(int folder, int64_t max);

#endif
