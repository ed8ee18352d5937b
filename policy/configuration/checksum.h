/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_CONFIGURATION_CHECKSUM_H
#define POLICY_CONFIGURATION_CHECKSUM_H

/* Checksums of sources: "sha256:HEX"; also md5, sha1 and sha512. */

#include "policy/configuration/reader.h"

/* Fails if the checksum is none, or is not the file's. */
void checksum_verify(struct run *run, const struct file *file, const char *checksum, const struct reader *reader);

#endif
