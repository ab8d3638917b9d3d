"""The fused backend without a device: its tables, its kernels under the interpreter and through the compiler."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from paddletorch_shim import backends
from paddletorch_shim.backends import table

HERE = Path(__file__).parent
SIZES = (4, 2, 2, 8)

without_device = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")


def in_a_process_of_its_own(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Triton reads TRITON_INTERPRET when it is imported, so the interpreter needs a fresh process."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=900, cwd=HERE.parents[1]
    )


# ---------------------------------------------------------------------- the interpreter


def test_under_the_interpreter() -> None:
    pytest.importorskip("triton", reason="Triton has no wheel for this platform")
    files = (str(HERE / file) for file in ("interpreted_kernel.py", "interpreted_scaler.py"))
    done = in_a_process_of_its_own("-m", "pytest", "-p", "no:cacheprovider", "-n", "0", *files)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_parity_under_the_interpreter() -> None:
    pytest.importorskip("triton", reason="Triton has no wheel for this platform")
    command = ("-m", "paddletorch", "parity", "--backend", "fused", "--schedules", "1", "--steps", "12")
    done = in_a_process_of_its_own(*command)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("fused") == 2 * 3 and "differs" not in done.stdout


# ---------------------------------------------------------------------- choice


@without_device
def test_without_a_device_it_is_an_error_that_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    for framework in ("torch", "paddle"):
        with pytest.raises(backends.BackendError, match=r"CUDA.*TRITON_INTERPRET=1"):
            backends.choose(framework, "fused")
        assert backends.choose(framework).name == "native"


@without_device
def test_the_interpreter_asked_for_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("triton", reason="Triton has no wheel for this platform")
    from paddletorch_shim.torch import GradScaler

    monkeypatch.setenv("TRITON_INTERPRET", "1")
    scaler = GradScaler(backend="fused")
    with pytest.raises(backends.BackendError, match="before triton is imported"):
        scaler.scale(torch.ones(1))


def test_without_triton_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    from paddletorch_shim.backends import kernels

    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(kernels, "find_spec", lambda name: None if name == "triton" else object())
    with pytest.raises(backends.BackendError, match=r"needs triton: pip install 'paddletorch\[cuda\]'"):
        backends.choose("torch", "fused")


@without_device
def test_triton_launches_on_paddles_stream_and_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """With stand-ins for the device; the launch itself needs one."""
    pytest.importorskip("triton", reason="Triton has no wheel for this platform")
    import paddle
    from paddletorch_shim.backends import paddle_fused
    from triton.backends.nvidia import driver as nvidia
    from triton.runtime import driver

    stream = SimpleNamespace(stream_base=SimpleNamespace(cuda_stream=1234))
    place = SimpleNamespace(get_device_id=lambda: 3)
    monkeypatch.setattr(nvidia, "CudaUtils", SimpleNamespace)
    monkeypatch.setattr(paddle.device, "current_stream", lambda: stream)
    monkeypatch.setattr(paddle.framework, "_current_expected_place", lambda: place)
    monkeypatch.setattr(paddle.device.cuda, "get_device_capability", lambda device: (9, 0))
    paddle_fused._driver.cache_clear()
    try:
        with paddle_fused._on_paddles_stream():
            active = driver.active
            assert (active.get_current_device(), active.get_current_stream(3)) == (3, 1234)
            assert active.get_current_target().arch == 90
            assert active.launcher_cls is nvidia.CudaLauncher
    finally:
        paddle_fused._driver.cache_clear()
    with pytest.raises(RuntimeError, match="active drivers"):
        str(driver.active.get_current_device)


# ---------------------------------------------------------------------- tables

gradients = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 3), st.integers(0, 20), st.integers(0, 100)), max_size=12
)


@given(gradients, st.sampled_from([16, 32, 96, 1024]))
def test_rows_cover_every_element_once_and_start_aligned(specs: list[tuple[int, int, int, int]], chunk: int) -> None:
    found, address = [], 2**46
    for count, code, misaligned, gap in specs:
        address += gap * 8 + misaligned * SIZES[code]
        address += -address % SIZES[code]
        found.append(table.Found(address, count, code))
        address += count * SIZES[code]
    words, programs = table.words(found, chunk)
    assert words[: table.HEADER].tolist() == [0] * table.HEADER
    rows = words[table.HEADER :].reshape(programs, table.ROW).tolist()
    covered = []
    for start, count, code in rows:
        assert 0 < count <= max(chunk, table.VECTOR)
        assert count < table.VECTOR or start % table.ALIGNMENT == 0
        covered += [(start + i * SIZES[code], code) for i in range(count)]
    assert covered == [(g.address + i * SIZES[g.code], g.code) for g in found for i in range(g.count)]


def test_a_tensor_of_more_than_2_to_the_31_elements() -> None:
    count = 2**31 + 5
    words, programs = table.words([table.Found(2**40 + 2, count, 1)])
    rows = words[table.HEADER :].reshape(programs, table.ROW)
    assert rows[:, 1].sum() == count
    assert rows[-1].tolist()[0] + 2 * rows[-1].tolist()[1] == 2**40 + 2 + 2 * count
    assert (rows[1:, 0] - rows[:-1, 0] == 2 * rows[:-1, 1]).all()


def test_ten_thousand_tensors() -> None:
    found = [table.Found(2**40 + 64 * i, 16, i % 3) for i in range(10_000)]
    near, left = table.split(found, lambda reason, count: None)
    assert (len(near), left) == (10_000, ())
    assert table.words(found)[1] == 10_000


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12)), max_size=8))
def test_what_shares_memory_is_left_out(spans: list[tuple[int, int]]) -> None:
    found = [table.Found(4096 + 4 * start, count, 0) for start, count in spans]
    near, left = table.split(found, lambda reason, count: None)
    sharing = {
        i
        for i, (a, n) in enumerate(spans)
        for j, (b, m) in enumerate(spans)
        if i != j and n and m and a < b + m and b < a + n
    }
    assert {i for group in left for i in group} == sharing
    assert sorted([*near, *sharing]) == list(range(len(spans)))


@pytest.mark.parametrize(
    ("shape", "strides", "expected"),
    [
        ((4, 6), (6, 1), True),
        ((6, 4), (1, 6), True),
        ((2, 3, 4, 5), (60, 1, 15, 3), True),
        ((3, 1), (1, 99), True),
        ((), (), True),
        ((0, 3), (7, 2), True),
        ((4,), (2,), False),
        ((4, 3), (6, 1), False),
        ((4,), (0,), False),
        ((2, 2), (1, 1), False),
    ],
)
def test_dense(shape: tuple[int, ...], strides: tuple[int, ...], expected: bool) -> None:
    assert table.dense(shape, strides) is expected


# ---------------------------------------------------------------------- the compiler

VARIANTS: dict[str, dict[str, bool]] = {
    "unscale": {"WRITE": True, "NORM": False, "RULE": False, "GUARD": False},
    "step": {"WRITE": True, "NORM": False, "RULE": True, "GUARD": True},
    "check": {"WRITE": False, "NORM": False, "RULE": True, "GUARD": False},
    "norm": {"WRITE": False, "NORM": True, "RULE": False, "GUARD": False},
}


def compiled(function: Any, capability: int, warps: int, **constants: Any) -> Any:
    """Compile for a device that need not be here, as a launch does."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    signature = {p.name: "constexpr" if p.is_constexpr else p.annotation_type for p in function.params}
    names = {(function.arg_names.index(name),): value for name, value in constants.items()}
    source = ASTSource(fn=function, signature=signature, constexprs=names)
    options = {"num_warps": warps, "enable_fp_fusion": True}
    return triton.compile(source, target=GPUTarget("cuda", capability, 32), options=options)


@pytest.fixture
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("capability", [75, 80, 90, 100])
def test_the_sweep_compiles(capability: int, variant: str) -> None:
    pytest.importorskip("triton", reason="Triton has no wheel for this platform")
    from paddletorch_shim.backends import kernels, sweep

    constants = VARIANTS[variant]
    built = compiled(sweep.sweep, capability, kernels.OPTIONS["num_warps"], BLOCK=kernels.BLOCK, **constants)
    assert len(built.asm["cubin"]) > 1000
    code = built.asm["ptx"]
    assert ".ftz" not in code, "would flush subnormal numbers"
    assert not re.search(r"div\.(full|approx)", code), "the inverse must be rounded exactly"
    assert ("div.rn.f32" in code) == (variant != "check"), "a check alone needs no inverse"
    # Vectors: 16 bytes of float32, 8 of float16, 8 of bfloat16, twice 16 of float64 for each thread.
    assert code.count("ld.global.v4.b32") == 1
    assert code.count("ld.global.v2.b32") == 1 + 1
    assert code.count("ld.global.v2.b64") == 2
    assert ("st.global.v4.b32" in code) == constants["WRITE"]
    assert "atom.global.gpu.acq_rel.add" in code, "the last program must see what the others wrote"
    assert ("ld.global.cg.b64" in code) == constants["NORM"]
    if capability >= 80 and constants["WRITE"]:
        assert re.search(r"cvt\.rn\.bf16", code), "bfloat16 is rounded to the nearest"
    assert not re.search(r"cvt\.(rz|rm|rp)\.\S*b?f16", code)


@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize("capability", [75, 80, 90, 100])
def test_the_other_kernels_compile(capability: int) -> None:
    pytest.importorskip("triton", reason="Triton has no wheel for this platform")
    from paddletorch_shim.backends import kernels, sweep

    clip = compiled(sweep.unscale_and_clip, capability, kernels.OPTIONS["num_warps"], BLOCK=kernels.BLOCK)
    assert "st.global.v4.b32" in clip.asm["ptx"] and "atom." not in clip.asm["ptx"]
    for guard in (True, False):
        assert ".f64" in compiled(sweep.advance, capability, 1, GUARD=guard).asm["ptx"]
    assert compiled(sweep.rewind, capability, 1).asm["cubin"]


@without_device
@pytest.mark.usefixtures("_own_cache")
def test_addresses_and_settings_choose_no_variant() -> None:
    """A launch must never compile again because an address is aligned otherwise, or an interval is 1."""
    pytest.importorskip("triton", reason="Triton has no wheel for this platform")
    from paddletorch_shim.backends import kernels, sweep
    from triton.backends.nvidia.driver import CudaDriver
    from triton.runtime import driver

    class NoDevice(CudaDriver):  # type: ignore[misc]
        def __init__(self) -> None:
            self.get_current_device = lambda: 0
            self.get_current_stream = lambda device: 0
            self.get_device_capability = lambda device: (9, 0)

    def compile_for(address: int, floor: float, interval: int, factor: float) -> Any:
        return sweep.sweep.warmup(
            *[address] * 6,
            *[kernels._bits(factor)] * 2,
            floor,
            *[interval] * 2,
            address,
            floor,
            **{"BLOCK": kernels.BLOCK, **VARIANTS["step"]},
            grid=(1,),
            **kernels.OPTIONS,
        )

    driver.set_active(NoDevice())
    try:
        first = compile_for(2**47 + 16, 0.0, 1, 2.0)
        assert first is compile_for(2**47 + 17, 1.5, 2**31 - 1, 0.3) is compile_for(0, 1.0, 16, 1.0)
        assert set(first.src.signature.values()) == {"i64", "i32", "fp32", "constexpr"}
    finally:
        driver.set_active(None)
        sweep.sweep.device_caches.clear()
