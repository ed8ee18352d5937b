/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/explorer/explorer_facts.h"

#include <string.h>

/* The longest text of a row, in bytes. An index holds no value of more than 2,700 bytes. */
enum { MAX_TEXT = 1000 };

static struct db_array *const *arrays_of(struct explorer_facts *facts, struct db_array *list[11])
{
	struct db_array *all[] = {&facts->addresses, &facts->types, &facts->names, &facts->modules, &facts->providers,
		&facts->billable, &facts->kinds, &facts->sources, &facts->versions, &facts->package_names,
		&facts->registries};

	memcpy(list, all, sizeof(all));
	return list;
}

void explorer_facts_init(struct explorer_facts *facts)
{
	struct db_array *list[11];

	*facts = (struct explorer_facts){.resources = 0};
	arrays_of(facts, list);
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		*list[i] = (struct db_array)DB_ARRAY_INIT;
}

void explorer_facts_release(struct explorer_facts *facts)
{
	struct db_array *list[11];

	arrays_of(facts, list);
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		db_array_release(list[i]);
}

static void text_add(struct db_array *array, const char *text)
{
	char cut[MAX_TEXT];

	text_copy(cut, sizeof(cut), text_or_empty(text));
	db_array_add(array, cut);
}

/* ---- modules and providers ---- */

static const char *const public_hosts[] = {"registry.terraform.io/", "registry.opentofu.org/"};

/* "host.example.com/a/b/c" and "host/a/b" have this many parts after the host. */
static size_t parts_count(const char *source)
{
	size_t count = 1;

	for (; *source; source++)
		count += *source == '/';
	return count;
}

/* The number of parts of a registry's address, with its host. */
static size_t registry_parts(const char *kind)
{
	return text_equal(kind, "module") ? 4 : 3;
}

/* A registry's address begins with a host, which has a dot or a port. */
static bool is_of_registry(const char *kind, const char *source)
{
	size_t host = strcspn(source, "/"), dot = strcspn(source, ".:");

	return !strstr(source, "::") && !strstr(source, "//") && *source != '.' && dot < host &&
		parts_count(source) == registry_parts(kind) && !text_starts(source, "terraform.io/builtin/");
}

/* The name of a module is the last but one part of its registry's address, "vpc" of "terraform-aws-modules/vpc/aws". */
static char *name_of(const char *kind, const char *source, bool of_registry)
{
	_cleanup_(freep) char *copy = mem_text(source);
	bool second = of_registry && text_equal(kind, "module");
	char *slash, *name;

	for (size_t len = strlen(copy); len && copy[len - 1] == '/'; len--)
		copy[len - 1] = '\0';
	slash = strrchr(copy, '/');
	if (slash && second) {
		*slash = '\0';
		slash = strrchr(copy, '/');
	}
	name = mem_text(slash ? slash + 1 : copy);
	if (strlen(name) > 4 && text_equal(name + strlen(name) - 4, ".git"))
		name[strlen(name) - 4] = '\0';
	return name;
}

/* Removes "user:password@" of a URL, in place: it may be a secret. */
static void credentials_remove(char *source)
{
	char *host = strstr(source, "://"), *end, *at;

	if (!host)
		return;
	host += strlen("://");
	end = host + strcspn(host, "/");
	at = memrchr(host, '@', (size_t)(end - host));
	if (at)
		memmove(host, at + 1, strlen(at + 1) + 1);
}

/* The value of "ref=" in the query of a source: the version of a module of git. */
static char *ref_of(const char *query)
{
	const char *ref = query ? strstr(query, "ref=") : NULL;

	if (!ref || !strchr("?&", ref[-1]))
		return mem_text("");
	ref += strlen("ref=");
	return mem_printf("%.*s", (int)strcspn(ref, "&"), ref);
}

void explorer_package_read(
	const char *kind, const char *source, const char *version, struct explorer_package *ret_package)
{
	_cleanup_(freep) char *copy = mem_text(text_or_empty(source));
	char *query = strchr(copy, '?');
	bool of_registry = is_of_registry(kind, copy), is_public = false;
	const char *shown = copy;

	ret_package->version = *text_or_empty(version) ? mem_text(version) : ref_of(query);
	if (query)
		*query = '\0';
	credentials_remove(copy);
	for (size_t i = 0; of_registry && i < ARRAY_LEN(public_hosts); i++)
		if (text_starts(copy, public_hosts[i])) {
			shown = copy + (i == 0 ? strlen(public_hosts[i]) : 0);
			is_public = true;
		}
	ret_package->source = mem_text(shown);
	ret_package->name = name_of(kind, copy, of_registry);
	ret_package->registry = !of_registry ? NULL : is_public ? "public" : "private";
}

void explorer_package_release(struct explorer_package *package)
{
	freep(&package->source);
	freep(&package->name);
	freep(&package->version);
}

static void package_add(struct explorer_facts *facts, const char *kind, const char *source, const char *version)
{
	struct explorer_package package;

	if (facts->packages == EXPLORER_MAX_PACKAGES) {
		facts->is_cut = true;
		return;
	}
	explorer_package_read(kind, source, version, &package);
	facts->packages++;
	db_array_add(&facts->kinds, kind);
	text_add(&facts->sources, package.source);
	text_add(&facts->versions, package.version);
	text_add(&facts->package_names, package.name);
	db_array_add(&facts->registries, package.registry);
	explorer_package_release(&package);
}

static void list_add(struct explorer_facts *facts, const char *kind, const json_t *list, json_t *seen)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		const char *source = json_string_at(item, "source");

		if (!*text_or_empty(source))
			continue;
		json_object_set_new(seen, source, json_true());
		package_add(facts, kind, source, json_string_at(item, "version"));
	}
}

void explorer_facts_add_packages(struct explorer_facts *facts, const json_t *packages, const json_t *instances)
{
	json_auto_t *modules = json_object(), *providers = json_object();
	const json_t *instance;
	size_t i;

	list_add(facts, "module", json_at(packages, "modules"), modules);
	list_add(facts, "provider", json_at(packages, "providers"), providers);
	json_array_foreach(instances, i, instance)
	{
		const char *source = json_string_at(instance, "source");

		if (!*text_or_empty(source) || json_object_get(providers, source))
			continue;
		json_object_set_new(providers, source, json_true());
		package_add(facts, "provider", source, NULL);
	}
}

/* ---- resources ---- */

/* Not billed: they manage nothing outside of the state. */
static bool type_is_billable(const char *type)
{
	return !text_equal(type, "null_resource") && !text_equal(type, "terraform_data");
}

void explorer_facts_add_resources(struct explorer_facts *facts, const json_t *instances)
{
	const json_t *instance;
	size_t i;

	json_array_foreach(instances, i, instance)
	{
		const char *type = text_or_empty(json_string_at(instance, "type"));
		struct explorer_package provider;

		if (facts->resources == EXPLORER_MAX_RESOURCES) {
			facts->is_cut = true;
			return;
		}
		facts->resources++;
		explorer_package_read("provider", json_string_at(instance, "source"), NULL, &provider);
		text_add(&facts->addresses, json_string_at(instance, "engine-address"));
		text_add(&facts->types, type);
		text_add(&facts->names, json_string_at(instance, "name"));
		text_add(&facts->modules, json_string_at(instance, "module"));
		text_add(&facts->providers, provider.source);
		db_array_add_bool(&facts->billable, type_is_billable(type));
		explorer_package_release(&provider);
	}
}
