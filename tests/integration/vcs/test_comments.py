# SPDX-License-Identifier: MPL-2.0
"""The one comment of a pull request: real scheduler and notifiers, fakes of the providers."""

import pytest

from support.at_once import at_once
from support.vcs_fakes import FAKES, GitHub
from support.wait import until


@pytest.fixture
def pulled(watch):
    """pulled(GitHub) is a connected repository with a pull request, number 1."""
    def make(kind):
        watched = watch(kind)
        watched.workspace("connected")
        watched.repository.copy.git("push", "--quiet", "origin", "HEAD:refs/heads/topic")
        watched.pull = watched.repository.pull("topic")
        return watched

    return make


def planned(watched, name, **attributes):
    """A run of another workspace, in an event of the pull request."""
    workspace = watched.org.workspace(name)
    return watched.run(workspace, plan_only=True, **attributes)


def event(watched, *runs, kind="pr_open"):
    return watched.event(runs, kind=kind, number=watched.pull.number, sha=watched.pull.head)


def texts(watched):
    return [each["text"] for each in watched.pull.comments]


def one_comment_is_edited_in_place(watched, worker):
    run = planned(watched, "network")
    event(watched, run)
    until(lambda: texts(watched), "the comment is there")
    worker.plan(run)
    until(lambda: "+1 ~0 -0" in texts(watched)[0], lambda: f"it shows the changes: {texts(watched)}")
    watched.quiet()
    (text,) = texts(watched)
    assert f"/app/{watched.org.organization}/network/runs/{run}" in text
    event(watched, run, kind="pr_close")
    until(lambda: "closed" in texts(watched)[0], "it says that the pull request is closed")
    watched.quiet()
    assert len(texts(watched)) == 1


def test_one_comment_is_edited_in_place(pulled, notifier, api_site):
    worker = api_site.fake_worker()
    notifier()
    at_once(lambda kind: one_comment_is_edited_in_place(pulled(kind), worker), FAKES)


def a_pull_request_that_affects_no_workspace_gets_no_comment(watched, _worker):
    event(watched)
    until(lambda: watched.repository.statuses, "its status is there")
    watched.quiet()
    assert not texts(watched)


def hostile_texts_stay_texts(watched, worker):
    run = planned(watched, "network")
    worker.end(worker.take(run, "plan"), "failed", error="```\n# Big\n@everyone <script>alert(1)</script>\n```\n| a | b |")
    event(watched, run)
    until(lambda: texts(watched), "the comment is there")
    (text,) = texts(watched)
    block = text.split("```")
    assert len(block) == 3 and "@everyone" in block[1], "all of the error is in one block of code"


def a_comment_that_a_user_deleted_is_made_again(watched, worker):
    run = planned(watched, "network")
    event(watched, run)
    until(lambda: texts(watched), "the comment is there")
    watched.quiet()
    watched.pull.comments.clear()
    worker.plan(run)
    until(lambda: texts(watched) and "+1 ~0 -0" in texts(watched)[0], "there is a new one")
    watched.quiet()
    assert len(texts(watched)) == 1


def a_comment_that_another_user_copied_is_not_taken_for_ours(watched, _worker):
    first = planned(watched, "network")
    event(watched, first)
    until(lambda: texts(watched), "the comment is there")
    (copied,) = texts(watched)
    watched.repository.copy.git("push", "--quiet", "origin", "HEAD:refs/heads/other")
    watched.pull = watched.repository.pull("other")
    watched.pull.comments.append({"id": next(watched.fake.numbers), "text": copied, "user": "mallory", "edits": 0})
    event(watched, planned(watched, "storage"))
    until(lambda: len(texts(watched)) == 2, lambda: f"there is one of ours: {texts(watched)}")
    watched.quiet()
    assert [each["user"] for each in watched.pull.comments] == ["mallory", "robot"] and texts(watched)[0] == copied


def test_texts_and_changes_of_users(pulled, notifier, api_site):
    worker = api_site.fake_worker()
    notifier()
    at_once(lambda scenario: scenario(pulled(GitHub), worker),
            [a_pull_request_that_affects_no_workspace_gets_no_comment, hostile_texts_stay_texts, a_comment_that_a_user_deleted_is_made_again,
             a_comment_that_another_user_copied_is_not_taken_for_ours])


@pytest.mark.parametrize("answered", [True, False], ids=["answered", "unanswered"])
def test_a_notifier_that_is_killed_after_it_sent_the_comment_makes_no_second_one(pulled, notifier, api_site, answered):
    """`answered`: the provider's answer arrived, but was never reported. Else the connection broke off behind the request."""
    watched = pulled(GitHub)
    run = planned(watched, "network")
    fake, made = watched.fake, []
    whole = fake.answer

    def answer(request):
        result = whole(request)
        if request.method == "POST" and request.path.endswith("/comments") and not made:
            made.append(request)
            first.kill()
            return result if answered else "hang up"
        return result

    fake.answer = answer
    first = notifier()
    event(watched, run)
    until(lambda: made, "the comment was sent")
    api_site.change("update vcs_calls set lease_until = now() where repository_id = %s and delivery = 'claimed'", watched.id)
    api_site.fake_worker().plan(run)
    notifier("notifier-2")
    until(lambda: texts(watched) and "+1 ~0 -0" in texts(watched)[0], lambda: f"it shows the changes: {texts(watched)}")
    watched.quiet()
    assert len(texts(watched)) == 1
    assert len(fake.calls("POST", "/comments$")) == 1
