"""Checkpoint files: read without running any code of theirs, convert the scaler state in them, write new ones."""

from __future__ import annotations

import io
import os
import pickle
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from paddletorch_rules import Framework, other_framework

from paddletorch_shim import file_kinds, state
from paddletorch_shim.limits import LimitError, Limits, check_content
from paddletorch_shim.pickle_scan import DamagedError, Scan

_ZIP = b"PK\x03\x04"
_LEGACY_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""How torch's files begin: since 1.6, and before."""

_LEGACY_PICKLES = 5
"""A mark, the format's version, the machine, the content, the keys of the storages that follow."""

_DIRECTORY_TAIL = 2**16 + 256
"""The bytes at the end of a zip archive in which its directory is announced."""

_SAFE_GLOBALS = frozenset(
    {
        ("builtins", "tuple"),
        ("collections", "OrderedDict"),
        ("_codecs", "encode"),
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        *((f"numpy.{core}.multiarray", name) for core in ("core", "_core") for name in ("_reconstruct", "scalar")),
        *((f"numpy.{core}.numeric", "_frombuffer") for core in ("core", "_core")),
    }
)
"""All that a Paddle checkpoint of tensors, arrays and numbers needs when it is unpickled."""


class CheckpointError(ValueError):
    """A file that cannot be read safely, holds no scaler state, or cannot be written."""


class NoScalerError(CheckpointError):
    """No scaler state is where one was looked for."""


def convert(
    source: Path, target: Path, to: Framework, key: str | None, limits: Limits
) -> tuple[str, state.ScalerState]:
    """Read the scaler state in ``source``, write it to ``target`` as ``to``'s.

    Args:
        key: where it is in a larger dict, dots between the keys; None looks for the only one.
        limits: how much the file may hold.

    Returns:
        The key it was found under ("" for the whole file), and the state.

    Raises:
        CheckpointError, StateConversionError, KeyError, RuntimeError, TypeError, ValueError, OSError: the
            input cannot be used or the output not be made; nothing is written then.
    """
    check_free(source, target)
    found_at, saved = find(load(source, limits), key)
    origin = other_framework(to)
    if state.kind(saved) == to:
        raise CheckpointError(f"{source} holds a scaler state of {to} already: there is nothing to convert")
    known = state.read(origin, saved)
    converted = state.torch_to_paddle(saved) if to == "paddle" else state.paddle_to_torch(saved)
    write(target, _torch_bytes(converted) if to == "torch" else _paddle_bytes(converted))
    return found_at, known


def check_free(source: Path, target: Path) -> None:
    """Raises CheckpointError if ``target`` exists already."""
    if os.path.lexists(target):
        same = target.exists() and source.exists() and target.samefile(source)
        raise CheckpointError(f"{target} {'is the input' if same else 'exists'}: choose another name for the output")


def load(path: Path, limits: Limits) -> Any:
    """A checkpoint's content: torch's read with ``weights_only=True``, Paddle's by a restricted unpickler.

    Before anything is unpickled, what that would take is added up; what was loaded is counted before it is walked.

    Raises:
        CheckpointError: the file is no checkpoint, would run code, holds more than it may, is damaged, or needs a
            torch that is not installed.
        OSError: it cannot be read.
    """
    head, size = beginning(path, limits)
    kind = file_kinds.other_than_a_checkpoint(head, size)
    if kind is not None:
        raise CheckpointError(f"{path} is no checkpoint: it is {kind}")
    try:
        if head.startswith(_ZIP):
            content = _load_zip(path, size, limits)
        elif head.startswith(_LEGACY_TORCH):
            _scan(path, size, limits, pickles=_LEGACY_PICKLES)
            content = _load_torch(path)
        else:
            _scan(path, size, limits, pickles=1)
            content = _load_paddle(path)
        check_content(content, limits, size)
    except LimitError as error:
        raise CheckpointError(f"{path} is not read: {error}") from None
    except DamagedError as error:
        raise CheckpointError(_not_a_pickle(path, head, str(error))) from None
    except zipfile.BadZipFile as error:
        raise CheckpointError(f"{path} is a damaged zip archive, perhaps not wholly downloaded: {error}") from None
    return content


def beginning(path: Path, limits: Limits) -> tuple[bytes, int]:
    """The first bytes of a file, and its size.

    Raises:
        CheckpointError: it is no ordinary file, or larger than it may be.
        OSError: it cannot be read.
    """
    if not path.is_file():
        raise CheckpointError(f"{path} is no ordinary file" if path.exists() else f"{path} does not exist")
    size = path.stat().st_size
    try:
        limits.check_size("it", size, size)
    except LimitError as error:
        raise CheckpointError(f"{path} is not read: {error}") from None
    with path.open("rb") as file:
        return file.read(file_kinds.HEAD), size


def _scan(path: Path, size: int, limits: Limits, *, pickles: int) -> None:
    scan, left = Scan(limits, size), size
    with path.open("rb") as file:
        for _ in range(pickles):
            left = scan.pickle(file, left)


def _not_a_pickle(path: Path, head: bytes, why: str) -> str:
    kind = file_kinds.by_name(path)
    text = file_kinds.text_in(head)
    if kind is None and text is not None:
        kind = f"a text file that begins with {text!r}"
    if kind is not None:
        return f"{path} is no checkpoint: it is {kind}"
    return f"{path} is not a checkpoint that can be read: {why}"


def _load_zip(path: Path, size: int, limits: Limits) -> Any:
    with path.open("rb") as file:
        file.seek(max(0, size - _DIRECTORY_TAIL))
        file_kinds.check_directory(size, file.read())
        with zipfile.ZipFile(file) as archive:
            entries = archive.infolist()
            kind = file_kinds.other_than_torchs([entry.filename for entry in entries])
            if kind is not None:
                raise CheckpointError(f"{path} is no checkpoint: it is {kind}")
            limits.check_size("unpacking it", sum(entry.file_size for entry in entries), size)
            limits.check_objects("the files in it are", len(entries))
            scan = Scan(limits, size)
            for entry in entries:
                if entry.filename.lower().endswith(".pkl"):
                    with archive.open(entry) as pickled:
                        scan.pickle(pickled, entry.file_size)
    return _load_torch(path)


def _load_paddle(path: Path) -> Any:
    with path.open("rb") as file:
        try:
            return _Restricted(file, encoding="latin1").load()
        except CheckpointError as error:
            raise CheckpointError(f"{path}: {error}") from None
        except ImportError as error:
            raise CheckpointError(
                f"{path} holds arrays, and {error.name} is not installed: pip install numpy"
            ) from None
        except Exception as error:  # a damaged file raises nearly anything
            raise CheckpointError(f"{path} is not a checkpoint that can be read: {error}") from error


def find(content: Any, key: str | None) -> tuple[str, Mapping[str, Any]]:
    """The scaler state in a checkpoint, and the key that leads to it.

    Raises:
        CheckpointError: there is none under ``key``, or without a key none or more than one.
    """
    if key is not None:
        return key, _at(content, key)
    if isinstance(content, Mapping) and state.kind(content) is not None:
        return "", content
    candidates = list(_search(content, ""))
    if len(candidates) == 1:
        return candidates[0]
    if candidates:
        raise CheckpointError(f"several scaler states: choose one with --key: {', '.join(k for k, _ in candidates)}")
    raise NoScalerError(f"no scaler state in it: {_describe(content)}")


def _search(content: Any, prefix: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if not isinstance(content, Mapping):
        return
    for name, value in content.items():
        if isinstance(value, Mapping) and isinstance(name, str):
            if state.kind(value) is not None:
                yield prefix + name, value
            else:
                yield from _search(value, f"{prefix}{name}.")


def _at(content: Any, key: str) -> Mapping[str, Any]:
    here = content
    for part in key.split("."):
        if not isinstance(here, Mapping) or part not in here:
            raise CheckpointError(f"no key {key!r}: {_describe(here)}")
        here = here[part]
    if not isinstance(here, Mapping) or state.kind(here) is None:
        raise NoScalerError(f"{key!r} holds no scaler state: {_describe(here)}")
    return here


def _describe(content: Any) -> str:
    if isinstance(content, Mapping):
        names = [str(name) for name in content]
        return f"a dict of {', '.join(names[:8])}{' …' if len(names) > 8 else ''}" if names else "an empty dict"
    return f"a {type(content).__name__}"


class _Restricted(pickle.Unpickler):
    """Unpickles plain containers, numbers and numpy arrays, and refuses every other class and function."""

    def find_class(self, module: str, name: str) -> Any:
        module = "builtins" if module == "__builtin__" else module  # so called in protocol 2
        if (module, name) == ("builtins", "eval"):
            return _data_of  # Paddle pickles a dense tensor as eval("data", {"data": array})
        if (module, name) not in _SAFE_GLOBALS:
            raise CheckpointError(
                f"refusing to unpickle {module}.{name}: it could run code. Save state dicts alone, "
                "of tensors, arrays and numbers, and convert that file"
            )
        return super().find_class(module, name)


def _data_of(expression: str, names: Mapping[str, Any]) -> Any:
    if expression != "data" or set(names) != {"data"}:
        raise CheckpointError("refusing to evaluate an expression from a checkpoint")
    return names["data"]


def _load_torch(path: Path) -> Any:
    torch = torch_for(f"{path} is a torch checkpoint")
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        reason = str(error).strip().splitlines()[-1]
        raise CheckpointError(
            f"{path} holds more than tensors and plain values, and its code is not run ({reason}). "
            "Save state dicts alone and convert that file"
        ) from error
    except Exception as error:  # a damaged file raises nearly anything
        raise CheckpointError(f"{path} is not a checkpoint that can be read: {error}") from error


def torch_for(why: str) -> Any:
    try:
        import torch
    except ImportError:
        raise CheckpointError(f"{why}, and torch is not installed: pip install 'paddletorch[torch]'") from None
    return torch


def _torch_bytes(converted: Mapping[str, Any]) -> bytes:
    file = io.BytesIO()
    torch_for("the output is a torch checkpoint").save(dict(converted), file)
    return file.getvalue()


def _paddle_bytes(converted: Mapping[str, Any]) -> bytes:
    # What paddle.save writes for a dict of numbers and arrays; it needs no Paddle to write.
    return pickle.dumps(dict(converted), protocol=4)


def write(target: Path, content: bytes) -> None:
    """Write a new file, whole or not at all; never over one that has appeared meanwhile.

    Raises:
        CheckpointError: there is one.
        OSError: it cannot be written.
    """
    from paddletorch.output.write import write_new  # the command line's own way; loading a checkpoint needs none

    try:
        write_new(target, content)
    except FileExistsError:
        raise CheckpointError(f"{target} exists: choose another name for the output") from None
