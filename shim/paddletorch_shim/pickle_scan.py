"""What unpickling a file would cost, read from its operations before any of them is carried out.

Loaders of state dicts refuse classes that run code, and still do whatever amount of work a pickle asks for: allocate
the array or storage that a number in it names, copy a value as often as it is asked for, hash a tuple of shared
tuples, whose number of elements doubles with each operation.
"""

from __future__ import annotations

import pickletools
from collections import Counter
from typing import IO, Any

from paddletorch_shim.limits import LimitError, Limits, check_depth

_LONGEST_TEXT = 100
"""Of the texts that are looked at: module and function names, encodings, the keys of storages."""

_WIDEST = 16
"""Bytes of an element of the widest dtype, complex128."""

_ENTRY = 64
"""Bytes that an entry of a list, dict or tuple takes, about."""

_COUNTLESS = 2**70
"""Where counting ends."""

_TENSORS = frozenset({"_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_qtensor"})


class DamagedError(ValueError):
    """This is no pickle, or one that no framework writes."""


class _Data:
    """A long text, bytes or a container. Known are the bytes that a copy takes, and the objects that a walk meets."""

    __slots__ = ("length", "weight")

    def __init__(self, length: int = 0, weight: int = 1) -> None:
        self.length = length
        self.weight = weight

    def add(self, values: list[Any]) -> None:
        """Values put into a container."""
        self.length += _ENTRY * len(values)
        self.weight = min(self.weight + sum(map(_weight, values)), _COUNTLESS)


class _Object(_Data):
    """What a call gives: it may be made of all the call's arguments."""

    __slots__ = ()


class _Tuple:
    __slots__ = ("depth", "items", "length", "of_texts", "weight")

    depth: int
    of_texts: bool

    def __init__(self, items: list[Any]) -> None:
        self.items = items
        self.length = min(_ENTRY * len(items) + sum(map(_length, items)), _COUNTLESS)
        self.weight = min(1 + sum(map(_weight, items)), _COUNTLESS)
        self.depth = 1 + max((one.depth for one in items if isinstance(one, _Tuple)), default=0)
        self.of_texts = all(isinstance(one, str) or (isinstance(one, _Tuple) and one.of_texts) for one in items)
        check_depth(self.depth)


class _Global(str):
    """A class or function by its full name."""

    __slots__ = ()


_ATOM = object()
"""None, a truth value or a float."""

_MARK = object()


def _weight(value: Any) -> int:
    """How many objects a walk meets in a value if it goes into a shared one each time."""
    return value.weight if isinstance(value, (_Tuple, _Data)) else 1


def _length(value: Any) -> int:
    return value.length if isinstance(value, (_Tuple, _Data)) else 0


class _Bounded:
    """A file that refuses to read past its end, where ``read`` would first make room for what is not there."""

    def __init__(self, file: IO[bytes], left: int) -> None:
        self._file = file
        self.left = left

    def require(self, count: int) -> None:
        """Raises DamagedError if fewer bytes are left."""
        if count > self.left:
            raise DamagedError(f"it ends early, where {count:,} bytes should follow and {self.left:,} do")

    def read(self, count: int) -> bytes:
        self.require(count)
        data = self._file.read(count)
        self.left -= len(data)
        return data

    def readline(self) -> bytes:
        line = self._file.readline()
        self.left -= len(line)
        return line


class Scan:
    """The cost of the pickles of one file, added up.

    Args:
        size: the whole file's, to which ``limits`` relate.
    """

    def __init__(self, limits: Limits, size: int) -> None:
        self._limits = limits
        self._size = size
        self._operations = 0
        self._bytes: Counter[str] = Counter()
        self._storages: dict[Any, int] = {}
        self._slow_keys = 0

    def pickle(self, file: IO[bytes], left: int) -> int:
        """Go through one pickle, of at most ``left`` bytes, and leave the file behind it.

        Returns:
            The bytes left behind it.

        Raises:
            LimitError: unpickling it would take too much.
            DamagedError: it is not a pickle, or not one that can be looked through.
        """
        bounded = _Bounded(file, left)
        machine = _Machine(self)
        try:
            for opcode, argument, _ in pickletools.genops(bounded):  # type: ignore[arg-type]
                self.spend_operations(1)
                if opcode.name == "FRAME" and isinstance(argument, int):
                    bounded.require(argument)
                machine.run(opcode, argument)
        except (DamagedError, LimitError):
            raise
        except (IndexError, KeyError, AttributeError, TypeError, ValueError) as error:
            raise DamagedError(f"its operations do not fit together ({error})") from error
        return bounded.left

    def spend_operations(self, count: int) -> None:
        """Add operations, or as much other work."""
        self._operations += count
        self._limits.check_objects("the operations of its pickles are", self._operations)

    def spend_bytes(self, count: int, what: str) -> None:
        """Add bytes of memory to those of ``what``; each kind is held against the limit for itself."""
        self._bytes[what] += count
        self._limits.check_size(what, self._bytes[what], self._size)

    def storage(self, identity: Any) -> None:
        """Add the storage of a torch tensor, the first time that it is named."""
        if isinstance(identity, _Tuple) and len(identity.items) >= 5 and identity.items[0] == "storage":
            _, kind, key, _, count = identity.items[:5]
            known = self._storages.get(key, 0)
            if isinstance(count, int) and count > known:
                self.spend_bytes(min(count - known, _COUNTLESS) * _item_size(kind), "its storages")
                self._storages[key] = count

    def hashed(self, key: Any) -> None:
        """Add what it takes to put a key into a dict or set."""
        if isinstance(key, _Tuple):
            self.spend_operations(key.weight)
        quick = isinstance(key, str) or type(key) is _Data or key is _ATOM
        quick = quick or (isinstance(key, int) and abs(key) < 2**60) or (isinstance(key, _Tuple) and key.of_texts)
        if not quick:
            # Chosen for it, all of them have one hash, and each is compared with those before it.
            self._slow_keys += 1
            self.spend_operations(self._slow_keys // 64)

    def called(self, function: Any, arguments: Any) -> None:
        """Add what a call takes.

        Raises:
            DamagedError: what is called, or with what, is nothing that a checkpoint has.
        """
        if not isinstance(function, _Global):
            raise DamagedError("it calls something that is no class or function by name")
        items = arguments.items if isinstance(arguments, _Tuple) else []
        name = function.rpartition(".")[2]
        if function == "_codecs.encode" and items[1:] != ["latin1"]:
            raise DamagedError("it encodes a text in another way than pickles of numpy and torch do")
        if name == "scalar" and len(items) != 2:
            raise DamagedError("a number of numpy has no value")
        if name == "_rebuild_from_type_v2" and len(items) >= 3:
            self.called(items[0], items[2])
        elif name in _TENSORS:
            self.spend_bytes(_elements(items[2]) * 4, "its tensors")
        elif function != "torch.Size" and not name.startswith("_rebuild_"):
            self.spend_bytes(_largest(arguments) * _WIDEST, "the objects it makes")
        self.copied(arguments)

    def copied(self, value: Any) -> None:
        """Add a copy of a value, as calls and states of objects make one."""
        self.spend_bytes(_length(value), "copies of its values")

    def built(self, state: Any) -> None:
        """Add what it takes to set an object's state."""
        if isinstance(state, _Tuple) and len(state.items) >= 4:  # tensors in the oldest files of torch
            self.spend_bytes(_elements(state.items[2]) * 4, "its tensors")
        self.copied(state)


class _Machine:
    """The stack and the memo of an unpickler, with the kinds and sizes of values in place of the values."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._operations = 0

    def run(self, opcode: Any, argument: Any) -> None:
        """Carry out one operation."""
        self._operations += 1
        action = _ACTIONS.get(opcode.name)
        if action is not None:
            action(self, argument)
        elif not opcode.stack_before and len(opcode.stack_after) == 1:
            self._stack.append(_constant(argument))
        elif opcode.stack_before or opcode.stack_after:
            raise DamagedError(f"it has an operation that no checkpoint needs, {opcode.name}")

    def _since_mark(self) -> list[Any]:
        at = len(self._stack) - 1
        while self._stack[at] is not _MARK:
            at -= 1
            if at < 0:
                raise DamagedError("a mark is missing")
        items = self._stack[at + 1 :]
        del self._stack[at:]
        return items

    def _mark(self, _: Any) -> None:
        self._stack.append(_MARK)

    def _container(self, _: Any) -> None:
        self._stack.append(_Data())

    def _tuple(self, count: int) -> None:
        items = self._stack[len(self._stack) - count :] if count else []
        del self._stack[len(self._stack) - count :]
        self._stack.append(_Tuple(items))

    def _tuple_of_all(self, _: Any) -> None:
        self._stack.append(_Tuple(self._since_mark()))

    def _list_of_all(self, _: Any) -> None:
        items = self._since_mark()
        self._stack.append(_Data())
        self._stack[-1].add(items)

    def _dict_of_all(self, _: Any) -> None:
        items = self._since_mark()
        self._stack.append(_Data())
        self._set(items)

    def _frozenset(self, _: Any) -> None:
        items = self._since_mark()
        self._stack.append(_Data())
        self._add_hashed(items)

    def _append(self, _: Any) -> None:
        value = self._stack.pop()
        self._stack[-1].add([value])

    def _appends(self, _: Any) -> None:
        items = self._since_mark()
        self._stack[-1].add(items)

    def _set_item(self, _: Any) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        self._set([key, value])

    def _set_items(self, _: Any) -> None:
        self._set(self._since_mark())

    def _set(self, items: list[Any]) -> None:
        for key in items[::2]:
            self._scan.hashed(key)
        self._stack[-1].add(items)

    def _add_items(self, _: Any) -> None:
        self._add_hashed(self._since_mark())

    def _add_hashed(self, items: list[Any]) -> None:
        for item in items:
            self._scan.hashed(item)
        self._stack[-1].add(items)

    def _global(self, names: str) -> None:
        self._stack.append(_Global(names.replace(" ", ".")))

    def _stack_global(self, _: Any) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        if not (type(name) is str and type(module) is str):
            raise DamagedError("it computes the name of a class or function")
        self._stack.append(_Global(f"{module}.{name}"))

    def _reduce(self, _: Any) -> None:
        arguments, function = self._stack.pop(), self._stack.pop()
        self._scan.called(function, arguments)
        self._stack.append(_Object(_length(arguments), _weight(arguments)))

    def _new_object_with_keywords(self, _: Any) -> None:
        self._scan.copied(self._stack.pop())
        self._reduce(None)

    def _instance(self, names: str) -> None:
        arguments = _Tuple(self._since_mark())
        self._scan.called(_Global(names.replace(" ", ".")), arguments)
        self._stack.append(_Object(_length(arguments), _weight(arguments)))

    def _object(self, _: Any) -> None:
        function, *items = self._since_mark()
        arguments = _Tuple(items)
        self._scan.called(function, arguments)
        self._stack.append(_Object(arguments.length, arguments.weight))

    def _build(self, _: Any) -> None:
        self._scan.built(self._stack.pop())

    def _pop(self, _: Any) -> None:
        self._stack.pop()

    def _pop_mark(self, _: Any) -> None:
        self._since_mark()

    def _duplicate(self, _: Any) -> None:
        self._stack.append(self._stack[-1])

    def _put(self, index: int) -> None:
        if not 0 <= int(index) <= self._operations:  # the unpickler makes room up to this number
            raise DamagedError(f"it numbers a value {index} that is its {self._operations}th at most")
        self._memo[int(index)] = self._stack[-1]

    def _memoize(self, _: Any) -> None:
        self._memo[len(self._memo)] = self._stack[-1]

    def _get(self, index: int) -> None:
        self._stack.append(self._memo[int(index)])

    def _persistent(self, _: Any) -> None:
        self._scan.storage(self._stack.pop())
        self._stack.append(_Data())

    def _nothing(self, _: Any) -> None:
        pass


_ACTIONS: dict[str, Any] = {
    "MARK": _Machine._mark,
    "EMPTY_LIST": _Machine._container,
    "EMPTY_DICT": _Machine._container,
    "EMPTY_SET": _Machine._container,
    "EMPTY_TUPLE": lambda machine, _: machine._tuple(0),
    "TUPLE1": lambda machine, _: machine._tuple(1),
    "TUPLE2": lambda machine, _: machine._tuple(2),
    "TUPLE3": lambda machine, _: machine._tuple(3),
    "TUPLE": _Machine._tuple_of_all,
    "LIST": _Machine._list_of_all,
    "DICT": _Machine._dict_of_all,
    "FROZENSET": _Machine._frozenset,
    "APPEND": _Machine._append,
    "APPENDS": _Machine._appends,
    "SETITEM": _Machine._set_item,
    "SETITEMS": _Machine._set_items,
    "ADDITEMS": _Machine._add_items,
    "GLOBAL": _Machine._global,
    "STACK_GLOBAL": _Machine._stack_global,
    "REDUCE": _Machine._reduce,
    "NEWOBJ": _Machine._reduce,
    "NEWOBJ_EX": _Machine._new_object_with_keywords,
    "INST": _Machine._instance,
    "OBJ": _Machine._object,
    "BUILD": _Machine._build,
    "POP": _Machine._pop,
    "POP_MARK": _Machine._pop_mark,
    "DUP": _Machine._duplicate,
    "PUT": _Machine._put,
    "BINPUT": _Machine._put,
    "LONG_BINPUT": _Machine._put,
    "MEMOIZE": _Machine._memoize,
    "GET": _Machine._get,
    "BINGET": _Machine._get,
    "LONG_BINGET": _Machine._get,
    "BINPERSID": _Machine._persistent,
    "STOP": _Machine._nothing,
}


def _constant(value: Any) -> Any:
    if type(value) is int or (type(value) is str and len(value) <= _LONGEST_TEXT):
        return value
    return _Data(len(value)) if isinstance(value, (str, bytes, bytearray)) else _ATOM


def _item_size(kind: Any) -> int:
    """The bytes of an element of a storage class."""
    name = str(kind).rpartition(".")[2].removesuffix("Storage")
    return {"Double": 8, "Long": 8, "Float": 4, "Int": 4, "ComplexFloat": 8, "ComplexDouble": 16}.get(name, 1)


def _elements(shape: Any) -> int:
    sizes = [size for size in shape.items if isinstance(size, int)] if isinstance(shape, _Tuple) else []
    if 0 in sizes:
        return 0
    product = 1
    for size in sizes:
        product = min(product * min(abs(size), _COUNTLESS), _COUNTLESS)
    return product


def _largest(value: Any) -> int:
    """The largest number of elements that a call with these arguments can ask for."""
    if isinstance(value, _Tuple):
        return max([*map(_largest, value.items), _elements(value) if value.items else 0])
    return min(abs(value), _COUNTLESS) if isinstance(value, int) else 0
