"""The server: listens for what happens to open files, and answers from what is known of their text."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls import uris
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

import paddletorch
from paddletorch.editor.actions import KINDS, actions, edits
from paddletorch.editor.checked import Check, Checked, Unusable
from paddletorch.editor.diagnostics import SOURCE, diagnostics, hover
from paddletorch.editor.positions import Positions

DELAY = 0.25
"""Seconds without a change before a text is checked."""

_SUFFIXES = (".py", ".pyi")


@dataclass(frozen=True, slots=True)
class Hooks:
    """What the server asks of the command that starts it."""

    check: Check
    changed: Callable[[str], None] = lambda path: None
    """Told of each path whose text, in the editor or on the disk, is another one now."""
    folders: Callable[[list[str]], None] = lambda folders: None
    """Told of the folders that are open."""


class Server(LanguageServer):
    """A language server for Python files; :meth:`start_io` runs it."""

    def __init__(self, hooks: Hooks) -> None:
        # whole texts: pygls splits lines where Python does not, as at a form feed, and would put edits elsewhere
        super().__init__("paddletorch", paddletorch.__version__, types.TextDocumentSyncKind.Full)
        self.hooks = hooks
        self._known: dict[str, tuple[int | None, Checked | None]] = {}
        self._waiting: dict[str, asyncio.Task[None]] = {}
        self._said: set[str] = set()
        self._worker = ThreadPoolExecutor(max_workers=1)
        _listen(self)

    def texts(self, path: str) -> bytes | None:
        """The text of an open file by its absolute path, saved or not."""
        for document in list(self.workspace.text_documents.values()):
            if _path(document) == path:
                text: str = document.source
                return text.encode("utf-8", "surrogatepass")
        return None

    def refresh(self, uri: str, delay: float = DELAY) -> None:
        """Check a file once it has not changed for a while, and show what was found."""
        if (before := self._waiting.pop(uri, None)) is not None:
            before.cancel()
        self._waiting[uri] = asyncio.get_running_loop().create_task(self._refresh(uri, delay))

    def forget(self, uri: str) -> None:
        """Show nothing of a file any more."""
        if (before := self._waiting.pop(uri, None)) is not None:
            before.cancel()
        self._known.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def refresh_all(self) -> None:
        """Check all open files again: something around them is another."""
        self._known.clear()
        for uri in list(self.workspace.text_documents):
            self.refresh(uri)

    async def checked(self, uri: str) -> Checked | None:
        """What is known of the text of a file as it is now; None for one that is not checked."""
        document = self.workspace.get_text_document(uri)
        version = document.version
        if uri in self._known and self._known[uri][0] == version:
            return self._known[uri][1]
        if not _is_python(document):
            return None
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(
                self._worker, self.hooks.check, _path(document), document.source, frozenset[int]()
            )
        except Unusable as problem:
            self._say(str(problem), types.MessageType.Warning)
            found = None
        for remark in found.remarks if found is not None else ():
            self._say(remark, types.MessageType.Info)
        self._known[uri] = version, found
        return found

    def positions(self, uri: str) -> Positions:
        """The positions in the text of a file, in the units that the client counts."""
        codec = self.workspace.position_codec
        return Positions(self.workspace.get_text_document(uri).source, codec.client_num_units)

    async def action_edit(self, data: Any) -> types.WorkspaceEdit | None:
        """The edit of an action that was offered; None if the text cannot have it any more."""
        uri = str(data["uri"])
        document = self.workspace.get_text_document(uri)
        checked = await self.checked(uri)
        if checked is None:
            return None
        found = await asyncio.get_running_loop().run_in_executor(
            self._worker,
            edits,
            data,
            checked,
            document.source,
            _path(document),
            self.positions(uri),
            self.hooks.check,
        )
        return None if found is None else self._workspace_edit(uri, document.version, found)

    @property
    def resolves_edits(self) -> bool:
        """Whether the client asks for the edit of an action when it is chosen."""
        text = self.client_capabilities.text_document
        support = text.code_action.resolve_support if text and text.code_action else None
        return support is not None and "edit" in support.properties

    def _workspace_edit(self, uri: str, version: int | None, found: list[types.TextEdit]) -> types.WorkspaceEdit:
        workspace = self.client_capabilities.workspace
        if workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes:
            document = types.OptionalVersionedTextDocumentIdentifier(uri, version)
            return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(document, found)])
        return types.WorkspaceEdit(changes={uri: found})

    async def _refresh(self, uri: str, delay: float) -> None:
        await asyncio.sleep(delay)
        version = self.workspace.get_text_document(uri).version
        checked = await self.checked(uri)
        if uri not in self.workspace.text_documents or self.workspace.get_text_document(uri).version != version:
            return  # a later text is on its way
        shown = [] if checked is None else diagnostics(checked, self.positions(uri))
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, shown, version))

    def _say(self, message: str, kind: types.MessageType) -> None:
        """Show a message once."""
        if message not in self._said:
            self._said.add(message)
            self.window_show_message(types.ShowMessageParams(kind, f"{SOURCE}: {message}"))


def _listen(server: Server) -> None:
    """Say which messages the server answers, and how."""

    @server.feature(types.INITIALIZED)
    async def initialized(params: types.InitializedParams) -> None:
        folders = [folder.uri for folder in server.workspace.folders.values()]
        root = server.workspace.root_uri
        server.hooks.folders([path for uri in folders or ([root] if root else []) if (path := uris.to_fs_path(uri))])
        workspace = server.client_capabilities.workspace
        watched = workspace.did_change_watched_files if workspace else None
        if watched is not None and watched.dynamic_registration:
            patterns = [types.FileSystemWatcher(f"**/{name}") for name in ("paddletorch.toml", "pyproject.toml")]
            options = types.DidChangeWatchedFilesRegistrationOptions(patterns)
            registration = types.Registration("settings", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            await server.client_register_capability_async(types.RegistrationParams([registration]))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        _changed(server, params.text_document.uri, 0)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    async def changed(params: types.DidChangeTextDocumentParams) -> None:
        _changed(server, params.text_document.uri, DELAY)

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.hooks.changed(_path(server.workspace.get_text_document(params.text_document.uri)))
        server.refresh_all()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    async def closed(params: types.DidCloseTextDocumentParams) -> None:
        server.forget(params.text_document.uri)

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def watched(params: types.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            server.hooks.changed(uris.to_fs_path(change.uri) or change.uri)
        server.refresh_all()

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hovered(params: types.HoverParams) -> types.Hover | None:
        uri = params.text_document.uri
        checked = await server.checked(uri)
        return None if checked is None else hover(checked, server.positions(uri), params.position)

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=list(KINDS), resolve_provider=True),
    )
    async def asked(params: types.CodeActionParams) -> list[types.CodeAction]:
        uri = params.text_document.uri
        checked = await server.checked(uri)
        if checked is None:
            return []
        text = server.workspace.get_text_document(uri).source
        shown = [one for one in params.context.diagnostics if one.source == SOURCE]
        found = actions(uri, checked, text, params.range, shown, params.context.only)
        if server.resolves_edits:
            return found
        for action in found:
            action.edit = await server.action_edit(action.data)
        return [action for action in found if action.edit is not None]

    @server.feature(types.CODE_ACTION_RESOLVE)
    async def chosen(action: types.CodeAction) -> types.CodeAction:
        action.edit = await server.action_edit(action.data)
        return action


def _changed(server: Server, uri: str, delay: float) -> None:
    server.hooks.changed(_path(server.workspace.get_text_document(uri)))
    server.refresh(uri, delay)


def _is_python(document: TextDocument) -> bool:
    return document.language_id == "python" or str(document.path or "").endswith(_SUFFIXES)


def _path(document: TextDocument) -> str:
    """Where a file stands; a name in angle brackets for a text that stands nowhere yet."""
    if not document.uri.startswith("file:"):
        return f"<{document.uri}>"
    return os.path.normpath(str(Path(uris.to_fs_path(document.uri) or document.path).absolute()))
