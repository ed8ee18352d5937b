/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "common/crypto.h"
#include "scheduler/api/vcs/connections.h"

enum { MAX_KEY = 64 << 10, MAX_HOST_KEYS = 64 << 10 };

static const char ssh_magic[] = "openssh-key-v1";

/* ---- private keys ---- */

static int key_invalid(struct err *err)
{
	return err_at(err, "/data/attributes/ssh-key",
		"Ssh key is invalid: give one private key without a passphrase, in PEM or in OpenSSH's form");
}

/* Whether the decoded key, in OpenSSH's form, is not encrypted: behind the magic follows the cipher's name. */
static bool openssh_is_open(const struct buf *key)
{
	static const char cipher[] = "\0\0\0\4none";

	return key->len > sizeof(ssh_magic) + sizeof(cipher) - 1 &&
		memcmp(key->data, ssh_magic, sizeof(ssh_magic)) == 0 &&
		memcmp(key->data + sizeof(ssh_magic), cipher, sizeof(cipher) - 1) == 0;
}

/* Decodes what stands between the first and the last line. */
static int body_decode(const char *from, const char *until, struct buf *ret_key)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(MAX_KEY);

	for (; from < until; from++)
		if (!strchr(" \t\r\n", *from) && buf_append(&text, from, 1) < 0)
			return -1;
	return text.len ? crypto_base64_decode(buf_str(&text), ret_key) : -1;
}

/* The label of "-----BEGIN <label>-----", with an end that has the same one; NULL if that is not the key's form. */
static const char *label_find(const char *key, char *ret_label, size_t size, const char **ret_end)
{
	static const char begin[] = "-----BEGIN ", dashes[] = "-----";
	const char *label = key + sizeof(begin) - 1, *rest;
	_cleanup_(freep) char *last = NULL;

	if (!text_starts(key, begin) || !(rest = strstr(label, dashes)) || (size_t)(rest - label) >= size)
		return NULL;
	memcpy(ret_label, label, (size_t)(rest - label));
	ret_label[rest - label] = '\0';
	last = mem_printf("-----END %s-----", ret_label);
	*ret_end = strstr(rest, last);
	if (!*ret_end || (*ret_end)[strlen(last) + strspn(*ret_end + strlen(last), " \t\r\n")])
		return NULL;
	return rest + sizeof(dashes) - 1;
}

int vcs_ssh_key_check(const char *key, struct err *err)
{
	static const char *const labels[] = {"RSA PRIVATE KEY", "EC PRIVATE KEY", "DSA PRIVATE KEY", "PRIVATE KEY"};
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(MAX_KEY);
	char label[64];
	const char *end, *body;

	key += strspn(key, " \t\r\n");
	if (strlen(key) > MAX_KEY || !(body = label_find(key, label, sizeof(label), &end)) ||
		body_decode(body, end, &bytes) < 0)
		return key_invalid(err);
	if (text_equal(label, "OPENSSH PRIVATE KEY"))
		return openssh_is_open(&bytes) ? 0 : key_invalid(err);
	for (size_t i = 0; i < ARRAY_LEN(labels); i++)
		if (text_equal(label, labels[i]) && bytes.len > 2 && bytes.data[0] == '\x30')
			return 0;
	return key_invalid(err);
}

/* ---- host keys ---- */

/* The length of the next field of the line, which must have only these characters. 0: it is wrong or missing. */
static size_t field_length(const char **at, const char *allowed)
{
	size_t len = strspn(*at += strspn(*at, " \t"), allowed);

	if (len && (*at)[len] && !strchr(" \t\r\n", (*at)[len]))
		return 0;
	*at += len;
	return len;
}

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

static bool line_valid(const char *line)
{
	return field_length(&line, LETTERS "-_.,:[]*?|+/=") && field_length(&line, LETTERS "-.@") &&
		field_length(&line, LETTERS "+/=");
}

int vcs_host_keys_check(const char *host_keys, struct err *err)
{
	const char *line = host_keys;

	if (strlen(host_keys) > MAX_HOST_KEYS)
		return err_at(err, "/data/attributes/host-keys", "Host keys are too long");
	for (; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (!strchr("#\r\n", *line) && !line_valid(line))
			return err_at(err, "/data/attributes/host-keys",
				"Host keys must be lines of known_hosts: hosts, type and key");
	return 0;
}
