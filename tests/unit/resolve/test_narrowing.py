"""What a check, a tuple's position or a return annotation says about a value, seen by what is converted."""

from __future__ import annotations

import textwrap

import pytest
from paddletorch.engine.engine import Engine
from paddletorch.model import Options

ENGINE = Engine(Options(target="paddle"))


def converted(body: str) -> str:
    """The function body, in which ``t.float()`` is converted if ``t`` is known to be a tensor."""
    code = "import torch\nfrom torch import nn\ndef f(t, u, m):\n" + textwrap.indent(textwrap.dedent(body), "    ")
    result = ENGINE.convert(code.encode(), "f.py")
    return result.output.decode()


@pytest.mark.parametrize(
    "body",
    [
        "if isinstance(t, torch.Tensor):\n    t.float()",
        "if isinstance(t, (torch.Tensor, nn.Parameter)):\n    t.float()",
        "if isinstance(t, torch.Tensor | nn.Parameter):\n    t.float()",
        "if u and isinstance(t, torch.Tensor) and u:\n    t.float()",
        "if isinstance(t, torch.Tensor) and t.float():\n    pass",
        "if u:\n    pass\nelif isinstance(t, torch.Tensor):\n    t.float()",
        "while isinstance(t, torch.Tensor):\n    t.float()",
        "x = t.float() if isinstance(t, torch.Tensor) else t",
        "x = [t.float() for t in u if isinstance(t, torch.Tensor)]",
        "x = {k: t.float() for k, t in u if isinstance(t, torch.Tensor)}",
        "assert isinstance(t, torch.Tensor)\nt.float()",
        "if not isinstance(t, torch.Tensor):\n    return\nt.float()",
        "for t in u:\n    if not isinstance(t, torch.Tensor):\n        continue\n    t.float()",
        "if type(t) is torch.Tensor:\n    t.float()",
        "if type(t) == torch.Tensor:\n    t.float()",
        "if type(t) in (torch.Tensor, nn.Parameter):\n    t.float()",
        "if isinstance(t, torch.Tensor) or isinstance(t, nn.Parameter):\n    t.float()",
        "if u and (type(t) is torch.Tensor or isinstance(t, nn.Parameter)):\n    t.float()",
        "if not (isinstance(t, torch.Tensor) or isinstance(t, nn.Parameter)):\n    return\nt.float()",
        "for t in u:\n    k = type(t)\n    if k is m:\n        pass\n    elif k is torch.Tensor:\n        t.float()",
        "k = type(t)\nif k in (torch.Tensor, nn.Parameter):\n    t.float()",
        "if isinstance(t, torch.Tensor):\n    t = t.float()\n",
        "if isinstance(t, torch.Tensor):\n    x = lambda: t.float()\n",
        "if isinstance(t, torch.Tensor):\n    t.float()\n    t = u()\n",
    ],
)
def test_a_check_says_what_a_name_is(body: str) -> None:
    assert "t.astype('float32')" in converted(body).replace('"', "'")


@pytest.mark.parametrize(
    "body",
    [
        "if isinstance(t, torch.Tensor):\n    pass\nt.float()",
        "if isinstance(t, torch.Tensor):\n    pass\nelse:\n    t.float()",
        "if isinstance(t, torch.Tensor) or u:\n    t.float()",
        "if isinstance(t, torch.Tensor) or isinstance(u, torch.Tensor):\n    t.float()",
        "if isinstance(t, torch.Tensor) or isinstance(t, u):\n    t.float()",
        "if isinstance(t, torch.Tensor) or isinstance(t, torch.Tensor) or u:\n    t.float()",
        "if not isinstance(t, torch.Tensor):\n    t.float()",
        "if isinstance(t, (torch.Tensor, u)):\n    t.float()",
        "if isinstance(t, torch.Tensor):\n    t = u()\n    t.float()",
        "if isinstance(t, torch.Tensor):\n    for t in u:\n        t.float()",
        "if isinstance(t, torch.Tensor):\n    while u:\n        t.float()\n        t = u()",
        "if not isinstance(t, torch.Tensor):\n    u()\nt.float()",
        "if isinstance(u, torch.Tensor):\n    t.float()",
        "if isinstance(t, torch.Tensor):\n    x = [t.float() for t in u]",
        "if isinstance(t, str):\n    t.float()",
        "if type(t) != torch.Tensor:\n    t.float()",
        "k = type(t)\nk = type(u)\nif k is torch.Tensor:\n    t.float()",
        "k = type(t)\nx = lambda k: t.float() if k is torch.Tensor else k",
        "k = type(t)\nfor t in u:\n    if k is torch.Tensor:\n        t.float()",
        "k = type(t)\nt = u()\nif k is torch.Tensor:\n    t.float()",
    ],
)
def test_a_check_says_nothing_elsewhere(body: str) -> None:
    assert "t.float()" in converted(body)


def test_initialisers_behind_checks_of_modules() -> None:
    body = """
        for m in u.modules():
            if isinstance(m, nn.Conv2d):
                m.weight.data.normal_(0, m.kernel_size[0])
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                m.weight.data.fill_(1)
    """
    output = converted(body)
    assert "m.weight.detach().normal_(0, m._kernel_size[0])" in output
    assert "m.weight.detach().fill_(1)" in output


@pytest.mark.parametrize(
    "body",
    [
        "def g():\n    return torch.zeros(2), nn.Linear(2, 2)\nt, m = g()\nt.float()\nm.load_state_dict(u)",
        "def g():\n    return torch.zeros(2), (u, nn.Linear(2, 2))\nt, (n, m) = g()\nt.float()\nm.load_state_dict(u)",
        "pair = torch.zeros(2), nn.Linear(2, 2)\npair[0].float()\npair[1].load_state_dict(u)",
        "for t, m in zip([torch.zeros(2)], [nn.Linear(2, 2)]):\n    t.float()\n    m.load_state_dict(u)",
        "for n, (t, m) in enumerate([(torch.zeros(2), nn.Linear(2, 2))]):\n    t.float()\n    m.load_state_dict(u)",
        "def g() -> list[nn.Linear]:\n    return u()\nfor m in g():\n    m.load_state_dict(u)\ntorch.ones(2).float()",
    ],
)
def test_parts_of_tuples_are_told_apart(body: str) -> None:
    output = converted(body).replace('"', "'")
    assert ".astype('float32')" in output
    assert ".set_state_dict(u)" in output
    assert "load_state_dict" not in output


def test_a_return_annotation_counts_where_the_value_is_not_known() -> None:
    code = b"import torch\n@cached\ndef g() -> torch.Tensor:\n    return h()\ng().float()\n"
    assert b"g().astype('float32')" in ENGINE.convert(code, "f.py").output.replace(b'"', b"'")


def test_a_size_and_a_part_of_it() -> None:
    assert "paddle.empty(t.shape), paddle.zeros([t.shape[0]])" in converted(
        "return torch.empty(t.size()), torch.zeros(t.size(0))"
    )


def test_torchs_cell_gives_a_tensor_where_paddles_gives_a_tuple() -> None:
    assert "t.astype('float32')" in converted("t = nn.GRUCell(3, 4)(u)\nt.float()").replace('"', "'")
    assert "t.float()" in converted("t = nn.LSTMCell(3, 4)(u)\nt.float()")
