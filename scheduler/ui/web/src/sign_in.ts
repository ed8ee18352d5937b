// SPDX-License-Identifier: MPL-2.0
// The sign-in forms return to the address that the browser asked for. The server does not see its fragment.

for (const field of document.querySelectorAll<HTMLInputElement>('input[name="return"]')) {
	if (location.hash && !field.value.includes("#")) {
		field.value += location.hash;
	}
}

// Pages whose session has ended lead to sign-in.
new BroadcastChannel("runyard").postMessage("sign-in");
