// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { ApiError } from "../core/errors.ts";
import { useAttempt, useFocusBack } from "../core/hooks.ts";
import { Button } from "./button.tsx";
import { Problems } from "./error_panel.tsx";

type Props = {
	readonly title: string;
	readonly children: ComponentChildren | ((error: ApiError | undefined) => ComponentChildren);
	readonly confirm?: string; // the word of the button; none: a dialog to read
	readonly danger?: boolean;
	readonly reason?: string | undefined; // why it can't be confirmed yet
	readonly stoppable?: boolean; // it can be closed while onConfirm runs, which then ends early (useStopped)
	readonly fields?: readonly string[]; // pointers of errors that the children show at their fields
	readonly onConfirm?: () => Promise<unknown>;
	readonly onClose: () => void;
};

// A modal dialog. It closes after onConfirm has succeeded and shows the error otherwise. Meanwhile it stays open, because
// closing it would not take the request back.
export function Dialog({ title, children, confirm, danger = false, reason, stoppable = false, fields = [], onConfirm, onClose }: Props) {
	const element = useRef<HTMLDialogElement>(null);
	const { error, attempt } = useAttempt();
	const [busy, setBusy] = useState(false);
	const closed = useRef(false);
	const titleId = useId();
	useFocusBack(element); // the button that opened it may be gone after the action
	useLayoutEffect(() => element.current?.showModal(), []);
	const run = () =>
		attempt(async () => {
			setBusy(true);
			try {
				await onConfirm?.();
			} finally {
				setBusy(false);
			}
			if (!closed.current) {
				onClose(); // after close() the page may show another dialog
			}
		});
	const close = () => {
		closed.current = true;
		onClose();
	};
	const kept = busy && !stoppable;
	const onCancel = (event: Event) => kept && event.preventDefault(); // the key Escape; pressed twice, it closes nevertheless
	return (
		<dialog ref={element} aria-labelledby={titleId} onCancel={onCancel} onClose={close}>
			<h2 id={titleId}>{title}</h2>
			<div class="dialog-body">{typeof children === "function" ? children(error) : children}</div>
			<Problems of={error} fields={fields} />
			<div class="dialog-actions">
				<Button reason={kept ? "the request has been sent" : undefined} onPress={close}>
					{confirm ? "Cancel" : "Close"}
				</Button>
				{confirm && (
					<Button kind={danger ? "danger" : "primary"} reason={reason} onPress={run}>
						{confirm}
					</Button>
				)}
			</div>
		</dialog>
	);
}
