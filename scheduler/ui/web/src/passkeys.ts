// SPDX-License-Identifier: MPL-2.0
// Forms that a passkey fills in, on pages that the server renders: `data-passkey` says for what. The script asks the
// server for a challenge, the browser for the passkey's answer to it, and sends the answer with the form.

type Purpose = "sign-in" | "second-factor" | "registration";
type GetOptions = { challenge: string; rp: string; verification: UserVerificationRequirement; allowed: string[] };
type CreateOptions = { challenge: string; rp: string; user: string; username: string; known: string[] };

const optionPaths: Readonly<Record<Purpose, string>> = {
	"sign-in": "/app/login/passkey/options",
	"second-factor": "/app/login/passkey/options",
	registration: "/app/settings/two-factor/passkeys/options",
};

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
	return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
}

function textOf(bytes: ArrayBuffer): string {
	const letters = String.fromCharCode(...new Uint8Array(bytes));
	return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const keys = (ids: string[]): PublicKeyCredentialDescriptor[] => ids.map((id) => ({ type: "public-key", id: bytesOf(id) }));

async function optionsFor(purpose: Purpose, form: HTMLFormElement): Promise<unknown> {
	const body = new URLSearchParams({ purpose });
	const csrf = form.querySelector<HTMLInputElement>('input[name="csrf"]');
	if (csrf) {
		body.set("csrf", csrf.value);
	}
	const answer = await fetch(optionPaths[purpose], { method: "POST", body });
	if (answer.status === 401 || answer.status === 403) {
		location.reload(); // the page asks for the password again
	}
	if (!answer.ok) {
		throw new Error("The server refused. Try again in half a minute.");
	}
	return answer.json();
}

async function created(options: CreateOptions): Promise<Record<string, string>> {
	const credential = (await navigator.credentials.create({
		publicKey: {
			challenge: bytesOf(options.challenge),
			rp: { id: options.rp, name: "Runyard" },
			user: { id: bytesOf(options.user), name: options.username, displayName: options.username },
			pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
			excludeCredentials: keys(options.known),
			authenticatorSelection: { residentKey: "preferred", userVerification: "preferred" },
			attestation: "none",
		},
	})) as PublicKeyCredential;
	const response = credential.response as AuthenticatorAttestationResponse;
	return { client_data: textOf(response.clientDataJSON), attestation: textOf(response.attestationObject) };
}

async function asserted(options: GetOptions): Promise<Record<string, string>> {
	const credential = (await navigator.credentials.get({
		publicKey: {
			challenge: bytesOf(options.challenge),
			rpId: options.rp,
			userVerification: options.verification,
			allowCredentials: keys(options.allowed),
		},
	})) as PublicKeyCredential;
	const response = credential.response as AuthenticatorAssertionResponse;
	return {
		credential: textOf(credential.rawId),
		client_data: textOf(response.clientDataJSON),
		authenticator_data: textOf(response.authenticatorData),
		signature: textOf(response.signature),
	};
}

function complain(form: HTMLFormElement, words: string): void {
	let note = form.querySelector<HTMLElement>('[role="alert"]');
	if (!note) {
		note = document.createElement("p");
		note.setAttribute("role", "alert");
		form.append(note);
	}
	note.textContent = words;
}

async function fill(form: HTMLFormElement, purpose: Purpose): Promise<void> {
	const options = await optionsFor(purpose, form);
	const answer = purpose === "registration" ? await created(options as CreateOptions) : await asserted(options as GetOptions);
	for (const [name, value] of Object.entries(answer)) {
		const field = document.createElement("input");
		Object.assign(field, { type: "hidden", name, value });
		form.append(field);
	}
	form.submit();
}

for (const form of document.querySelectorAll<HTMLFormElement>("form[data-passkey]")) {
	if (!window.PublicKeyCredential) {
		continue; // the form of sign-in stays hidden
	}
	form.hidden = false;
	form.addEventListener("submit", (event) => {
		event.preventDefault();
		fill(form, form.dataset.passkey as Purpose).catch((error: unknown) =>
			complain(form, error instanceof DOMException ? "The passkey was not used." : String((error as Error).message)),
		);
	});
}
