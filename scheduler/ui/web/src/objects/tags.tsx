// SPDX-License-Identifier: MPL-2.0
// The section of an object's page that shows its tags, and lets those with the right change them.

import { useId, useRef, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Problems } from "../components/error_panel.tsx";
import { announce } from "../components/live_region.tsx";
import { Content } from "../components/states.tsx";
import { Chip } from "../components/status_mark.tsx";
import { address, change, read, segment } from "../core/api.ts";
import { useAttempt, useDocument } from "../core/hooks.ts";
import { may, type Resource, text } from "../core/resource.ts";
import { isOwn, type Tag, tagHref, tagOf, tagTitle } from "./tag_search.ts";

type Props = {
	readonly tags: readonly Tag[];
	readonly path: string; // of the page that lists what has a tag
	readonly able: boolean; // to change them
	readonly valued?: boolean; // a new tag may have a value
	readonly onAdd: (tag: Tag) => Promise<unknown>;
	readonly onRemove: (tag: Tag) => Promise<unknown>;
};

type TextProps = { readonly label: string; readonly longest: number; readonly value: string; readonly onValue: (value: string) => void };

function TagText({ label, longest, value, onValue }: TextProps) {
	const id = useId();
	return (
		<>
			<label class="sr-only" for={id}>
				{label}
			</label>
			<input id={id} placeholder={label} maxLength={longest} value={value} onInput={(event) => onValue(event.currentTarget.value)} />
		</>
	);
}

const blank: Tag = { key: "", value: "" };

// A tag leads to the list of what has it.
export function TagsSection({ tags, path, able, valued = false, onAdd, onRemove }: Props) {
	const [typed, setTyped] = useState(blank);
	const { error, attempt } = useAttempt();
	const heading = useRef<HTMLHeadingElement>(null);
	const remove = (tag: Tag) =>
		attempt(async () => {
			await onRemove(tag);
			heading.current?.focus(); // the button that had the focus is gone
		});
	const add = () =>
		attempt(async () => {
			await onAdd(typed);
			setTyped(blank);
		});
	return (
		<section aria-labelledby="tags">
			<h2 id="tags" tabIndex={-1} ref={heading}>
				Tags
			</h2>
			<p>
				{tags.map((tag) => (
					<span key={tag.key} class="tag">
						<a href={tagHref(path, tag)}>
							<Chip>{tagTitle(tag)}</Chip>
						</a>
						{able && (
							<button type="button" class="icon-button" aria-label={`Remove the tag ${tag.key}`} onClick={() => remove(tag)}>
								✕
							</button>
						)}
					</span>
				))}
				{tags.length === 0 && <span class="muted">No tags</span>}
			</p>
			{able && (
				<form
					class="actions"
					onSubmit={(event) => {
						event.preventDefault();
						void add();
					}}
				>
					<TagText label="New tag" longest={valued ? 128 : 255} value={typed.key} onValue={(key) => setTyped({ ...typed, key })} />
					{valued && (
						<TagText label="Value, if it has one" longest={256} value={typed.value} onValue={(value) => setTyped({ ...typed, value })} />
					)}
					<Button reason={typed.key.trim() ? undefined : "type a tag first"} onPress={add}>
						Add tag
					</Button>
					<input type="submit" hidden /> {/* Enter in a field sends the form */}
				</form>
			)}
			<Problems of={error} />
		</section>
	);
}

type RegistryProps = {
	readonly org: string;
	readonly item: Resource; // a module or provider
	readonly path: string; // of its list's page
};

// The tags of a module or provider. Organizations with which a module is shared do not see its tags.
export function RegistryTags({ org, item, path }: RegistryProps) {
	const own = isOwn(org, item);
	const bindings = address(`/${item.type}/${segment(item.id)}/tag-bindings`);
	const list = useDocument(own ? bindings : undefined);
	// A change replaces all tags, so it begins with those that are there now.
	const save = async (changed: (before: readonly Tag[]) => readonly Tag[], said: string) => {
		const { data } = await read(bindings);
		const tags = changed((data as readonly Resource[]).map(tagOf));
		const linked = tags.map((attributes) => ({ type: "tag-bindings", attributes }));
		const relationships = { "tag-bindings": { data: linked } };
		await change("PATCH", item.links?.self ?? "", { data: { type: item.type, attributes: {}, relationships } });
		announce(said);
		await list.reload();
	};
	const without = (tags: readonly Tag[], { key }: Tag) => tags.filter((tag) => tag.key !== key);
	return own ? (
		<Content of={list}>
			{() => (
				<TagsSection
					tags={list.items.map(tagOf)}
					path={path}
					able={may(item, "can-delete")}
					valued
					onAdd={(tag) => save((before) => [...without(before, tag), tag], `${text(item, "name")} has the tag ${tagTitle(tag)}`)}
					onRemove={(tag) => save((before) => without(before, tag), `${tag.key}: removed`)}
				/>
			)}
		</Content>
	) : null;
}
