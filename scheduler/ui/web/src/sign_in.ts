// SPDX-License-Identifier: MPL-2.0
// The sign-in form returns to the address that the browser asked for. The server does not see its fragment.

const field = document.querySelector<HTMLInputElement>('input[name="return"]');
if (field && location.hash && !field.value.includes("#")) {
	field.value += location.hash;
}

// Pages whose session has ended lead to sign-in.
new BroadcastChannel("runyard").postMessage("sign-in");
