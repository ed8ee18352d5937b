// SPDX-License-Identifier: MPL-2.0
// The shapes of JSON:API documents. Attributes are read by name and checked by the caller that shows them.

export type Linkage = { readonly type: string; readonly id: string };

export type Relationship = {
	readonly data?: Linkage | readonly Linkage[] | null;
};

export type Resource = {
	readonly type: string;
	readonly id: string;
	readonly attributes: Readonly<Record<string, unknown>>;
	readonly relationships?: Readonly<Record<string, Relationship>>;
	readonly links?: Readonly<Record<string, string>>;
};

export type PageNumbers = {
	readonly "current-page": number;
	readonly "page-size": number;
	readonly "prev-page": number | null;
	readonly "next-page": number | null;
	readonly "total-pages"?: number;
	readonly "total-count"?: number;
};

export type Document = {
	readonly data: Resource | readonly Resource[] | null;
	readonly included?: readonly Resource[];
	readonly meta?: { readonly pagination?: PageNumbers; readonly [name: string]: unknown };
};

export function text(resource: Resource | undefined, name: string): string {
	const value = resource?.attributes[name];
	return typeof value === "string" ? value : "";
}

export function number(resource: Resource | undefined, name: string): number | undefined {
	const value = resource?.attributes[name];
	return typeof value === "number" ? value : undefined;
}

export function flag(resource: Resource | undefined, name: string): boolean {
	return resource?.attributes[name] === true;
}

export function list(resource: Resource | undefined, name: string): readonly unknown[] {
	const value = resource?.attributes[name];
	return Array.isArray(value) ? value : [];
}

export function texts(resource: Resource | undefined, name: string): readonly string[] {
	return list(resource, name).filter((item) => typeof item === "string");
}

export function object(resource: Resource | undefined, name: string): Members {
	return membersOf(resource?.attributes[name]);
}

// ---- values of any shape ----

export type Members = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Members {
	return value !== null && typeof value === "object" && !Array.isArray(value);
}

// membersOf: of an object; none of any other value.
export function membersOf(value: unknown): Members {
	return isObject(value) ? value : {};
}

// listIn: the items of a list as objects.
export function listIn(value: unknown): readonly Members[] {
	return Array.isArray(value) ? value.map(membersOf) : [];
}

// textIn: the text of an object's member, or "".
export function textIn(values: Members, name: string): string {
	const value = values[name];
	return typeof value === "string" ? value : "";
}

// ---- rights and relations ----

// may: whether the object's `permissions` or `actions` have the right. Names of roles never decide.
export function may(resource: Resource | undefined, right: string): boolean {
	return object(resource, "permissions")[right] === true;
}

export function can(resource: Resource | undefined, action: string): boolean {
	return object(resource, "actions")[action] === true;
}

export function linkOf(resource: Resource | undefined, relation: string): Linkage | undefined {
	const data = resource?.relationships?.[relation]?.data;
	return data && !Array.isArray(data) ? (data as Linkage) : undefined;
}

export function linksOf(resource: Resource | undefined, relation: string): readonly Linkage[] {
	const data = resource?.relationships?.[relation]?.data;
	return Array.isArray(data) ? data : [];
}
