"""What Undine is in an editor that has no plugin of ours: tasks by code action, questions as messages, edits as the editor's own.

Every case runs in each editor; what differs between them is written down here or in `person.py`.
"""
import os

import pytest
from conftest import TEXT, Scene
from scripted_model import Gate, calls, says

# What each editor answers to an edit with a stale version, which none of them makes.
STALE = {"neovim": "applied: true", "helix": "applied: false", "emacs": "an error"}
GREETS = TEXT.replace("'Hello'", "'Hello ' + name")


def edit(old: str, new: str, path: str = "shop.py") -> list[dict]:
    return calls("edit_file", {"path": path, "target_content": old, "replacement_content": new})


def greet_by_name(scene: Scene) -> None:
    """The person asks for something, and the model wants one edit; the question about it is shown then."""
    scene.model.will(edit("'Hello'", "'Hello ' + name"))
    scene.person.goes_to(3)
    scene.person.takes("Document with Undine")
    scene.wire.sent("window/showMessageRequest")


def ended(scene: Scene) -> None:
    """A turn has ended when its progress has."""

    def over(all: list) -> bool:
        values = [it["params"]["value"]["kind"] for _, it in all if it.get("method") == "$/progress"]
        return bool(values) and values[-1] == "end"

    scene.wire.wait(over, "the end of the turn's progress")


def cancelled(scene: Scene) -> None:
    """The person is told; in Emacs the echo area shows at once what the command gave instead."""
    said = lambda all: any("Cancelled." in it["params"]["message"] for _, it in all if it.get("method") == "window/showMessage")
    scene.wire.wait(said, "the word that it was cancelled")
    if os.environ["EDITOR"] != "emacs":
        scene.person.sees("Cancelled.")


def told(scene: Scene, n: int) -> str:
    """What the model was told last before its answer number `n`."""
    return str(scene.model.request(n)["messages"][-1]["content"])


def test_an_answer_is_shown_as_a_message(scene: Scene):
    scene.model.will(says("It says ", "Hello."))
    scene.person.goes_to(3)
    scene.person.takes("Ask Undine about this")
    scene.person.sees("It says Hello.")
    assert "shop.py" in told(scene, 0)
    ended(scene)
    assert scene.read() == TEXT


def test_an_approved_edit_is_in_the_buffer_unsaved_and_one_undo_takes_it_back(scene: Scene):
    greet_by_name(scene)
    scene.model.will(says("It greets."))
    scene.person.answers("Edit shop.py", "Allow once")
    scene.person.sees("'Hello ' + name")
    scene.person.sees("It greets.")
    assert scene.read() == TEXT
    assert scene.person.saves("shop.py") == GREETS
    scene.person.undoes()
    scene.person.sees_no("'Hello ' + name")
    assert scene.person.saves("shop.py") == TEXT


def test_no_is_told_to_the_model_and_changes_nothing(scene: Scene):
    greet_by_name(scene)
    scene.model.will(says("As you like."))
    scene.person.answers("Edit shop.py", "No")
    scene.person.sees("As you like.")
    assert scene.wire.count("workspace/applyEdit") == 0
    assert scene.read() == TEXT


@pytest.mark.skipif(os.environ["EDITOR"] != "emacs", reason="the others choose nothing by themselves")
def test_a_stray_enter_approves_nothing(scene: Scene):
    greet_by_name(scene)
    scene.model.will(says("As you like."))
    scene.person.sees("Choose an option")
    scene.person.terminal.keys("\r")
    scene.person.sees("As you like.")
    assert scene.wire.count("workspace/applyEdit") == 0
    assert scene.read() == TEXT


def test_a_closed_question_decides_nothing_and_is_answered_by_code_action(scene: Scene):
    greet_by_name(scene)
    scene.person.closes("Edit shop.py")
    if os.environ["EDITOR"] != "emacs":
        assert scene.wire.reply("window/showMessageRequest")["result"] is None
    assert scene.wire.count("workspace/applyEdit") == 0
    scene.model.will(says("It greets."))
    scene.person.takes("Allow once: Edit shop.py")
    scene.person.sees("'Hello ' + name")
    scene.person.sees("It greets.")
    assert [it for it in scene.person.offered() if "Edit shop.py" in it] == []


def test_typing_above_an_edit_that_is_under_way_loses_neither(scene: Scene):
    typing_meets_an_edit(scene, 1, "\rimport re")
    if os.environ["EDITOR"] == "neovim":
        is_told_to_read_again(scene)
        assert scene.person.saves("shop.py") == TEXT.replace("import os\n", "import os\nimport re\n")
        return
    scene.person.sees("It greets.")
    scene.person.sees("'Hello ' + name")
    assert scene.person.saves("shop.py") == GREETS.replace("import os\n", "import os\nimport re\n")


def test_typing_in_the_line_of_an_edit_that_is_under_way_asks_again(scene: Scene):
    typing_meets_an_edit(scene, 3, "  # mine")
    if os.environ["EDITOR"] == "neovim":
        is_told_to_read_again(scene)
        assert scene.person.saves("shop.py") == TEXT.replace("'Hello'", "'Hello'  # mine")
        return
    scene.wire.sent("window/showMessageRequest", 2)
    scene.person.answers("Edit shop.py", "Allow once")
    scene.person.sees("It greets.")
    assert scene.person.saves("shop.py") == GREETS.replace("name\n", "name  # mine\n")


def typing_meets_an_edit(scene: Scene, line: int, text: str) -> None:
    """The person types while an approved edit is on its way, so that it arrives with a version that is no more."""
    greet_by_name(scene)
    late = scene.wire.hold("workspace/applyEdit")
    scene.person.answers("Edit shop.py", "Allow once")
    late.arrived()
    scene.person.types(line, text)
    scene.model.will(says("It greets."))
    late.pass_on()
    reply = scene.wire.reply("workspace/applyEdit")
    answer = f"applied: {str(reply['result']['applied']).lower()}" if reply.get("result") else "an error"
    assert answer == STALE[os.environ["EDITOR"]]


def is_told_to_read_again(scene: Scene) -> None:
    """Neovim says that it has made the edit, so the server can't know where it went; the model is told, and the text is the person's."""
    assert "Look at the file" in told(scene, 1)
    scene.person.sees("It greets.")


def cat_what_is_typed(scene: Scene) -> None:
    """The person types and does not save, and the model wants to run a command that sees the file; the question is shown then."""
    scene.person.types(3, "  # mine")
    scene.model.will(calls("execute_command", {"command": "cat shop.py"}))
    scene.person.goes_to(3)
    scene.person.takes("Document with Undine")
    question = scene.wire.sent("window/showMessageRequest")
    assert "shop.py has unsaved edits" in question["message"]
    assert [it["title"] for it in question["actions"] if it["title"] != "No"][:2] == ["Save and run", "Run anyway"]


def test_a_command_that_is_to_see_unsaved_work_runs_when_the_person_has_saved(scene: Scene):
    cat_what_is_typed(scene)
    scene.person.closes("Run cat shop.py")
    n = scene.wire.count("window/showMessage")
    scene.person.takes("Save and run: Run cat shop.py")
    assert scene.wire.sent("window/showMessage", n + 1)["message"] == "Undine: Save shop.py, then the command runs."
    scene.person.reads("Save shop.py, then the command runs.")
    assert scene.read() == TEXT
    scene.model.will(says("I see it."))
    saved = scene.person.saves("shop.py")
    assert saved == TEXT.replace("'Hello'", "'Hello'  # mine")
    scene.person.sees("I see it.")
    # A command has a terminal, and its line breaks are cleaned again.
    assert told(scene, 1) == saved


def test_a_command_that_is_run_anyway_says_what_it_did_not_see(scene: Scene):
    cat_what_is_typed(scene)
    scene.model.will(says("I see it."))
    scene.person.answers("Run cat shop.py", "Run anyway")
    scene.person.sees("I see it.")
    assert told(scene, 1) == TEXT + "[The editor has unsaved edits that the command did not see: shop.py]"
    assert scene.read() == TEXT


def test_a_file_that_the_agent_makes_appears(scene: Scene):
    scene.model.will(calls("write_file", {"path": "new/fresh.py", "content": "fresh = True\n"}))
    scene.model.will(says("There it is."))
    scene.person.goes_to(3)
    scene.person.takes("Write tests with Undine")
    scene.person.answers("Write new/fresh.py", "Allow once")
    scene.person.sees("There it is.")
    assert scene.read("new/fresh.py") == "fresh = True\n"
    scene.person.opens("new/fresh.py")
    scene.person.sees("fresh = True")


def test_a_file_that_only_the_editor_has_is_written_there(scene: Scene):
    scene.person.opens("fresh.py")
    scene.model.will(calls("read_file", {"path": "fresh.py"}))
    scene.model.will(calls("write_file", {"path": "fresh.py", "content": "fresh = True\n"}, id="call_2"))
    scene.model.will(says("There it is."))
    scene.person.takes("Write tests with Undine")
    scene.person.answers("Update fresh.py", "Allow once")
    scene.person.sees("fresh = True")
    scene.person.sees("There it is.")
    assert not (scene.folder / "fresh.py").exists()
    assert scene.person.saves("fresh.py") == "fresh = True\n"


def test_a_file_that_is_not_open_is_changed_on_the_disk(scene: Scene):
    (scene.folder / "other.py").write_text(TEXT)
    scene.model.will(edit("'Hello'", "'Hello ' + name", "other.py"))
    scene.model.will(says("It greets."))
    scene.person.goes_to(3)
    scene.person.takes("Document with Undine")
    scene.person.answers("Edit other.py", "Allow once")
    scene.person.sees("It greets.")
    assert scene.read("other.py") == GREETS
    scene.person.opens("other.py")
    scene.person.sees("'Hello ' + name")


def test_cancelling_ends_the_answer(scene: Scene):
    gate = Gate()
    scene.model.will(says("I think"), gate, says(" about it."))
    scene.person.goes_to(3)
    scene.person.takes("Ask Undine about this")
    assert gate.reached.wait(30)
    scene.person.cancels()
    cancelled(scene)


def test_cancelling_takes_a_question_away(scene: Scene):
    greet_by_name(scene)
    scene.person.closes("Edit shop.py")
    scene.person.cancels()
    cancelled(scene)
    assert [it for it in scene.person.offered() if "Edit shop.py" in it] == []
    assert scene.read() == TEXT


def test_a_change_is_shown_at_its_line_and_reverted_by_code_action(scene: Scene):
    greeted(scene)
    scene.person.sees_mark(3, "Agent change: +1 -1")
    scene.person.takes("Revert this change")
    scene.person.sees("return 'Hello'")
    scene.person.sees_no("'Hello ' + name")
    assert scene.read() == TEXT
    assert scene.person.saves("shop.py") == TEXT
    assert reviewed(scene) == []


def test_a_change_that_is_kept_stays_and_is_no_more_to_review(scene: Scene):
    greeted(scene)
    scene.person.takes("Keep this change")
    scene.wire.sent("workspace/executeCommand", 2)
    scene.wire.reply("workspace/executeCommand", 2)
    assert reviewed(scene) == []
    assert scene.person.saves("shop.py") == GREETS


def test_only_the_change_here_is_reverted(scene: Scene):
    greet_by_name(scene)
    scene.model.will(edit("'Bye'", "'Bye ' + name"))
    scene.person.answers("Edit shop.py", "Allow once")
    scene.wire.sent("window/showMessageRequest", 2)
    scene.model.will(says("It greets."))
    scene.person.answers("Edit shop.py", "Allow once")
    scene.person.sees("It greets.")
    scene.person.sees_mark(7, "Agent change: +1 -1")
    scene.person.takes("Revert this change")
    scene.person.sees_no("'Bye ' + name")
    assert scene.person.saves("shop.py") == GREETS
    scene.person.goes_to(3)
    assert "Revert this change" in scene.person.offered()


def test_reverting_a_saved_change_leaves_it_to_the_person_to_save(scene: Scene):
    greeted(scene)
    assert scene.person.saves("shop.py") == GREETS
    scene.person.goes_to(3)
    scene.person.takes("Revert this change")
    scene.person.sees_no("'Hello ' + name")
    assert scene.read() == GREETS
    assert scene.person.saves("shop.py") == TEXT


@pytest.mark.skipif(os.environ["EDITOR"] != "emacs", reason="the others tell of an edit at once")
def test_an_edit_that_is_told_late_is_not_made_twice(scene: Scene):
    greet_by_name(scene)
    scene.model.will(edit("'Bye'", "'Bye ' + name"))
    scene.person.answers("Edit shop.py", "Allow once")
    scene.wire.sent("window/showMessageRequest", 2)
    scene.model.will(says("It greets."))
    scene.person.answers("Edit shop.py", "Allow once", and_moves=False)
    scene.wire.reply("workspace/applyEdit", 2)
    # Nothing tells that nothing comes; what is too much comes when the time for an edit is over.
    assert not scene.wire.comes("workspace/applyEdit", 3, within=8)
    scene.person.goes_to(1)
    scene.person.sees("It greets.")
    assert scene.person.saves("shop.py") == GREETS.replace("'Bye'", "'Bye ' + name")


def greeted(scene: Scene) -> None:
    """The agent has made one change, which is to be reviewed; the cursor is in it."""
    greet_by_name(scene)
    scene.model.will(says("It greets."))
    scene.person.answers("Edit shop.py", "Allow once")
    scene.person.sees("It greets.")
    scene.person.sees("'Hello ' + name")


def reviewed(scene: Scene) -> list[str]:
    """What is offered for review at the line of the change."""
    scene.person.goes_to(3)
    return [it for it in scene.person.offered() if it.startswith(("Keep", "Revert"))]
