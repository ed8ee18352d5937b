// SPDX-License-Identifier: MPL-2.0
import { Trail } from "../org_settings/audit_trail.tsx";
import { AdminFrame } from "./admin_frame.tsx";

export default function AdminAuditTrail() {
	return (
		<AdminFrame section="audit-trail" intro="Events of all organizations, and those of the site.">
			<Trail path="/admin" />
		</AdminFrame>
	);
}
