/* SPDX-License-Identifier: MPL-2.0 */
/*
 * A no-op engine for tests/bench/flow and dispatch. It prints and writes what terraform would for a configuration of
 * one terraform_data, and exits within a millisecond, so that only Runyard is measured. A plan takes as many seconds
 * as the configuration's file `seconds` says, if there is one. It is a static program without stdio. It writes no
 * lock file and has no provider, like terraform for its built-in one.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE "../state/terraform.tfstate"

static const char version[] = "Terraform v1.11.4\non linux_amd64\n";

/* The record of the backend that init writes. The worker checks it. */
static const char backend[] = "{\"version\":3,\"backend\":{\"type\":\"local\",\"config\":{\"path\":\"" STATE
			      "\",\"workspace_dir\":\"../workspaces\"}}}\n";

static const char plan_lines[] =
	"{\"@level\":\"info\",\"@message\":\"Terraform 1.11.4\",\"type\":\"version\",\"terraform\":\"1.11.4\",\"ui\":"
	"\"1.2\"}\n"
	"{\"@level\":\"info\",\"@message\":\"terraform_data.one: Plan to create\",\"type\":\"planned_change\","
	"\"change\":{\"resource\":{\"addr\":\"terraform_data.one\"},\"action\":\"create\"}}\n"
	"{\"@level\":\"info\",\"@message\":\"Plan: 1 to add, 0 to change, 0 to destroy.\",\"type\":\"change_summary\","
	"\"changes\":{\"add\":1,\"change\":0,\"import\":0,\"remove\":0,\"operation\":\"plan\"}}\n";

static const char apply_lines[] =
	"{\"@level\":\"info\",\"@message\":\"Terraform 1.11.4\",\"type\":\"version\",\"terraform\":\"1.11.4\",\"ui\":"
	"\"1.2\"}\n"
	"{\"@level\":\"info\",\"@message\":\"terraform_data.one: Creating...\",\"type\":\"apply_start\","
	"\"hook\":{\"resource\":{\"addr\":\"terraform_data.one\"},\"action\":\"create\"}}\n"
	"{\"@level\":\"info\",\"@message\":\"terraform_data.one: Creation complete\",\"type\":\"apply_complete\","
	"\"hook\":{\"resource\":{\"addr\":\"terraform_data.one\"},\"action\":\"create\",\"elapsed_seconds\":0}}\n"
	"{\"@level\":\"info\",\"@message\":\"Apply complete! Resources: 1 added, 0 changed, 0 destroyed.\",\"type\":"
	"\"change_summary\",\"changes\":{\"add\":1,\"change\":0,\"import\":0,\"remove\":0,\"operation\":\"apply\"}}\n";

static const char plan_json[] =
	"{\"format_version\":\"1.2\",\"terraform_version\":\"1.11.4\",\"resource_changes\":[{"
	"\"address\":\"terraform_data.one\",\"mode\":\"managed\",\"type\":\"terraform_data\",\"name\":"
	"\"one\",\"change\":{\"actions\":[\"create\"],\"before\":null,\"after\":{}}}]}\n";

static const char schemas[] = "{\"format_version\":\"1.0\",\"provider_schemas\":{\"terraform.io/builtin/terraform\":"
			      "{\"resource_schemas\":{\"terraform_data\":{\"version\":0,\"block\":{}}}}}}\n";

static const char state_head[] = "{\"version\":4,\"terraform_version\":\"1.11.4\",\"serial\":";
static const char state_tail[] =
	",\"lineage\":\"6a1b0c7e-40d5-4d0e-9a51-0f5d2c2f7b11\",\"outputs\":{},\"resources\":[{\"mode\":\"managed\","
	"\"type\":\"terraform_data\",\"name\":\"one\",\"provider\":\"provider[\\\"terraform.io/builtin/"
	"terraform\\\"]\","
	"\"instances\":[{\"schema_version\":0,\"attributes\":{\"id\":\"one\"}}]}],\"check_results\":null}\n";

static int put(int fd, const char *bytes, size_t len)
{
	return write(fd, bytes, len) == (ssize_t)len ? 0 : 1;
}

static int put_file(const char *path, const char *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	return fd < 0 ? 1 : put(fd, bytes, len);
}

static int init(void)
{
	return mkdir(".terraform", 0700) != 0 || put_file(".terraform/terraform.tfstate", backend, sizeof(backend) - 1);
}

static long serial_read(void)
{
	char text[256] = "";
	int fd = open(STATE, O_RDONLY);
	const char *at;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return 0;
	at = strstr(text, "\"serial\":");
	return at ? strtol(at + 9, NULL, 10) : 0;
}

static unsigned seconds_read(void)
{
	char text[16] = "";
	int fd = open("seconds", O_RDONLY);

	return fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 ? 0 : (unsigned)strtoul(text, NULL, 10);
}

static int plan(int argc, char **argv)
{
	const char *out = NULL;

	sleep(seconds_read());
	for (int i = 2; i < argc; i++)
		if (strncmp(argv[i], "-out=", 5) == 0)
			out = argv[i] + 5;
	if (!out || put_file(out, plan_json, sizeof(plan_json) - 1) || put(1, plan_lines, sizeof(plan_lines) - 1))
		return 1;
	return 2; /* there are changes */
}

static int apply(void)
{
	char text[1024], digits[24];
	size_t at = sizeof(digits);
	long serial = serial_read() + 1;

	for (; serial; serial /= 10)
		digits[--at] = (char)('0' + serial % 10);
	memcpy(text, state_head, sizeof(state_head) - 1);
	memcpy(text + sizeof(state_head) - 1, digits + at, sizeof(digits) - at);
	memcpy(text + sizeof(state_head) - 1 + sizeof(digits) - at, state_tail, sizeof(state_tail));
	return put_file(STATE, text, strlen(text)) || put(1, apply_lines, sizeof(apply_lines) - 1);
}

int main(int argc, char **argv)
{
	const char *command = argc > 1 ? argv[1] : "";

	if (strcmp(command, "version") == 0)
		return put(1, version, sizeof(version) - 1);
	if (strcmp(command, "init") == 0)
		return init();
	if (strcmp(command, "plan") == 0)
		return plan(argc, argv);
	if (strcmp(command, "show") == 0)
		return put(1, plan_json, sizeof(plan_json) - 1);
	if (strcmp(command, "providers") == 0)
		return put(1, schemas, sizeof(schemas) - 1);
	if (strcmp(command, "apply") == 0)
		return apply();
	return 1;
}
