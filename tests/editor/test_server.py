"""The language server, asked by a real client over stdio."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import paddletorch
import pytest
from lsprotocol import types
from pygls.lsp.client import LanguageClient

SECONDS = 60
"""How long a test waits for the server before it fails."""

TEXT = """\
import torch
import torch.nn as nn

net = nn.Linear(3, 4)
x = torch.rand(2, 3)
y = torch.empty_quantized(x, x)
z = x.view(-1)
"""
RESOLVING = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        workspace_edit=types.WorkspaceEditClientCapabilities(document_changes=True)
    ),
    text_document=types.TextDocumentClientCapabilities(
        code_action=types.CodeActionClientCapabilities(
            resolve_support=types.ClientCodeActionResolveOptions(properties=["edit"])
        )
    ),
)


class Editor:
    """A client with open files, as an editor has them."""

    def __init__(self, client: LanguageClient, folder: Path) -> None:
        self.client = client
        self.folder = folder
        self.texts: dict[str, str] = {}
        self.messages: list[str] = []
        self._versions: dict[str, int] = {}
        self._published: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()

        @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: types.PublishDiagnosticsParams) -> None:
            self._published.put_nowait(params)

        @client.feature(types.WINDOW_SHOW_MESSAGE)
        def told(params: types.ShowMessageParams) -> None:
            self.messages.append(params.message)

    def uri(self, name: str) -> str:
        return name if name.startswith("untitled:") else (self.folder / name).as_uri()

    async def open(self, name: str, text: str) -> list[types.Diagnostic]:
        self.texts[name], self._versions[name] = text, 1
        item = types.TextDocumentItem(self.uri(name), "python", 1, text)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        return await self.diagnostics(name)

    async def type(self, name: str, text: str) -> list[types.Diagnostic]:
        """Change the text without saving it."""
        self.change(name, text)
        return await self.diagnostics(name)

    def change(self, name: str, text: str) -> None:
        self.texts[name] = text
        self._versions[name] += 1
        document = types.VersionedTextDocumentIdentifier(self._versions[name], self.uri(name))
        whole = types.TextDocumentContentChangeWholeDocument(text)
        self.client.text_document_did_change(types.DidChangeTextDocumentParams(document, [whole]))

    async def diagnostics(self, name: str) -> list[types.Diagnostic]:
        """The next diagnostics of the file's last version."""
        while True:
            params = await asyncio.wait_for(self._published.get(), SECONDS)
            if params.uri == self.uri(name) and params.version == self._versions[name]:
                return list(params.diagnostics)

    async def hover(self, name: str, line: int, character: int) -> str:
        params = types.HoverParams(types.TextDocumentIdentifier(self.uri(name)), types.Position(line, character))
        found = await self.client.text_document_hover_async(params)
        assert found is None or isinstance(found.contents, types.MarkupContent)
        return "" if found is None else found.contents.value

    async def actions(
        self, name: str, line: int, last: int | None = None, only: list[str] | None = None
    ) -> dict[str, types.CodeAction]:
        span = types.Range(types.Position(line, 0), types.Position(line if last is None else last, 1))
        document = types.TextDocumentIdentifier(self.uri(name))
        params = types.CodeActionParams(document, span, types.CodeActionContext([], only))
        found = await self.client.text_document_code_action_async(params)
        return {one.title: one for one in found or () if isinstance(one, types.CodeAction)}

    async def applied(self, name: str, action: types.CodeAction) -> str:
        """The text after an action, resolved if it is not yet."""
        if action.edit is None:
            action = await self.client.code_action_resolve_async(action)
        assert action.edit is not None
        if action.edit.document_changes:
            (change,) = action.edit.document_changes
            assert isinstance(change, types.TextDocumentEdit)
            assert change.text_document.version == self._versions[name]
            edits: Any = change.edits
        else:
            assert action.edit.changes is not None
            edits = action.edit.changes[self.uri(name)]
        return with_edits(self.texts[name], edits)


def with_edits(text: str, edits: list[types.TextEdit]) -> str:
    """The text with edits whose columns count UTF-16 units, from behind."""
    lines = text.splitlines(keepends=True)

    def offset(place: types.Position) -> int:
        line = lines[place.line] if place.line < len(lines) else ""
        before = line.encode("utf-16-le")[: 2 * place.character].decode("utf-16-le")
        return sum(map(len, lines[: place.line])) + len(before)

    for edit in sorted(edits, key=lambda e: (e.range.start.line, e.range.start.character), reverse=True):
        text = text[: offset(edit.range.start)] + edit.new_text + text[offset(edit.range.end) :]
    return text


@asynccontextmanager
async def editor(
    folder: Path, *arguments: str, capabilities: types.ClientCapabilities = RESOLVING
) -> AsyncIterator[Editor]:
    client = LanguageClient("tests", "1")
    one = Editor(client, folder)
    await client.start_io(sys.executable, "-m", "paddletorch", "lsp", *arguments, cwd=str(folder))
    root = types.WorkspaceFolder(folder.as_uri(), "root")
    await asyncio.wait_for(
        client.initialize_async(types.InitializeParams(capabilities, workspace_folders=[root])), SECONDS
    )
    client.initialized(types.InitializedParams())
    yield one
    await asyncio.wait_for(client.shutdown_async(None), SECONDS)
    client.exit(None)
    await asyncio.wait_for(client.stop(), SECONDS)


Test = Callable[[Path], Coroutine[Any, Any, None]]


def in_loop(test: Test) -> Callable[[Path], None]:
    """Run a test that awaits."""

    def run(tmp_path: Path) -> None:
        waited: Awaitable[None] = asyncio.wait_for(test(tmp_path), 4 * SECONDS)

        async def whole() -> None:
            await waited

        asyncio.run(whole())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


def spans(found: list[types.Diagnostic]) -> set[tuple[str, int, int, int]]:
    return {(str(one.code), one.range.start.line, one.range.start.character, one.range.end.character) for one in found}


@in_loop
async def test_diagnostics_follow_what_is_typed(tmp_path: Path) -> None:
    async with editor(tmp_path, "--to", "paddle") as one:
        found = await one.open("a.py", TEXT)
        assert {
            ("TRN201", 5, 4, 25),
            ("TEN104", 6, 4, 10),
            ("NNL101", 3, 6, 15),
        } <= spans(found)
        by_code = {str(d.code): d for d in found}
        assert by_code["TRN201"].severity is types.DiagnosticSeverity.Warning
        assert by_code["TEN104"].severity is types.DiagnosticSeverity.Hint
        assert by_code["TEN104"].message == "Would convert tensor.view -> tensor.reshape"
        page = by_code["TRN201"].code_description
        assert page is not None and page.href.startswith("file:") and page.href.endswith("/TRN201.md")
        assert not (tmp_path / "a.py").exists(), "the text was never saved"
        assert await one.type("a.py", "x = 1\n") == []
        broken = await one.type("a.py", "import torch\nx = torch.rand(\n")
        assert [d.code for d in broken] == ["SRC001"] and broken[0].severity is types.DiagnosticSeverity.Error
        for part in ("import torch\nx", "import torch\nx = torch.rand(2"):
            one.change("a.py", part)
        last = await one.type("a.py", "import torch\nx = torch.rand(2, 3)\n")
        assert ("TEN101" in {d.code for d in last}) or ("RND101" in {d.code for d in last})


@in_loop
async def test_positions_count_utf_16_units(tmp_path: Path) -> None:
    text = "import torch\r\ns = '𝛼𝛽ü'; y = torch.empty_quantized(s, '𝛾')\r\n\x0c\r\nz = torch.empty_quantized(s, s)"
    async with editor(tmp_path, "--to", "paddle") as one:
        found = spans([d for d in await one.open("a.py", text) if d.code == "TRN201"])
        start = len("s = '𝛼𝛽ü'; y = ".encode("utf-16-le")) // 2
        assert found == {("TRN201", 1, start, start + 21), ("TRN201", 3, 4, 25)}
        assert "quantized" in await one.hover("a.py", 1, start + 20)
        assert await one.hover("a.py", 1, start - 3) == ""
        ignored = (await one.actions("a.py", 1))["Ignore TRN201 here"]
        new = await one.applied("a.py", ignored)
        assert new == text.replace("'𝛾')", "'𝛾')  # paddletorch: ignore[TRN201]")


@in_loop
async def test_hover_shows_what_would_be_written_and_the_page(tmp_path: Path) -> None:
    async with editor(tmp_path, "--to", "paddle") as one:
        await one.open("a.py", TEXT)
        finding = await one.hover("a.py", 5, 10)
        assert finding.startswith("**TRN201** torch.empty_quantized has no counterpart in paddle")
        assert "# TRN201" in finding and "](" not in finding.replace("](http", "")
        use = await one.hover("a.py", 6, 5)
        assert "```python\nz = x.reshape([-1])\n```" in use and "# TEN104" in use
        assert await one.hover("a.py", 2, 0) == ""


@pytest.mark.parametrize("resolving", [True, False])
def test_a_file_is_converted_as_by_the_command(tmp_path: Path, resolving: bool) -> None:
    async def test(tmp_path: Path) -> None:
        capabilities = RESOLVING if resolving else types.ClientCapabilities()
        async with editor(tmp_path, "--to", "paddle", capabilities=capabilities) as one:
            await one.open("a.py", TEXT)
            found = await one.actions("a.py", 0)
            (title,) = (title for title in found if title.startswith("Convert the whole file"))
            assert found[title].kind == "source.paddletorch"
            assert (found[title].edit is None) is resolving
            new = await one.applied("a.py", found[title])
            assert new == paddletorch.convert(TEXT, to="paddle").output
            assert set(await one.actions("a.py", 0, 6, only=["source.fixAll"])) == set()
            assert set(await one.actions("a.py", 0, 6, only=["source"])) == {title}

    in_loop(test)(tmp_path)


@in_loop
async def test_one_use_is_converted_and_the_rest_is_left(tmp_path: Path) -> None:
    async with editor(tmp_path, "--to", "paddle") as one:
        await one.open("a.py", TEXT)
        action = (await one.actions("a.py", 6))["Convert tensor.view -> tensor.reshape"]
        assert await one.applied("a.py", action) == TEXT.replace("x.view(-1)", "x.reshape([-1])")
        action = (await one.actions("a.py", 4))["Convert torch.rand -> paddle.rand"]
        new = await one.applied("a.py", action)
        assert "import torch\n" in new and "import paddle\n" in new and "x = paddle.rand([2, 3])\n" in new
        assert "z = x.view(-1)" in new and "net = nn.Linear(3, 4)" in new
        compile(new, "a.py", "exec")
        action = (await one.actions("a.py", 3))["Convert torch.nn.Linear -> paddle.nn.Linear"]
        new = await one.applied("a.py", action)
        assert "import paddle.nn as nn" in new and "x = torch.rand(2, 3)" in new


@in_loop
async def test_a_code_is_ignored_on_its_line(tmp_path: Path) -> None:
    async with editor(tmp_path, "--to", "paddle") as one:
        await one.open("a.py", TEXT)
        action = (await one.actions("a.py", 5))["Ignore TRN201 here"]
        new = await one.applied("a.py", action)
        assert new == TEXT.replace("empty_quantized(x, x)", "empty_quantized(x, x)  # paddletorch: ignore[TRN201]")
        assert "TRN201" not in {d.code for d in await one.type("a.py", new)}
        action = (await one.actions("a.py", 6))["Ignore TEN104 here"]
        new = await one.applied("a.py", action)
        found = await one.type("a.py", new)
        assert not {"TEN104", "API214"} & {d.code for d in found}


@in_loop
async def test_settings_are_those_of_the_files_folder(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "paddletorch.toml").write_text('to = "paddle"\nexclude = ["left.py"]\n')
    (tmp_path / "new" / "paddletorch.toml").write_text('to = "paddle"\nignore = ["TRN201"]\n')
    async with editor(tmp_path) as one:
        assert "TRN201" in {d.code for d in await one.open("a.py", TEXT)}
        assert "TRN201" not in {d.code for d in await one.open("new/a.py", TEXT)}
        assert await one.open("left.py", TEXT) == []
        (tmp_path / "paddletorch.toml").write_text('to = "torch"\n')
        changed = types.FileEvent(one.uri("paddletorch.toml"), types.FileChangeType.Changed)
        one.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([changed]))
        assert await one.diagnostics("a.py") == []
        (tmp_path / "paddletorch.toml").write_text("to = 1\n")
        assert await one.type("a.py", TEXT + "\n") == []
        assert any("must be one of 'torch', 'paddle'" in message for message in one.messages)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
@in_loop
async def test_settings_of_another_user_are_not_used(tmp_path: Path) -> None:
    (tmp_path / "paddletorch.toml").write_text('to = "torch"\n')
    os.chown(tmp_path / "paddletorch.toml", 12345, 12345)
    async with editor(tmp_path, "--to", "paddle") as one:
        assert "TRN201" in {d.code for d in await one.open("a.py", TEXT)}
        assert any("belongs to another user (12345)" in message for message in one.messages)


@in_loop
async def test_tables_outside_of_the_open_folders_are_not_used(tmp_path: Path) -> None:
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    for folder in (elsewhere, here):
        folder.mkdir()
    (elsewhere / "pyproject.toml").write_text('[tool.paddletorch]\nto = "torch"\ntables = ["mine.toml"]\n')
    (elsewhere / "mine.toml").write_text("")
    async with editor(here, "--to", "paddle") as one:
        assert await one.open("../elsewhere/a.py", TEXT)
        assert any("was left out: it names tables" in message for message in one.messages)


@in_loop
async def test_without_a_direction_it_is_asked_for_once(tmp_path: Path) -> None:
    async with editor(tmp_path) as one:
        assert await one.open("plain.py", "x = 1\n") == [] and not one.messages
        assert await one.open("a.py", TEXT) == []
        assert await one.type("a.py", TEXT + "\n") == []
        assert len(one.messages) == 1 and "say where the code goes" in one.messages[0]


@in_loop
async def test_unsaved_neighbours_count(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def make():\n    return object()\n")
    user = "import torch\nfrom model import make\nx = make().repeat(2, 3)\n"
    async with editor(tmp_path, "--to", "paddle") as one:
        before = await one.open("user.py", user)
        assert not any("repeat" in d.message for d in before if d.severity is types.DiagnosticSeverity.Hint)
        await one.open("model.py", "import torch\n\n\ndef make():\n    return torch.zeros(6)\n")
        after = await one.type("user.py", user + "\n")
        assert any("repeat" in d.message for d in after if d.severity is types.DiagnosticSeverity.Hint)


@in_loop
async def test_a_text_that_was_never_a_file(tmp_path: Path) -> None:
    async with editor(tmp_path, "--to", "paddle") as one:
        assert "TRN201" in {d.code for d in await one.open("untitled:Untitled-1", TEXT)}


@in_loop
async def test_a_baseline_hides_what_it_knows(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    command = [sys.executable, "-m", "paddletorch", "convert", "--to", "paddle", "--write-baseline"]
    subprocess.run([*command, "--baseline", "known.json", "a.py"], cwd=tmp_path, check=False, capture_output=True)
    (tmp_path / "paddletorch.toml").write_text('to = "paddle"\nbaseline = "known.json"\n')
    async with editor(tmp_path) as one:
        assert "TRN201" not in {d.code for d in await one.open("a.py", TEXT)}
        assert "TRN201" in {d.code for d in await one.type("a.py", TEXT + "w = torch.empty_quantized(z, z)\n")}


def test_it_ends_with_its_input(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-m", "paddletorch", "lsp"], input=b"", capture_output=True, timeout=SECONDS)
    assert ran.returncode == 0 and ran.stdout == b""


def test_it_ends_when_the_editor_says_so(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    texts = [json.dumps({"jsonrpc": "2.0", **one}).encode() for one in asked]
    sent = b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(text), text) for text in texts)
    ran = subprocess.run([sys.executable, "-m", "paddletorch", "lsp"], input=sent, capture_output=True, timeout=SECONDS)
    assert (ran.returncode, ran.stderr) == (0, b"")


def test_without_pygls_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['pygls'] = None; sys.argv = ['paddletorch', 'lsp']\n"
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}from paddletorch.__main__ import main; main()"],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert ran.returncode == 2 and "pip install 'paddletorch[lsp]'" in ran.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals there")
@pytest.mark.parametrize("number", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_ends_it_though_the_editor_keeps_its_end_open(tmp_path: Path, number: str) -> None:
    def prepare() -> None:
        for one in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # whoever runs the tests may ignore them
            signal.signal(one, signal.SIG_DFL)

    request = json.dumps(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"processId": None, "capabilities": {}}}
    ).encode()
    command = [sys.executable, "-m", "paddletorch", "lsp", "--to", "paddle"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=prepare
    ) as server:
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        server.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(request), request))
        server.stdin.flush()
        assert server.stdout.readline().startswith(b"Content-Length")
        server.send_signal(signal.Signals[number])
        try:
            assert server.wait(SECONDS) == 128 + signal.Signals[number]
        finally:
            server.kill()
        assert server.stderr.read() == b""
