// SPDX-License-Identifier: MPL-2.0
// The objects that the pages have read, by type and id. Views read from here, so one answer updates all that show it.

import { Listeners } from "./listeners.ts";
import { type Document, type Linkage, linkOf, linksOf, type Resource } from "./resource.ts";

export class Store {
	readonly #objects = new Map<string, Resource>();
	readonly #listeners = new Listeners();
	readonly listen = this.#listeners.listen;
	#told = false;

	// put keeps the relationships of an object that is included without them.
	put(document: Document): void {
		const { data, included = [] } = document;
		for (const resource of [...included, ...(Array.isArray(data) ? data : data ? [data as Resource] : [])]) {
			if (!resource.attributes) {
				continue; // an answer that only names an object
			}
			const key = `${resource.type}/${resource.id}`;
			const old = this.#objects.get(key);
			this.#objects.set(key, old ? { ...resource, relationships: { ...old.relationships, ...resource.relationships } } : resource);
		}
		this.#tell();
	}

	get(link: Linkage | undefined): Resource | undefined {
		return link && this.#objects.get(`${link.type}/${link.id}`);
	}

	one(resource: Resource | undefined, relation: string): Resource | undefined {
		return this.get(linkOf(resource, relation));
	}

	many(resource: Resource | undefined, relation: string): readonly Resource[] {
		return linksOf(resource, relation).flatMap((link) => this.get(link) ?? []);
	}

	clear(): void {
		this.#objects.clear();
	}

	// Several answers of one moment lead to one update of the views.
	#tell(): void {
		if (this.#told) {
			return;
		}
		this.#told = true;
		queueMicrotask(() => {
			this.#told = false;
			this.#listeners.tell();
		});
	}
}

export const store = new Store();
