// SPDX-License-Identifier: MPL-2.0
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";

type Look = {
	readonly children: ComponentChildren;
	readonly kind?: "plain" | "primary" | "danger";
	readonly reason?: string | undefined; // why it is disabled; the button stays focusable and says so
	readonly label?: string; // for icons
	readonly id?: string;
};

type Props = Look & { readonly onPress: () => unknown };

// A button that is busy while its action runs, so that a second click does nothing. Focus stays on it.
export function Button({ children, onPress, kind = "plain", reason, label, id }: Props) {
	const [busy, setBusy] = useState(false);
	const running = useRef(false);
	const press = async () => {
		if (running.current || reason) {
			return;
		}
		running.current = true;
		setBusy(true);
		try {
			await onPress();
		} finally {
			running.current = false;
			setBusy(false);
		}
	};
	return (
		<button
			type="button"
			class={`button ${kind}`}
			id={id}
			aria-label={label && reason ? `${label} (not possible: ${reason})` : label}
			aria-disabled={busy || reason ? "true" : undefined}
			aria-busy={busy || undefined}
			title={reason}
			onClick={press}
		>
			{children}
			{reason && !label && <span class="sr-only"> (not possible: {reason})</span>}
		</button>
	);
}

type ToggleProps = { readonly on: boolean; readonly onToggle: () => void; readonly children: ComponentChildren };

export function Toggle({ on, onToggle, children }: ToggleProps) {
	return (
		<button type="button" class="toggle" aria-pressed={on} onClick={onToggle}>
			{children}
		</button>
	);
}

type DialogProps = Look & { readonly dialog: (close: () => void) => ComponentChildren };

// A button that opens a dialog.
export function DialogButton({ dialog, ...look }: DialogProps) {
	const [open, setOpen] = useState(false);
	return (
		<>
			<Button {...look} onPress={() => setOpen(true)} />
			{open && dialog(() => setOpen(false))}
		</>
	);
}
