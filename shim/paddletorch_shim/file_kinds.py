"""What a file is that is no checkpoint, from how it begins."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

_BEGINNINGS: Sequence[tuple[bytes, str]] = (
    (b"version https://git-lfs.github.com/spec/", "a Git LFS pointer, not the file it stands for: run git lfs pull"),
    (b"\x93NUMPY", "a numpy array (.npy): load it, and save it in a dict under the parameter's name"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file, as Keras writes them"),
    (b"GGUF", "a GGUF file, of llama.cpp"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "compressed with gzip: unpack it first"),
    (b"BZh", "compressed with bzip2: unpack it first"),
    (b"\xfd7zXZ\x00", "compressed with xz: unpack it first"),
    (b"\x28\xb5\x2f\xfd", "compressed with zstd: unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive: unpack it first"),
    (b"Rar!\x1a\x07", "a RAR archive: unpack it first"),
    (b"%PDF-", "a PDF document"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
    (b"\x7fELF", "a program or library"),
)

HEAD = 512
"""As many bytes as tell."""


def other_than_a_checkpoint(head: bytes, size: int) -> str | None:
    """What a file is by its first bytes; None if it may be a checkpoint.

    Args:
        head: the first ``HEAD`` bytes, or all.
        size: of the whole file.
    """
    if not size:
        return "empty"
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning):
            return kind
    if head[257:262] == b"ustar":
        return "a tar archive: unpack it first, and convert the checkpoint in it"
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    if text.startswith((b"<!doctype html", b"<html", b"<?xml", b"<head", b"<error")):
        return "a web page or XML, perhaps the error message of a download"
    if is_safetensors(head, size):
        return "a safetensors file: give it a name that ends in .safetensors"
    return None


def is_safetensors(head: bytes, size: int) -> bool:
    """Whether it begins as safetensors do: the length of a JSON object, and the object."""
    return head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= size - 8


def text_in(head: bytes) -> str | None:
    """The first line of a file that is text; None if it is not."""
    try:
        text = head.decode("utf-8-sig") if len(head) < HEAD else head.decode("utf-8-sig", "ignore")
    except UnicodeDecodeError:
        return None
    if not all(character.isprintable() or character.isspace() for character in text):
        return None
    lines = text.strip().splitlines()
    return lines[0][:60] if lines else ""


def by_name(path: Path) -> str | None:
    """What files of this name are that no pickle is in; None if nothing is known of it."""
    return {
        ".pdiparams": "of an exported program (paddle.jit.save): convert a checkpoint that paddle.save wrote",
        ".pdmodel": "the program of an exported model (paddle.jit.save), without weights",
        ".onnx": "an ONNX model",
        ".npz": "an archive of numpy arrays",
    }.get(path.suffix.lower())


def other_than_torchs(names: Sequence[str]) -> str | None:
    """What a zip archive with these names is; None for a checkpoint of torch."""
    ends = {name.rpartition("/")[2] for name in names}
    if "constants.pkl" in ends and any("/code/" in f"/{name}" for name in names):
        return "a TorchScript archive, which holds code: save model.state_dict() of the model that it was made from"
    if "data.pkl" in ends:
        return None
    if ends and all(end.endswith(".npy") for end in ends):
        return "an archive of numpy arrays (.npz): load it, and save a dict of them"
    if "config.json" in ends and any(end.endswith((".h5", ".hdf5")) for end in ends):
        return "a Keras model"
    shown = ", ".join(list(names)[:3]) + (" …" if len(names) > 3 else "")
    return f"a zip archive of something else than a torch checkpoint ({shown or 'nothing'})"


def check_directory(file_size: int, tail: bytes) -> None:
    """Make sure that all readers of a zip archive find the same directory in it.

    Some count from the file's beginning and others from its end, which differs if something stands in between.

    Args:
        tail: the last bytes of the file, 64 KiB and a few.

    Raises:
        BadZipFile: they may not.
    """
    at = tail.rfind(b"PK\x05\x06")
    if at < 0:
        raise zipfile.BadZipFile("it has no directory at its end")
    position = file_size - len(tail) + at
    size, start = (int.from_bytes(tail[at + n : at + n + 4], "little") for n in (12, 16))
    locator = tail[at - 20 : at] if at >= 20 else b""
    if locator.startswith(b"PK\x06\x07"):
        record = tail[at - 76 : at - 20] if at >= 76 else b""
        position -= 76
        if not record.startswith(b"PK\x06\x06") or int.from_bytes(locator[8:16], "little") != position:
            raise zipfile.BadZipFile("its directory is not where the file says")
        size, start = (int.from_bytes(record[n : n + 8], "little") for n in (40, 48))
    if start + size != position:
        raise zipfile.BadZipFile("its directory is not where the file says")
