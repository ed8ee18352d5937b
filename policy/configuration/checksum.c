/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/configuration/checksum.h"

#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

#include "common/base.h"

static const char *const algorithms[] = {"md5", "sha1", "sha256", "sha512"};

/* The algorithm's name, or NULL if the text is no checksum. */
static const char *algorithm_of(const char *checksum)
{
	size_t len = strcspn(checksum, ":");

	for (size_t i = 0; i < ARRAY_LEN(algorithms); i++)
		if (checksum[len] == ':' && strlen(algorithms[i]) == len &&
			strncasecmp(algorithms[i], checksum, len) == 0)
			return algorithms[i];
	return NULL;
}

static bool digest_hex(const char *algorithm, const struct file *file, char *ret_hex)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (EVP_Digest(file->bytes, file->len, digest, &len, EVP_get_digestbyname(algorithm), NULL) != 1)
		return false;
	for (unsigned i = 0; i < len; i++) {
		ret_hex[2 * i] = digits[digest[i] >> 4];
		ret_hex[2 * i + 1] = digits[digest[i] & 15];
	}
	ret_hex[2 * len] = '\0';
	return true;
}

void checksum_verify(struct run *run, const struct file *file, const char *checksum, const struct reader *reader)
{
	const char *algorithm = algorithm_of(checksum);
	char hex[2 * EVP_MAX_MD_SIZE + 1];

	if (!algorithm)
		run_fail_at(run, reader->place, "%s: the checksum %s is not md5, sha1, sha256 or sha512:HEX",
			reader->subject, checksum);
	run_step_bytes(run, file->len);
	if (!digest_hex(algorithm, file, hex))
		run_fail_at(run, reader->place, "%s: the %s checksum can't be computed", reader->subject, algorithm);
	if (strcasecmp(hex, strchr(checksum, ':') + 1) != 0)
		run_fail_at(run, reader->place, "%s: the file's checksum is %s:%s, not %s", reader->subject, algorithm,
			hex, checksum);
}
