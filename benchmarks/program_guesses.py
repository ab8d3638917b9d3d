"""Guesses what a module takes: texts of constructor arguments and of inputs, by the names of the parameters."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Iterator
from typing import Any

from paddletorch.comparison.sides import Side

SIZES: dict[str, tuple[str, ...]] = {
    "16": (
        "in_channels in_chs in_planes inplanes in_dim in_features dim d_model embed_dim hidden_size channels width c "
        "c1 "
        "inp in_ch nin ch planes out_channels oup out_chs out_planes out_features filters num_features num_channels c2 "
        "out_dim in_c out_c feature_dim features n_channels nout out_ch emb_size embedding_dim emb_dim model_dim "
        "n_feat "
        "input_channels output_channels input_dim output_dim input_size output_size units d_in d_out n_in n_out nf ngf "
        "ndf base_channels num_filters in_nc out_nc mid_channels embed_dims embedding_size n_embd idim odim size_in "
        "query_dim cross_attention_dim inner_dim dims feat_dim channel in_channel out_channel chan nc attn_dim "
        "attention_dim input_feat_dim num_hiddens hidden_channels skip_channels residual_channels in_size out_size"
    ).split(),
    "2": "num_heads heads n_head nhead n_heads num_attention_heads num_head spatial_dims depth num_layers n_layers "
    "num_blocks n_layer num_block nb n_blocks blocks layers_num encoder_layers scale_factor scale upscale_factor "
    "num_repeats repeats num_encoder_layers num_decoder_layers num_convs layer_num".split(),
    "8": "head_dim dim_head num_groups rank key_dim d_k d_v dim_key num_query num_queries codebook_dim rd_channels "
    "squeeze_channels latent_dim num_latents".split(),
    "3": "kernel_size k kernel kernel ksize window_kernel k_size kernels order degree filter_size".split(),
    "1": "stride strides s dilation groups num_conv index sr_ratio in_chans alpha gamma temperature margin".split(),
    "5": "num_classes nclass n_classes num_class num_outputs num_labels n_class class_num classes num_tags c_out "
    "class_dim".split(),
    "32": (
        "img_size image_size resolution input_resolution mlp_dim hidden_dim d_ff dim_feedforward hidden_features "
        "mlp_hidden_dim ff_dim hidden_channels intermediate_size ffn_dim linear_units feedforward_channels feat_size "
        "target_size height width_ output_resolution sample_size d_inner dim_hidden"
    ).split(),
    "4": "patch_size window_size reduction ratio r expand_ratio mlp_ratio reduction_ratio expansion se_ratio "
    "dim_mult upscale downscale n num num_points num_levels nhid num_anchors".split(),
    "16 ": "seq_len max_seq_len max_len length num_patches n_tokens num_positions max_length seq_length".split(),
    "50": "vocab_size num_tokens num_embeddings n_vocab vocab num_words dict_size".split(),
    "0.0": "dropout drop p dropout_rate drop_rate attn_drop proj_drop drop_path dropout_p drop_path_rate drop_prob "
    "attention_dropout attn_dropout ff_dropout dropout_prob".split(),
    "0.1": "alpha_ momentum eps_ sigma std".split(),
    "1e-05": "eps epsilon layer_norm_eps".split(),
    "True": "bias qkv_bias training use_bias".split(),
    "False": "pretrained shortcut".split(),
    "1 ": "padding pad".split(),
}
VALUES: dict[str, list[str]] = {}
for _text, _names in SIZES.items():
    for _name in _names:
        VALUES.setdefault(_name, []).append(_text.strip())
VALUES |= {
    "act": ["'relu'", "nn.ReLU()", "nn.ReLU"],
    "activation": ["'relu'", "nn.ReLU()", "nn.ReLU"],
    "act_layer": ["nn.ReLU"],
    "nonlinearity": ["'relu'"],
    "norm_layer": ["nn.LayerNorm", "nn.BatchNorm2d"],
    "norm": ["'batch'", "nn.LayerNorm"],
    "input_resolution": ["(8, 8)", "8"],
    "input_size": ["16", "(16, 16)", "32"],
    "output_size": ["4", "(8, 8)", "16"],
    "img_size": ["32", "(32, 32)"],
    "feat_size": ["(8, 8)", "8"],
    "window_size": ["4", "(4, 4)"],
    "kernel_size": ["3", "(3, 3)"],
    "layers": ["[1, 1, 1, 1]", "2", "18"],
    "depths": ["[1, 1, 1, 1]", "[1, 1]"],
    "hidden_dims": ["[16, 32]"],
    "hidden_units": ["[16, 32]", "16"],
    "channels": ["16", "[8, 16, 32, 64]", "[16, 16]"],
    "in_channels": ["16", "3", "1", "[8, 16, 32, 64]", "[16, 16, 16, 16]"],
    "in_chans": ["3"],
    "channel_list": ["[8, 16, 32, 64]"],
    "in_channels_list": ["[8, 16, 32, 64]"],
    "embed_dims": ["16", "[8, 16, 32, 64]"],
    "strides": ["1", "[2, 2]", "[1, 2, 2, 2]", "(1, 1)"],
    "shape": ["(16, 8, 8)", "16"],
    "normalized_shape": ["16"],
    "block": ["BasicBlock", "Bottleneck"],
    "bins": ["8"],
    "axis": ["1"],
    "name": ["'a'"],
    "mode": ["'bilinear'", "'nearest'", "'fan_in'"],
    "sigma": ["(1.5, 1.5)", "1.5", "0.5"],
    "angle": ["30.0"],
    "size": ["(16, 16)", "16"],
    "dim": ["16", "1", "-1"],
    "layer": ["nn.Linear(16, 16)"],
    "module": ["nn.Linear(16, 16)"],
    "fn": ["nn.Linear(16, 16)"],
    "net": ["nn.Linear(16, 16)"],
}
SMALLER = {
    "depth": "2", "depths": "[1, 1, 1, 1]", "embed_dim": "32", "num_layers": "2", "n_layers": "2", "img_size": "32",
    "image_size": "32", "num_classes": "5", "class_num": "5", "class_dim": "5", "layers": "[1, 1, 1, 1]", "dim": "16",
    "hidden_size": "16", "num_heads": "2", "patch_size": "8", "base_channels": "8", "channels": "16",
    "num_encoder_layers": "1", "num_decoder_layers": "1", "dim_feedforward": "32", "d_model": "16", "nhead": "2",
    "num_blocks": "1", "width": "8", "mlp_ratio": "2", "vocab_size": "50", "hidden_dim": "32", "num_features": "16",
    "ngf": "8", "ndf": "8", "nf": "8", "num_hidden_layers": "2", "num_attention_heads": "2", "intermediate_size": "32",
    "max_position_embeddings": "32", "dropout": "0.0", "drop_rate": "0.0", "drop_path_rate": "0.0", "n_head": "2",
    "encoder_layers": "1", "decoder_layers": "1", "ffn_dim": "32", "vocabulary_size": "50",
    "block_out_channels": "(16, 32)",
    "norm_num_groups": "4", "layers_per_block": "1", "cross_attention_dim": "16", "attention_head_dim": "8",
    "sample_size": "8", "input_size": "32",
}  # fmt: skip


def arguments(side: Side, value: Any, extra: dict[str, list[str]]) -> Iterator[dict[str, str]]:
    """Texts of constructor arguments, the likeliest first."""
    try:
        parameters = list(inspect.signature(value.__init__ if isinstance(value, type) else value).parameters.values())
    except (TypeError, ValueError):
        return
    if isinstance(value, type):
        parameters = parameters[1:]
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    parameters = [p for p in parameters if p.kind not in kinds]
    required = [p for p in parameters if p.default is inspect.Parameter.empty]
    optional = {p.name for p in parameters if p.default is not inspect.Parameter.empty}
    choices = [_values(side, p, extra) for p in required]
    if not all(choices):
        return
    smaller = {name: text for name, text in SMALLER.items() if name in optional}
    smaller |= {name: texts[0] for name, texts in extra.items() if name in optional}
    if open_ended and not isinstance(value, type):
        smaller |= {}
    for texts in itertools.islice(itertools.product(*choices), 24):
        base = {p.name: text for p, text in zip(required, texts, strict=True)}
        if smaller:
            yield {**base, **smaller}
        yield base
    for name in smaller:
        base = {p.name: options[0] for p, options in zip(required, choices, strict=True)}
        yield {**base, **{key: text for key, text in smaller.items() if key != name}}
        yield {**base, name: smaller[name]}


def _values(side: Side, parameter: inspect.Parameter, extra: dict[str, list[str]]) -> list[str]:
    name = parameter.name
    if name in extra:
        return extra[name]
    found = VALUES.get(name) or VALUES.get(name.strip("_").lower()) or []
    if not found:
        for ending, texts in (
            ("_channels", ["16"]), ("_dim", ["16"]), ("_dims", ["16", "[16, 16]"]), ("_size", ["16"]), ("_chs", ["16"]),
            ("_layers", ["2"]), ("_heads", ["2"]), ("_features", ["16"]), ("_rate", ["0.0"]), ("_planes", ["16"]),
            ("_dropout", ["0.0"]), ("_ratio", ["2"]), ("_len", ["16"]), ("_length", ["16"]), ("_bias", ["True"]),
        ):  # fmt: skip
            if name.endswith(ending):
                found = texts
    if not found:
        annotation = str(parameter.annotation)
        if "int" in annotation:
            found = ["16", "2"]
        elif "float" in annotation:
            found = ["0.5"]
        elif "bool" in annotation:
            found = ["False"]
        elif name.startswith(("num_", "n_")):
            found = ["2"]
        elif name.startswith(("use_", "is_", "with_", "has_")):
            found = ["False"]
    if side.name == "paddle":
        found = [one.replace("BatchNorm2d", "BatchNorm2D") for one in found]
    return found


_WIDTHS = frozenset(
    (
        "in_channels in_chs inplanes in_planes dim c1 inp channels embed_dim "
        "d_model input_dim in_dim in_features num_features hidden_size in_chans input_size n_feat "
        "in_channel in_ch feature_dim input_channels "
    ).split()
)
"""Parameters of constructors that say how many channels an input has."""


def inputs(side: Side, model: Any, texts: dict[str, str], extra: dict[str, list[str]]) -> Iterator[list[str]]:
    """Texts of inputs for a model, the likeliest first."""
    parameters = [
        p
        for p in inspect.signature(model.forward).parameters.values()
        if p.kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        and p.default is inspect.Parameter.empty
    ]
    names = [p.name for p in parameters]
    if not names:
        if any(
            p.kind is inspect.Parameter.VAR_POSITIONAL for p in inspect.signature(model.forward).parameters.values()
        ):
            names = ["x"]
        else:
            names = ["x"] if inspect.signature(model.forward).parameters else []
    if not names:
        yield []
        return
    width = next((text for name, text in texts.items() if name in _WIDTHS), "16")
    widths = [width, "3", "16", "1", "32"] if width.isdigit() else ["3", "16", "32", "1"]
    widths = list(dict.fromkeys(widths))
    shapes = []
    if width.startswith("["):
        sizes = [int(n) for n in width[1:-1].split(",")]
        yield [_listed(sizes)] + ["=None"] * (len(names) - 1)
    lowered = names[0].lower()
    if any(word in lowered for word in ("ids", "tokens", "token", "text", "seq", "src", "index", "indices", "words")):
        shapes += ["int:2x16", "int:2"]
    if any(word in lowered for word in ("logit", "pred", "prob", "output", "input")) and len(names) > 1:
        shapes += ["unit:2x5", "unit:2x1x32x32", "unit:2x3x32x32", "unit:2x5x8x8"]
    elif any(word in lowered for word in ("img", "image")):
        shapes += ["unit:2x3x32x32", "unit:2x3x64x64", "unit:2x1x32x32"]
    if width == "3" or not texts:  # a whole model of images: small ones leave single pixels
        shapes += ["normal:2x3x64x64", "normal:2x3x96x96"]
    for w in widths[:3]:
        shapes += [f"normal:2x{w}x8x8", f"normal:2x16x{w}", f"normal:2x{w}", f"normal:2x{w}x32x32"]
    shapes += ["normal:2x3x64x64", "normal:2x1x32x32", "normal:2x3x96x96"]
    for w in widths[:2]:
        shapes += [
            f"normal:2x{w}x16",
            f"normal:2x{w}x8x8x8",
            f"normal:2x8x8x{w}",
            f"normal:2x{w}x16x16x16",
            f"normal:2x64x{w}",
        ]
    shapes += ["int:2x16", "unit:2x5", "[normal:2x8x32x32,normal:2x16x16x16,normal:2x32x8x8,normal:2x64x4x4]",
               "normal:16x2x16", "normal:2x2x16x8", "normal:2x128", "normal:2x1x2000", "normal:1x3x128x128",
               "normal:2x3x224x224"]  # fmt: skip
    shapes = list(dict.fromkeys(shapes))
    for shape in shapes:
        for rest in _rest(names[1:], shape, extra):
            yield [shape, *rest]


def _listed(sizes: list[int]) -> str:
    side = 32
    made = []
    for size in sizes:
        made.append(f"normal:2x{size}x{side}x{side}")
        side = max(side // 2, 2)
    return "[" + ",".join(made) + "]"


def _rest(names: list[str], first: str, extra: dict[str, list[str]]) -> Iterator[list[str]]:
    if not names:
        yield []
        return
    options = [_option(name, first) for name in names]
    yield from itertools.islice(itertools.product(*options), 6)


def _option(name: str, first: str) -> list[str]:
    """Texts for an input after the first."""
    lowered = name.lower()
    size = first.partition(":")[2].partition("<")[0] if not first.startswith("[") else "2x16"
    dims = size.split("x")
    same = first if first.startswith(("normal", "unit")) else f"normal:{size}"
    if lowered in ("h", "w", "height", "width"):
        return ["=8", "=4"]
    if "mask" in lowered:
        return ["=None", f"true:{'x'.join(dims[:2])}", f"bool:{size}"]
    if lowered in ("t", "timestep", "timesteps", "time", "noise_level", "sigma"):
        return [f"int:{dims[0]}<50", f"unit:{dims[0]}"]
    if any(word in lowered for word in ("target", "label", "gt", "y_true")) or lowered == "y":
        spatial = "x".join([dims[0], *dims[2:]])
        return [
            same.replace("normal", "target").replace("unit", "unit target"),
            f"int:{spatial}<{dims[1] if len(dims) > 1 else 2}",
            f"int:{dims[0]}<5",
            f"int:{size}<2",
        ]
    if any(word in lowered for word in ("hw_shape", "size", "shape", "resolution")):
        return ["=(8, 8)", "=8"]
    if "len" in lowered:
        return [f"int:{dims[0]}<8", "unit:2"]
    if "edge_index" in lowered:
        return ["int:2x10<2"]
    if any(word in lowered for word in ("ids", "index", "idx")):
        return [f"int:{'x'.join(dims[:2])}<5"]
    return [same, f"normal:2x16x{dims[-1]}", "=None"]
