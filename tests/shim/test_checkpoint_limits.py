"""What hostile and mistaken files cost: nothing is written, and neither time nor memory is spent on them."""

from __future__ import annotations

import io
import pickle
import resource
import struct
import subprocess
import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
import torch
from click.testing import CliRunner, Result
from paddletorch_shim import checkpoints
from paddletorch_shim.cli import state as command
from paddletorch_shim.limits import DEPTH, MIB, LimitError, Limits, check_content

SCALER = {"scale": 1024.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 7, "_growth_tracker": 5}


def convert(*arguments: Any) -> Result:
    return CliRunner().invoke(command, ["convert", *map(str, arguments)])


def refused(folder: Path, source: Path, *texts: str, to: str = "paddle") -> None:
    """The command refuses ``source`` with a message of ``texts``, and writes nothing."""
    before = sorted(folder.iterdir())
    result = convert(source, folder / "out", "--to", to)
    assert result.exit_code == 2, result.output
    assert isinstance(result.exception, SystemExit)
    assert str(source) in result.output.replace("\n", "")
    for text in texts:
        assert text in result.output
    assert sorted(folder.iterdir()) == before


# ------------------------------------------------------------------- in a process of its own


MEASURED = """
import re, resource, sys, time
from pathlib import Path
from click.testing import CliRunner
import torch
import paddletorch_shim.weights.job
from paddletorch_shim.cli import state

def most_memory():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024

before, spent = most_memory(), int(time.process_time())
resource.setrlimit(resource.RLIMIT_CPU, (spent + 40, spent + 40))
result = CliRunner().invoke(state, ["convert", *sys.argv[1:]])
print(most_memory() - before, result.exit_code, result.output)
"""


def measured(*arguments: Any) -> tuple[int, int, str]:
    """The MiB that the command adds to a process with torch, its exit code, and what it says."""
    if not Path("/proc/self/status").exists():
        pytest.skip("the memory of a process is read as on Linux")
    command = [sys.executable, "-c", MEASURED, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    used, code, output = done.stdout.split(" ", 2)
    return int(used), int(code), output


def dag(levels: int, of: Callable[[Any], Any]) -> Any:
    """A value in which walks meet ``2**levels`` objects, though it has only ``levels``."""
    value: Any = of(())
    for _ in range(levels):
        value = of((value, value))
    return value


def bomb(path: Path, size: int) -> None:
    """A checkpoint of torch with one tensor of zeros, compressed as torch itself does not."""
    plain = io.BytesIO()
    torch.save({"weight": torch.zeros(size // 4)}, plain)
    with zipfile.ZipFile(plain) as archive, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        for entry in archive.infolist():
            packed.writestr(entry.filename, archive.read(entry))


def test_a_small_zip_archive_takes_little_memory(tmp_path: Path) -> None:
    bomb(tmp_path / "in.pt", 640 * MIB)
    assert (tmp_path / "in.pt").stat().st_size < MIB
    used, code, output = measured(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle")
    assert code == 2
    assert "unpacking it would take 640.0 MiB of memory" in output
    assert "--max-size 1" in output
    assert used < 64
    used, code, output = measured(tmp_path / "in.pt", tmp_path / "out", "--to", "paddle", "--max-size", 1)
    assert "unpacking" not in output
    assert used > 600, "the test shows nothing: the archive takes no memory even where it is read"


@pytest.mark.parametrize("of", [list, tuple], ids=["list", "tuple"])
@pytest.mark.parametrize("how", ["pickle", "torch"])
def test_shared_objects_are_visited_once(tmp_path: Path, how: str, of: Any) -> None:
    content = {"shared": dag(60, of), "scaler": SCALER}
    source = tmp_path / "in.pt"
    torch.save(content, source) if how == "torch" else source.write_bytes(pickle.dumps(content))
    if how == "pickle":
        assert source.stat().st_size < 600
    _, code, output = measured(source, tmp_path / "out", "--to", "paddle")
    assert code == 2
    assert "more than 2,000,000" in output
    assert "--max-objects" in output
    assert not (tmp_path / "out").exists()


def short_and_expensive() -> dict[str, bytes]:
    """Pickles of a few bytes, by what makes unpickling them expensive."""

    def call(name: bytes, arguments: bytes) -> bytes:
        return b"\x80\x02}X\x01\x00\x00\x00xc" + name + b"\n" + arguments + b"Rs."

    million = b"\x8a\x06" + (10**12).to_bytes(6, "little")
    numbers = b"".join(b"\x8a\x0c" + ((2**61 - 1) * n).to_bytes(12, "little") + b"N" for n in range(1, 60_000))
    hexed = b"\x80\x02X\x40\x00\x00\x00" + b"x" * 64 + b"q\x000"
    doubled = b"".join(b"c_codecs\nencode\nh\x00X\x03\x00\x00\x00hex\x86Rq\x000" for _ in range(40))
    text = pickle.dumps(b"x" * MIB, protocol=4)[:-1].replace(b"\x94", b"") + b"\x940"
    copies = text + b"](" + b"c__builtin__\nbytearray\nh\x00\x85R" * 2000 + b"e."
    return {
        "an array of a size": call(
            b"numpy.core.multiarray\n_reconstruct", b"cnumpy\nndarray\n" + million + b"\x85C\x01b\x87"
        ),
        "an array": call(b"numpy\nndarray", million + b"\x85\x85"),
        "bytes of a size": call(b"__builtin__\nbytearray", million + b"\x85"),
        "a number without value": call(
            b"numpy.core.multiarray\nscalar", b"cnumpy\ndtype\nX\x0b\x00\x00\x00S2000000000\x85R\x85"
        ),
        "copies": copies,
        "an encoding that doubles": hexed + doubled + b"h\x00.",
        "keys of one hash": b"\x80\x04}(" + numbers + b"u.",
        "a key of shared tuples": b"\x80\x04)\x94" + tuple_key(),
        "a memo of a size": b"\x80\x04}r\xff\xff\xff\x7f.",
        "a frame of a size": b"\x80\x04\x95" + (2**40).to_bytes(8, "little") + b"}.",
        "data of a size": b"\x80\x04\x8e" + (2**40).to_bytes(8, "little") + b"}.",
        "deep tuples": b"\x80\x04)" + b"\x85" * 100_000 + b".",
        "deep lists": b"\x80\x04" + b"]" * 50_000 + b"a" * 49_999 + b".",
    }


def tuple_key() -> bytes:
    """The rest of a pickle whose dict has a key that takes 2**60 steps to hash; the memo has an empty tuple at 0."""
    levels = b"".join(b"0h" + bytes([n]) + b"h" + bytes([n]) + b"\x86\x94" for n in range(60))
    return levels + b"0}h" + bytes([60]) + b"Ns."


@pytest.mark.parametrize("name", short_and_expensive())
@pytest.mark.parametrize("form", ["in.pdparams", "in.pt"])
def test_nothing_is_allocated_or_hashed_before_it_is_counted(tmp_path: Path, name: str, form: str) -> None:
    """Each of them would take hours or more memory than there is; a test that has to be killed has failed."""
    source = tmp_path / form
    pickled = short_and_expensive()[name]
    if form == "in.pt":
        with zipfile.ZipFile(source, "w") as archive:
            archive.writestr("archive/data.pkl", pickled)
            archive.writestr("archive/version", "3\n")
    else:
        source.write_bytes(pickled)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    refused(tmp_path, source)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 700 * 1024


def test_views_that_repeat_elements_are_counted_in_full(tmp_path: Path) -> None:
    torch.save({"weight": torch.zeros(1).expand(10**9)}, tmp_path / "in.pt")
    refused(tmp_path, tmp_path / "in.pt", "would take 3.7 GiB", "--max-size 4")


def test_a_tensor_larger_than_its_storage_is_counted(tmp_path: Path) -> None:
    """torch makes room for what it says."""
    tensor = torch.zeros(4)
    plain = io.BytesIO()
    torch.save({"weight": tensor}, plain)
    pickled = b"K\x04\x85q"
    with zipfile.ZipFile(plain) as archive, zipfile.ZipFile(tmp_path / "in.pt", "w") as changed:
        for entry in archive.infolist():
            data = archive.read(entry)
            if entry.filename.endswith("data.pkl"):
                assert data.count(pickled) == 1
                data = data.replace(pickled, b"\x8a\x06" + (10**12).to_bytes(6, "little") + b"\x85q")
            changed.writestr(entry.filename, data)
    refused(tmp_path, tmp_path / "in.pt", "would take", "--max-size")


def test_both_directories_of_an_ambiguous_zip_archive(tmp_path: Path) -> None:
    """With bytes put before it, readers that count from the end and from the beginning disagree."""
    torch.save(SCALER, tmp_path / "good.pt")
    content = (tmp_path / "good.pt").read_bytes()
    (tmp_path / "in.pt").write_bytes(content + content)
    refused(tmp_path, tmp_path / "in.pt", "its directory is not where the file says")


def test_a_file_that_refers_to_itself(tmp_path: Path) -> None:
    content: dict[str, Any] = {"scaler": SCALER}
    content["self"] = content
    for source in (tmp_path / "in.pt", tmp_path / "in.pdparams"):
        torch.save(content, source) if source.suffix == ".pt" else source.write_bytes(pickle.dumps(content))
        refused(tmp_path, source, "holds itself")


def test_the_limits_can_be_raised(tmp_path: Path) -> None:
    (tmp_path / "in.pdparams").write_bytes(pickle.dumps({"history": [0.5] * 3000, "scaler": SCALER}))
    call = [tmp_path / "in.pdparams", tmp_path / "out", "--to", "paddle"]
    result = convert(*call, "--max-objects", 2000)
    assert result.exit_code == 2
    assert "more than 2,000" in result.output
    result = convert(*call, "--max-objects", 20_000)
    assert result.exit_code == 0, result.output


def test_a_file_of_the_largest_size(tmp_path: Path) -> None:
    source = tmp_path / "in.pdparams"
    with source.open("wb") as file:
        file.truncate(65 * 2**30)
    refused(tmp_path, source, "65.0 GiB", "--max-size 65")


# ------------------------------------------------------------------- what is allowed


@pytest.mark.parametrize("depth", [DEPTH, DEPTH + 1])
def test_depth(depth: int) -> None:
    content: Any = 1
    for _ in range(depth):
        content = {"x": content}
    if depth == DEPTH:
        check_content(content, Limits(), 1)
    else:
        with pytest.raises(LimitError, match=f"more than {DEPTH} deep"):
            check_content(content, Limits(), 1)


def test_shared_objects_count_in_each_place() -> None:
    shared = [1, 2, 3]
    content = {"a": shared, "b": shared, "c": [shared, shared]}  # 3 keys, 4 times 4 objects, a list, a dict
    check_content(content, Limits(objects=21), 1)
    with pytest.raises(LimitError, match="more than 20"):
        check_content(content, Limits(objects=20), 1)


def test_default_sizes() -> None:
    assert Limits().allowed(10) == 256 * MIB
    assert Limits().allowed(100 * MIB) == 2000 * MIB
    assert Limits().allowed(100 * 2**30) == 64 * 2**30
    assert Limits(size=5).allowed(100) == 5


def honest() -> dict[str, Any]:
    """Checkpoints that have something of each kind that frameworks write."""
    layer = torch.nn.Linear(300, 300)
    optimizer = torch.optim.Adam(layer.parameters())
    layer(torch.ones(1, 300)).sum().backward()
    optimizer.step()
    strided = torch.ones(4, 5, 6, 7).transpose(1, 3)
    mask = torch.tril(torch.ones(1, 1, 1024, 1024, dtype=torch.bool))
    return {
        "model": layer.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scaler": SCALER,
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "strided": strided,
        "mask": mask,
        "half": torch.ones(3, dtype=torch.bfloat16),
        "tied": [layer.weight] * 5,
        "sparse": torch.sparse_coo_tensor(torch.tensor([[0, 1]]), torch.ones(2), (10**6,)),
        "quantized": torch.quantize_per_tensor(torch.ones(4), 0.5, 0, torch.qint8),
        "size": torch.Size((10**6, 10**6)),
        "device": torch.device("cpu"),
        "bytes": b"abc" * 100,
        "bytearray": bytearray(b"abc"),
        "set": {1, 2},
        "merges": {(f"a{n}", f"b{n}"): n for n in range(20_000)},
        "ints": {n: -n for n in range(20_000)},
        "floats": {n / 2: n for n in range(100)},
        "complex": 1 + 2j,
        "ordered": OrderedDict(a=1),
    }


@pytest.mark.parametrize("legacy", [False, True])
def test_what_torch_writes_is_read(tmp_path: Path, legacy: bool) -> None:
    content = honest()
    torch.save(content, tmp_path / "any.name", _use_new_zipfile_serialization=not legacy)
    loaded = checkpoints.load(tmp_path / "any.name", Limits())
    assert set(loaded) == set(content)
    assert torch.equal(loaded["strided"], content["strided"])


@pytest.mark.parametrize("protocol", [2, 3, 4])
def test_what_paddle_writes_is_read(tmp_path: Path, protocol: int) -> None:
    layer = paddle.nn.Linear(300, 300)
    optimizer = paddle.optimizer.Adam(parameters=layer.parameters())
    layer(paddle.ones([1, 300])).sum().backward()
    optimizer.step()
    content = {
        "model": layer.state_dict(),
        "optimizer": optimizer.state_dict(),
        "number": np.float32(3),
        "array": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        "names": np.array(["a", "bc"]),
        "tuple": (1, (2, 3)),
        "bfloat16": paddle.ones([3], "bfloat16"),
    }
    paddle.save(content, str(tmp_path / "in.pdparams"), protocol=protocol)
    loaded = checkpoints.load(tmp_path / "in.pdparams", Limits())
    assert set(loaded) == set(content)
    assert np.array_equal(loaded["array"], content["array"])
    paddle.save(layer.state_dict(), str(tmp_path / "alone.pdparams"), protocol=protocol)
    assert "weight" in checkpoints.load(tmp_path / "alone.pdparams", Limits())


def test_the_name_of_a_file_does_not_tell_what_it_is(tmp_path: Path) -> None:
    paddle.save({"scaler": SCALER}, str(tmp_path / "in.pt"))
    torch.save({"scaler": SCALER}, tmp_path / "in.pdparams", _use_new_zipfile_serialization=False)
    for source in ("in.pt", "in.pdparams"):
        result = convert(tmp_path / source, tmp_path / f"{source}.out", "--to", "paddle")
        assert result.exit_code == 0, result.output


# ------------------------------------------------------------------- what the file is instead


def archive_of(**entries: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return file.getvalue()


def numpy_file(save: Any, *arguments: Any) -> bytes:
    file = io.BytesIO()
    save(file, *arguments)
    return file.getvalue()


def tar_file() -> bytes:
    import tarfile

    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("storages"), io.BytesIO())
    return file.getvalue()


def torchscript() -> bytes:
    file = io.BytesIO()
    torch.jit.save(torch.jit.script(torch.nn.Linear(2, 2)), file)
    return file.getvalue()


SAFETENSORS = struct.pack("<Q", 2) + b"{}"

OTHERS: dict[str, tuple[Callable[[], bytes], str]] = {
    "a Git LFS pointer": (
        lambda: b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
        "git lfs pull",
    ),
    "a page": (lambda: b"\n<!DOCTYPE html><html><body>404: Not Found", "a web page"),
    "an error in XML": (lambda: b"<?xml version='1.0'?><Error><Code>AccessDenied</Code>", "a web page or XML"),
    "nothing": (lambda: b"", "empty"),
    "a message": (lambda: b"Entry not found\n", "a text file that begins with 'Entry not found'"),
    "JSON": (lambda: b'{"error": "Repository not found"}', 'a text file that begins with \'{"error"'),
    "safetensors": (lambda: SAFETENSORS, "give it a name that ends in .safetensors"),
    "a document": (
        lambda: archive_of(word_dot_xml=b"", a__b=b""),
        "something else than a torch checkpoint (word.xml, a/b)",
    ),
    "no files": (archive_of, "an empty zip archive"),
    "TorchScript": (torchscript, "a TorchScript archive"),
    "an array": (lambda: numpy_file(np.save, np.ones(3)), "a numpy array (.npy)"),
    "arrays": (lambda: numpy_file(np.savez, np.ones(3)), "an archive of numpy arrays (.npz)"),
    "HDF5": (lambda: b"\x89HDF\r\n\x1a\n\x00", "an HDF5 file"),
    "gzip": (lambda: b"\x1f\x8b\x08\x00", "compressed with gzip"),
    "tar": (tar_file, "a tar archive"),
    "half a download": (lambda: archive_of(data_dot_pkl=b"x" * 100)[:90], "perhaps not wholly downloaded"),
    "bytes": (lambda: bytes(range(128, 256)), "not a checkpoint that can be read"),
}


@pytest.mark.parametrize("name", ["in.pt", "in.pdparams", "in"])
@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_checkpoint_is_named(tmp_path: Path, kind: str, name: str) -> None:
    make, text = OTHERS[kind]
    (tmp_path / name).write_bytes(make())
    refused(tmp_path, tmp_path / name, text)


@pytest.mark.parametrize("kind", ["a page", "nothing", "a message", "an array"])
def test_what_is_no_safetensors_file_is_named(tmp_path: Path, kind: str) -> None:
    (tmp_path / "in.safetensors").write_bytes(OTHERS[kind][0]())
    text = OTHERS[kind][1] if kind != "a message" else "something else"
    source = tmp_path / "in.safetensors"
    result = convert(source, tmp_path / "out", "--to", "paddle", "--linear", "*")
    assert result.exit_code == 2
    assert text in result.output


def test_an_exported_program_is_named(tmp_path: Path) -> None:
    (tmp_path / "in.pdiparams").write_bytes(bytes(24) + b"\x80\x3f" * 20)
    refused(tmp_path, tmp_path / "in.pdiparams", "of an exported program (paddle.jit.save)")


@pytest.mark.parametrize("to", ["torch", "paddle"])
@pytest.mark.parametrize("name", ["in.pt", "in.pdparams", "in"])
def test_a_checkpoint_of_the_other_framework_is_named(tmp_path: Path, to: str, name: str) -> None:
    if to == "torch":
        torch.save({"fc.weight": torch.ones(2, 2)}, tmp_path / name)
    else:
        paddle.save({"fc.weight": paddle.ones([2, 2])}, str(tmp_path / name))
    framework = {"torch": "torch", "paddle": "Paddle"}[to]
    refused(tmp_path, tmp_path / name, f"is a {framework} checkpoint", "see --to", to=to)


def test_a_folder_or_pipe_is_no_file(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path, tmp_path / "pipe", "is no ordinary file")


def test_safetensors_without_options_hold_weights(tmp_path: Path) -> None:
    pytest.importorskip("safetensors.torch").save_file({"scale": torch.ones(2)}, tmp_path / "w.safetensors")
    result = convert(tmp_path / "w.safetensors", tmp_path / "w.pdparams", "--to", "paddle")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "w.pdparams").exists()


def test_keys_of_a_checkpoint_send_no_commands(tmp_path: Path) -> None:
    keys = ("\x1b]0;title\x07", "a\n::error::b", "##[error]c", "\u202e")
    with (tmp_path / "w.pdparams").open("wb") as file:
        pickle.dump({"w": np.zeros(2, "float32"), **dict.fromkeys(keys, "text")}, file)
    result = convert(tmp_path / "w.pdparams", tmp_path / "w.pt", "--to", "torch")
    assert result.exit_code == 0, result.output
    lines = result.output.splitlines()
    assert all(line.isprintable() and not line.lstrip().startswith("::") and "##[" not in line for line in lines)
    assert "\\x1b]0;title\\x07" in result.output
