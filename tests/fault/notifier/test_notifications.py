# SPDX-License-Identifier: MPL-2.0
"""Notifications during faults: each arrives, and normally once."""

from support.wait import until


class NotifiedWorkspace:
    """A workspace with a hook for its new runs."""

    def __init__(self, api, hook):
        self.api = api
        self.hook = hook
        self.workspace = api.workspace()
        self.configuration = api.upload(self.workspace, {"main.tf": ""})
        data = {"type": "notification-configurations", "attributes": {
            "name": "a hook", "enabled": False, "destination-type": "generic", "url": hook.url, "triggers": ["run:created"]}}
        self.id = api.post(f"workspaces/{self.workspace}/notification-configurations", {"data": data}).data["id"]
        data["attributes"] = {"enabled": True}
        api.patch(f"notification-configurations/{self.id}", {"data": data})
        hook.calls.clear()

    def run(self):
        return self.api.run(self.workspace, self.configuration)

    def responses(self):
        """Without the verification's notification."""
        return self.api.get(f"notification-configurations/{self.id}").data["attributes"]["delivery-responses"][:-1]


def test_notifications_of_a_killed_notifier_are_sent_by_another(scheduler, api, hooks, notifier):
    scheduler.all[0].options["lease_seconds"] = 2
    scheduler.all[0].restart()
    workspace = NotifiedWorkspace(api, hooks.hook())
    workspace.hook.open.clear()
    first = notifier()
    workspace.run()
    until(lambda: workspace.hook.calls, "the first notifier sends it")
    first.kill()
    notifier()
    until(lambda: len(workspace.hook.calls) == 2, "the second one sends it again")
    workspace.hook.open.set()
    until(lambda: workspace.responses(), "it is delivered")
    assert workspace.hook.calls[0].body == workspace.hook.calls[1].body


def test_a_draining_notifier_returns_unsent_notifications(scheduler, api, hooks, notifier):
    workspace = NotifiedWorkspace(api, hooks.hook())
    workspace.hook.code = 503
    first = notifier()
    workspace.run()
    until(lambda: len(workspace.hook.calls) >= 2, "it is tried")
    first.stop()
    workspace.hook.code = 200
    tries = len(workspace.hook.calls)
    notifier()
    until(lambda: len(workspace.hook.calls) == tries + 1, "another one sends it")
    until(lambda: [one["code"] for one in workspace.responses()][:1] == ["200"], "it is delivered")


def test_a_report_is_delivered_to_a_restarted_scheduler(scheduler, api, hooks, notifier):
    workspace = NotifiedWorkspace(api, hooks.hook())
    workspace.hook.open.clear()
    notifier()
    workspace.run()
    until(lambda: workspace.hook.calls, "it is sent")
    scheduler.all[0].kill()
    workspace.hook.open.set()
    scheduler.all[0].start()
    until(lambda: workspace.responses(), "the scheduler has the report")
    assert len(workspace.hook.calls) == 1


def test_a_notification_without_a_notifier_expires_with_a_hint(scheduler, api, hooks, ask):
    scheduler.all[0].options["notification_seconds"] = 1
    scheduler.all[0].restart()
    workspace = NotifiedWorkspace(api, hooks.hook())
    workspace.run()
    # The scheduler gives notifiers half a minute more to report the outcome.
    ask("update notifications set give_up_at = give_up_at - interval '30 seconds'")
    until(lambda: workspace.responses(), "it is given up")
    assert "is a notifier running?" in workspace.responses()[0]["body"]
    assert workspace.hook.calls == []
