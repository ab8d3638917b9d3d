"""Commands that start one process for each device: torchrun and ``paddle.distributed.launch``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from paddletorch.model import Framework
from paddletorch.project_files.found import COMMAND, Found, Replaced
from paddletorch.project_files.shell import Word

_PYTHON = re.compile(r"(?:.*/)?(?:python|pypy)[\d.]*(?:\.exe)?|\$\{?PYTHON\}?")
_MODULES: dict[Framework, tuple[str, ...]] = {
    "torch": ("torch.distributed.launch", "torch.distributed.run"),
    "paddle": ("paddle.distributed.launch",),
}
_PROGRAMS: dict[Framework, tuple[str, ...]] = {"torch": ("torchrun",), "paddle": ("fleetrun",)}
_NUMBER = re.compile(r"\d+|\$\{?\w+\}?")
_ASSIGNED = re.compile(r"\w+=")


@dataclass(frozen=True, slots=True)
class _Option:
    """An option of a launcher with its value, over one word or two."""

    name: str
    value: Word | None
    text: str
    """The value's text."""
    first: Word
    last: Word


class _Left(Exception):
    """Why a command stays as it is."""


@dataclass(frozen=True, slots=True)
class _Launch:
    words: Sequence[Word]
    start: int
    """The place among the words of what starts it: ``python`` or ``torchrun``."""
    options: int
    """The place of the first word behind it."""
    module: str
    """The module that is run, or the program."""


def launch(words: Sequence[Word], source: Framework, python: str) -> Found | None:
    """What becomes of a command that starts processes of the source; ``python``: how the file calls Python."""
    if words and words[0].text in ("echo", "printf"):
        return None
    start = _started(words, source)
    if start is None:
        return None
    first, last = words[start.start], words[start.options - 1]
    found = Found(first.start, last.end, COMMAND, " ".join(word.text for word in words[start.start : start.options]))
    try:
        options, script = _options(start, _TORCH if source == "torch" else _PADDLE)
        edits = _to_paddle(start, options, python) if source == "torch" else _to_torch(start, options)
        if not script.text.endswith(".py"):
            raise _Left(f"{script.text} does not end in .py, and only such files are given to Python on both sides")
    except _Left as why:
        return found.left(str(why), _WAY_OUT[source])
    written = "paddle.distributed.launch" if source == "torch" else "torchrun"
    return Found(first.start, last.end, COMMAND, found.name, edits=tuple(sorted(edits)), replacement=written)


def _started(words: Sequence[Word], source: Framework) -> _Launch | None:
    for index, word in enumerate(words):
        if word.text in _PROGRAMS[source] and not word.quoted:
            return _Launch(words, index, index + 1, word.text)
        if _PYTHON.fullmatch(word.text):
            module = index + 1
            while module < len(words) and re.fullmatch(r"-[a-ln-zA-Z]+", words[module].text):
                module += 1
            if [w.text for w in words[module : module + 1]] == ["-m"] and module + 1 < len(words):
                name = words[module + 1].text
                if name in _MODULES[source] and not words[module + 1].quoted:
                    return _Launch(words, index, module + 2, name)
    return None


_TORCH: Mapping[str, bool] = {
    **dict.fromkeys(["nproc-per-node", "nnodes", "node-rank", "master-addr", "master-port", "max-restarts"], True),
    **dict.fromkeys(["rdzv-backend", "rdzv-endpoint", "rdzv-id"], True),
    **dict.fromkeys(["standalone", "use-env"], False),
}
_PADDLE: Mapping[str, bool] = dict.fromkeys(
    ["nproc-per-node", "nnodes", "rank", "master", "gpus", "devices", "job-id"], True
)
"""The launchers' options that have a counterpart, and whether they take a value."""

_WAY_OUT: dict[Framework, str] = {
    "torch": "Write `python -m paddle.distributed.launch` by hand; it passes over options that it does not know.",
    "paddle": "Write `torchrun --nproc_per_node=N` by hand; --nproc_per_node=gpu takes every GPU.",
}


def _options(start: _Launch, known: Mapping[str, bool]) -> tuple[dict[str, _Option], Word]:
    """The options by name, and the script behind them."""
    found: dict[str, _Option] = {}
    index = start.options
    while index < len(start.words):
        word = start.words[index]
        if not word.text.startswith("-"):
            if word.text.startswith("$") and not word.quoted and not re.search(r"\.py\b", word.text):
                raise _Left(f"{word.text} may hold options")
            return found, word
        name, equals, value = word.text.partition("=")
        plain = name.lstrip("-").replace("_", "-")
        if plain not in known or not name.startswith("--") or not word.simple:
            raise _Left(f"{name} has no exact counterpart")
        if plain in found:
            raise _Left(f"{name} stands twice")
        if not known[plain] or equals:
            found[plain] = _Option(plain, word if equals else None, value, word, word)
        else:
            index += 1
            if index == len(start.words) or not start.words[index].simple:
                raise _Left(f"the value of {name} cannot be read")
            found[plain] = _Option(plain, start.words[index], start.words[index].text, word, start.words[index])
        index += 1
    raise _Left("no script follows")


def _to_paddle(start: _Launch, options: dict[str, _Option], python: str) -> list[Replaced]:
    if start.module == "torch.distributed.launch" and "use-env" not in options:
        raise _Left("without --use_env it hands the script --local-rank, which Paddle's launcher does not")
    single = _is_single(options)
    if "rdzv-endpoint" in options and not single:
        raise _Left("--rdzv_endpoint of several machines has no exact counterpart")
    if "max-restarts" in options and options["max-restarts"].text != "0":
        raise _Left("--max_restarts has no exact counterpart")
    processes = options.get("nproc-per-node")
    written = "paddle.distributed.launch"
    if processes is None:
        written += " --nproc_per_node=1"  # torch's default; Paddle's is every device
    if start.module in _PROGRAMS["torch"]:
        written = f"{python} -m {written}"
    named = start.words[start.options - 1]
    edits = [Replaced(named.start, named.end, written)]
    if processes is None:
        pass
    elif processes.text == "gpu":
        edits.append(_removed(start, processes))
    else:
        edits += _named(processes, "--nproc_per_node", number=True)
    if "nnodes" in options:
        edits += _named(options["nnodes"], "--nnodes", number=True)
    if "node-rank" in options:
        edits += _named(options["node-rank"], "--rank", number=True)
    address, port = options.get("master-addr"), options.get("master-port")
    if address is not None and not single:
        edits.append(Replaced(address.first.start, address.last.end, _master(address, port)))
    elif port is not None and not single:
        raise _Left("--master_port without --master_addr has no exact counterpart")
    dropped = ["rdzv-backend", "rdzv-endpoint", "rdzv-id", "standalone", "use-env", "max-restarts", "master-port"]
    dropped += ["master-addr"] if single else []  # on one machine Paddle's launcher finds a free port itself
    edits += [_removed(start, options[name]) for name in dropped if name in options]
    return edits


def _is_single(options: dict[str, _Option]) -> bool:
    """Whether all processes are on one machine."""
    return "standalone" in options or "nnodes" not in options or options["nnodes"].text in ("1", "1:1")


def _master(address: _Option, port: _Option | None) -> str:
    number = port.text if port is not None else "29500"  # torch's default
    if any(one.value is not None and one.value.quoted for one in (address, port) if one is not None):
        return f'--master="{address.text}:{number}"'
    return f"--master={address.text}:{number}"


def _to_torch(start: _Launch, options: dict[str, _Option]) -> list[Replaced]:
    first, last = start.words[start.start], start.words[start.options - 1]
    processes, devices = options.get("nproc-per-node"), options.get("gpus") or options.get("devices")
    if "gpus" in options and "devices" in options:
        raise _Left("--gpus and --devices stand together")
    if processes is None and devices is None:
        raise _Left("without --nproc_per_node it takes every device, and on a machine without GPUs one process")
    prefix = ""
    edits: list[Replaced] = []
    if devices is not None:
        if not re.fullmatch(r"\d+(?:,\d+)*", devices.text):
            raise _Left("the devices are not written out")
        if any(word.text.startswith("CUDA_VISIBLE_DEVICES=") for word in start.words[: start.start]):
            raise _Left("CUDA_VISIBLE_DEVICES is set beside --gpus")
        own = all(_ASSIGNED.match(word.text) for word in start.words[: start.start])
        prefix = f"{'' if own else 'env '}CUDA_VISIBLE_DEVICES={devices.text} "
        if processes is None:
            count = len(devices.text.split(","))
            edits.append(Replaced(devices.first.start, devices.last.end, f"--nproc_per_node={count}"))
        else:
            edits.append(_removed(start, devices))
    if processes is not None:
        edits += _named(processes, "--nproc_per_node", number=True)
    if "nnodes" in options:
        edits += _named(options["nnodes"], "--nnodes", number=True)
        if options["nnodes"].text != "1" and "master" not in options:
            raise _Left("several machines without --master have no exact counterpart")
    if "rank" in options:
        edits += _named(options["rank"], "--node_rank", number=True)
    if "master" in options:
        edits.append(_address(options["master"]))
    if "job-id" in options:
        edits.append(_removed(start, options["job-id"]))  # the name of Paddle's log files
    if first.text in ("python", "python3", *_PROGRAMS["paddle"]):
        return [*edits, Replaced(first.start, last.end, f"{prefix}torchrun")]
    edits.append(Replaced(last.start, last.end, "torch.distributed.run"))  # of the same interpreter
    return [*edits, Replaced(first.start, first.start, prefix)] if prefix else edits


def _address(master: _Option) -> Replaced:
    host, colon, port = master.text.rpartition(":")
    if not colon or not host or "/" in host or not _NUMBER.fullmatch(port):
        raise _Left("--master is no address with a port")
    quote = '"' if master.value is not None and master.value.quoted else ""
    written = f"--master_addr={quote}{host}{quote} --master_port={quote}{port}{quote}"
    return Replaced(master.first.start, master.last.end, written)


def _named(option: _Option, name: str, *, number: bool) -> list[Replaced]:
    """The option under another name."""
    if number and not _NUMBER.fullmatch(option.text):
        raise _Left(f"{option.text!r} is no number")
    given = option.first.text.partition("=")[0]
    return [Replaced(option.first.inner, option.first.inner + len(given), name)] if given != name else []


def _removed(start: _Launch, option: _Option) -> Replaced:
    """The option's words gone, with the white space before them."""
    before = max(word.end for word in start.words if word.end <= option.first.start)
    return Replaced(before, option.last.end, "")
