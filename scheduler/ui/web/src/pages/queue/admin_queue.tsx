// SPDX-License-Identifier: MPL-2.0
import { AdminFrame } from "../admin/admin_frame.tsx";
import { QueueView } from "./queue_view.tsx";

export default function AdminQueue() {
	return (
		<AdminFrame section="queue">
			<QueueView queueUrl="/admin/queue" workersUrl="/admin/agents" topic="site" site />
		</AdminFrame>
	);
}
