import paddle
from math import inf, nan
from typing import Union as typing_Union


def torch_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    """torch.nn.functional.scaled_dot_product_attention: heads, if there are any, stand before positions."""
    if scale is not None:
        query = query * (scale * query.shape[-1] ** 0.5)
    if attn_mask is not None:
        attn_mask = paddle.broadcast_to(attn_mask, [*attn_mask.shape[:-2], query.shape[-2], key.shape[-2]])
    if query.ndim > 4:
        batches = query.shape[:-3]
        if attn_mask is not None and attn_mask.ndim > 3:
            attn_mask = paddle.broadcast_to(attn_mask, [*batches, *attn_mask.shape[-3:]]).flatten(0, -4)
        query, key, value = query.flatten(0, -4), key.flatten(0, -4), value.flatten(0, -4)
        out = torch_attention(query, key, value, attn_mask, dropout_p, is_causal, enable_gqa=enable_gqa)
        return out.reshape([*batches, *out.shape[1:]])
    if query.ndim == 3:
        query, key, value = query.unsqueeze(2), key.unsqueeze(2), value.unsqueeze(2)
        if attn_mask is not None and attn_mask.ndim == 3:
            attn_mask = attn_mask.unsqueeze(1)
        out = paddle.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal)
        return out.squeeze(2)
    if enable_gqa:
        groups = query.shape[1] // key.shape[1]
        key = paddle.repeat_interleave(key, groups, axis=1)
        value = paddle.repeat_interleave(value, groups, axis=1)
    query, key, value = (paddle.transpose(x, [0, 2, 1, 3]) for x in (query, key, value))
    out = paddle.nn.functional.scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal)
    return paddle.transpose(out, [0, 2, 1, 3])


NoneType = type(None)


class GraphModule(paddle.nn.Layer):
    def forward(self, p_patch_embed_proj_weight: "f32[96, 3, 4, 4]", p_patch_embed_proj_bias: "f32[96]", p_levels_0_pos_embed: "f32[1, 16, 16, 96]", p_levels_0_transformer_encoder_0_norm1_weight: "f32[96]", p_levels_0_transformer_encoder_0_norm1_bias: "f32[96]", p_levels_0_transformer_encoder_0_attn_qkv_weight: "f32[288, 96]", p_levels_0_transformer_encoder_0_attn_qkv_bias: "f32[288]", p_levels_0_transformer_encoder_0_attn_proj_weight: "f32[96, 96]", p_levels_0_transformer_encoder_0_attn_proj_bias: "f32[96]", p_levels_0_transformer_encoder_0_norm2_weight: "f32[96]", p_levels_0_transformer_encoder_0_norm2_bias: "f32[96]", p_levels_0_transformer_encoder_0_mlp_fc1_weight: "f32[384, 96]", p_levels_0_transformer_encoder_0_mlp_fc1_bias: "f32[384]", p_levels_0_transformer_encoder_0_mlp_fc2_weight: "f32[96, 384]", p_levels_0_transformer_encoder_0_mlp_fc2_bias: "f32[96]", p_levels_0_transformer_encoder_1_norm1_weight: "f32[96]", p_levels_0_transformer_encoder_1_norm1_bias: "f32[96]", p_levels_0_transformer_encoder_1_attn_qkv_weight: "f32[288, 96]", p_levels_0_transformer_encoder_1_attn_qkv_bias: "f32[288]", p_levels_0_transformer_encoder_1_attn_proj_weight: "f32[96, 96]", p_levels_0_transformer_encoder_1_attn_proj_bias: "f32[96]", p_levels_0_transformer_encoder_1_norm2_weight: "f32[96]", p_levels_0_transformer_encoder_1_norm2_bias: "f32[96]", p_levels_0_transformer_encoder_1_mlp_fc1_weight: "f32[384, 96]", p_levels_0_transformer_encoder_1_mlp_fc1_bias: "f32[384]", p_levels_0_transformer_encoder_1_mlp_fc2_weight: "f32[96, 384]", p_levels_0_transformer_encoder_1_mlp_fc2_bias: "f32[96]", p_levels_1_pos_embed: "f32[1, 4, 16, 192]", p_levels_1_pool_conv_weight: "f32[192, 96, 3, 3]", p_levels_1_pool_conv_bias: "f32[192]", p_levels_1_pool_norm_weight: "f32[192]", p_levels_1_pool_norm_bias: "f32[192]", p_levels_1_transformer_encoder_0_norm1_weight: "f32[192]", p_levels_1_transformer_encoder_0_norm1_bias: "f32[192]", p_levels_1_transformer_encoder_0_attn_qkv_weight: "f32[576, 192]", p_levels_1_transformer_encoder_0_attn_qkv_bias: "f32[576]", p_levels_1_transformer_encoder_0_attn_proj_weight: "f32[192, 192]", p_levels_1_transformer_encoder_0_attn_proj_bias: "f32[192]", p_levels_1_transformer_encoder_0_norm2_weight: "f32[192]", p_levels_1_transformer_encoder_0_norm2_bias: "f32[192]", p_levels_1_transformer_encoder_0_mlp_fc1_weight: "f32[768, 192]", p_levels_1_transformer_encoder_0_mlp_fc1_bias: "f32[768]", p_levels_1_transformer_encoder_0_mlp_fc2_weight: "f32[192, 768]", p_levels_1_transformer_encoder_0_mlp_fc2_bias: "f32[192]", p_levels_1_transformer_encoder_1_norm1_weight: "f32[192]", p_levels_1_transformer_encoder_1_norm1_bias: "f32[192]", p_levels_1_transformer_encoder_1_attn_qkv_weight: "f32[576, 192]", p_levels_1_transformer_encoder_1_attn_qkv_bias: "f32[576]", p_levels_1_transformer_encoder_1_attn_proj_weight: "f32[192, 192]", p_levels_1_transformer_encoder_1_attn_proj_bias: "f32[192]", p_levels_1_transformer_encoder_1_norm2_weight: "f32[192]", p_levels_1_transformer_encoder_1_norm2_bias: "f32[192]", p_levels_1_transformer_encoder_1_mlp_fc1_weight: "f32[768, 192]", p_levels_1_transformer_encoder_1_mlp_fc1_bias: "f32[768]", p_levels_1_transformer_encoder_1_mlp_fc2_weight: "f32[192, 768]", p_levels_1_transformer_encoder_1_mlp_fc2_bias: "f32[192]", p_levels_2_pos_embed: "f32[1, 1, 16, 384]", p_levels_2_pool_conv_weight: "f32[384, 192, 3, 3]", p_levels_2_pool_conv_bias: "f32[384]", p_levels_2_pool_norm_weight: "f32[384]", p_levels_2_pool_norm_bias: "f32[384]", p_levels_2_transformer_encoder_0_norm1_weight: "f32[384]", p_levels_2_transformer_encoder_0_norm1_bias: "f32[384]", p_levels_2_transformer_encoder_0_attn_qkv_weight: "f32[1152, 384]", p_levels_2_transformer_encoder_0_attn_qkv_bias: "f32[1152]", p_levels_2_transformer_encoder_0_attn_proj_weight: "f32[384, 384]", p_levels_2_transformer_encoder_0_attn_proj_bias: "f32[384]", p_levels_2_transformer_encoder_0_norm2_weight: "f32[384]", p_levels_2_transformer_encoder_0_norm2_bias: "f32[384]", p_levels_2_transformer_encoder_0_mlp_fc1_weight: "f32[1536, 384]", p_levels_2_transformer_encoder_0_mlp_fc1_bias: "f32[1536]", p_levels_2_transformer_encoder_0_mlp_fc2_weight: "f32[384, 1536]", p_levels_2_transformer_encoder_0_mlp_fc2_bias: "f32[384]", p_levels_2_transformer_encoder_1_norm1_weight: "f32[384]", p_levels_2_transformer_encoder_1_norm1_bias: "f32[384]", p_levels_2_transformer_encoder_1_attn_qkv_weight: "f32[1152, 384]", p_levels_2_transformer_encoder_1_attn_qkv_bias: "f32[1152]", p_levels_2_transformer_encoder_1_attn_proj_weight: "f32[384, 384]", p_levels_2_transformer_encoder_1_attn_proj_bias: "f32[384]", p_levels_2_transformer_encoder_1_norm2_weight: "f32[384]", p_levels_2_transformer_encoder_1_norm2_bias: "f32[384]", p_levels_2_transformer_encoder_1_mlp_fc1_weight: "f32[1536, 384]", p_levels_2_transformer_encoder_1_mlp_fc1_bias: "f32[1536]", p_levels_2_transformer_encoder_1_mlp_fc2_weight: "f32[384, 1536]", p_levels_2_transformer_encoder_1_mlp_fc2_bias: "f32[384]", p_levels_2_transformer_encoder_2_norm1_weight: "f32[384]", p_levels_2_transformer_encoder_2_norm1_bias: "f32[384]", p_levels_2_transformer_encoder_2_attn_qkv_weight: "f32[1152, 384]", p_levels_2_transformer_encoder_2_attn_qkv_bias: "f32[1152]", p_levels_2_transformer_encoder_2_attn_proj_weight: "f32[384, 384]", p_levels_2_transformer_encoder_2_attn_proj_bias: "f32[384]", p_levels_2_transformer_encoder_2_norm2_weight: "f32[384]", p_levels_2_transformer_encoder_2_norm2_bias: "f32[384]", p_levels_2_transformer_encoder_2_mlp_fc1_weight: "f32[1536, 384]", p_levels_2_transformer_encoder_2_mlp_fc1_bias: "f32[1536]", p_levels_2_transformer_encoder_2_mlp_fc2_weight: "f32[384, 1536]", p_levels_2_transformer_encoder_2_mlp_fc2_bias: "f32[384]", p_levels_2_transformer_encoder_3_norm1_weight: "f32[384]", p_levels_2_transformer_encoder_3_norm1_bias: "f32[384]", p_levels_2_transformer_encoder_3_attn_qkv_weight: "f32[1152, 384]", p_levels_2_transformer_encoder_3_attn_qkv_bias: "f32[1152]", p_levels_2_transformer_encoder_3_attn_proj_weight: "f32[384, 384]", p_levels_2_transformer_encoder_3_attn_proj_bias: "f32[384]", p_levels_2_transformer_encoder_3_norm2_weight: "f32[384]", p_levels_2_transformer_encoder_3_norm2_bias: "f32[384]", p_levels_2_transformer_encoder_3_mlp_fc1_weight: "f32[1536, 384]", p_levels_2_transformer_encoder_3_mlp_fc1_bias: "f32[1536]", p_levels_2_transformer_encoder_3_mlp_fc2_weight: "f32[384, 1536]", p_levels_2_transformer_encoder_3_mlp_fc2_bias: "f32[384]", p_levels_2_transformer_encoder_4_norm1_weight: "f32[384]", p_levels_2_transformer_encoder_4_norm1_bias: "f32[384]", p_levels_2_transformer_encoder_4_attn_qkv_weight: "f32[1152, 384]", p_levels_2_transformer_encoder_4_attn_qkv_bias: "f32[1152]", p_levels_2_transformer_encoder_4_attn_proj_weight: "f32[384, 384]", p_levels_2_transformer_encoder_4_attn_proj_bias: "f32[384]", p_levels_2_transformer_encoder_4_norm2_weight: "f32[384]", p_levels_2_transformer_encoder_4_norm2_bias: "f32[384]", p_levels_2_transformer_encoder_4_mlp_fc1_weight: "f32[1536, 384]", p_levels_2_transformer_encoder_4_mlp_fc1_bias: "f32[1536]", p_levels_2_transformer_encoder_4_mlp_fc2_weight: "f32[384, 1536]", p_levels_2_transformer_encoder_4_mlp_fc2_bias: "f32[384]", p_levels_2_transformer_encoder_5_norm1_weight: "f32[384]", p_levels_2_transformer_encoder_5_norm1_bias: "f32[384]", p_levels_2_transformer_encoder_5_attn_qkv_weight: "f32[1152, 384]", p_levels_2_transformer_encoder_5_attn_qkv_bias: "f32[1152]", p_levels_2_transformer_encoder_5_attn_proj_weight: "f32[384, 384]", p_levels_2_transformer_encoder_5_attn_proj_bias: "f32[384]", p_levels_2_transformer_encoder_5_norm2_weight: "f32[384]", p_levels_2_transformer_encoder_5_norm2_bias: "f32[384]", p_levels_2_transformer_encoder_5_mlp_fc1_weight: "f32[1536, 384]", p_levels_2_transformer_encoder_5_mlp_fc1_bias: "f32[1536]", p_levels_2_transformer_encoder_5_mlp_fc2_weight: "f32[384, 1536]", p_levels_2_transformer_encoder_5_mlp_fc2_bias: "f32[384]", p_levels_2_transformer_encoder_6_norm1_weight: "f32[384]", p_levels_2_transformer_encoder_6_norm1_bias: "f32[384]", p_levels_2_transformer_encoder_6_attn_qkv_weight: "f32[1152, 384]", p_levels_2_transformer_encoder_6_attn_qkv_bias: "f32[1152]", p_levels_2_transformer_encoder_6_attn_proj_weight: "f32[384, 384]", p_levels_2_transformer_encoder_6_attn_proj_bias: "f32[384]", p_levels_2_transformer_encoder_6_norm2_weight: "f32[384]", p_levels_2_transformer_encoder_6_norm2_bias: "f32[384]", p_levels_2_transformer_encoder_6_mlp_fc1_weight: "f32[1536, 384]", p_levels_2_transformer_encoder_6_mlp_fc1_bias: "f32[1536]", p_levels_2_transformer_encoder_6_mlp_fc2_weight: "f32[384, 1536]", p_levels_2_transformer_encoder_6_mlp_fc2_bias: "f32[384]", p_levels_2_transformer_encoder_7_norm1_weight: "f32[384]", p_levels_2_transformer_encoder_7_norm1_bias: "f32[384]", p_levels_2_transformer_encoder_7_attn_qkv_weight: "f32[1152, 384]", p_levels_2_transformer_encoder_7_attn_qkv_bias: "f32[1152]", p_levels_2_transformer_encoder_7_attn_proj_weight: "f32[384, 384]", p_levels_2_transformer_encoder_7_attn_proj_bias: "f32[384]", p_levels_2_transformer_encoder_7_norm2_weight: "f32[384]", p_levels_2_transformer_encoder_7_norm2_bias: "f32[384]", p_levels_2_transformer_encoder_7_mlp_fc1_weight: "f32[1536, 384]", p_levels_2_transformer_encoder_7_mlp_fc1_bias: "f32[1536]", p_levels_2_transformer_encoder_7_mlp_fc2_weight: "f32[384, 1536]", p_levels_2_transformer_encoder_7_mlp_fc2_bias: "f32[384]", p_norm_weight: "f32[384]", p_norm_bias: "f32[384]", p_head_weight: "f32[10, 384]", p_head_bias: "f32[10]", x: "f32[1, 3, 64, 64]"):
        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/conv.py:565 in forward, code: return self._conv_forward(input, self.weight, self.bias)
        conv2d: "f32[1, 96, 16, 16]" = paddle.nn.functional.conv2d(x, p_patch_embed_proj_weight, p_patch_embed_proj_bias, [4, 4]);  x = p_patch_embed_proj_weight = p_patch_embed_proj_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:276 in forward, code: x = x.permute(0, 2, 3, 1)  # (B, H', W', C), switch to channels last for transformer
        permute: "f32[1, 16, 16, 96]" = paddle.transpose(conv2d, [0, 2, 3, 1]);  conv2d = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:277 in forward, code: x = blockify(x, self.block_size)  # (B, T, N, C')
        reshape: "f32[1, 4, 4, 4, 4, 96]" = paddle.reshape(permute, [1, 4, 4, 4, 4, 96]);  permute = None
        transpose: "f32[1, 4, 4, 4, 4, 96]" = reshape.moveaxis([2, 3], [3, 2]);  reshape = None
        reshape_1: "f32[1, 16, 16, 96]" = paddle.reshape(transpose, [1, 16, -1, 96]);  transpose = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:278 in forward, code: x = x + self.pos_embed
        add: "f32[1, 16, 16, 96]" = paddle.add(reshape_1, p_levels_0_pos_embed);  reshape_1 = p_levels_0_pos_embed = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm: "f32[1, 16, 16, 96]" = paddle.nn.functional.layer_norm(x=add, normalized_shape=[96], weight=p_levels_0_transformer_encoder_0_norm1_weight, bias=p_levels_0_transformer_encoder_0_norm1_bias, epsilon=1e-06);  p_levels_0_transformer_encoder_0_norm1_weight = p_levels_0_transformer_encoder_0_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear: "f32[1, 16, 16, 288]" = paddle.nn.functional.linear(layer_norm, p_levels_0_transformer_encoder_0_attn_qkv_weight.t(), bias=p_levels_0_transformer_encoder_0_attn_qkv_bias);  layer_norm = p_levels_0_transformer_encoder_0_attn_qkv_weight = p_levels_0_transformer_encoder_0_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_2: "f32[1, 16, 16, 3, 3, 32]" = paddle.reshape(linear, [1, 16, 16, 3, 3, 32]);  linear = None
        permute_1: "f32[3, 1, 3, 16, 16, 32]" = paddle.transpose(reshape_2, [3, 0, 4, 1, 2, 5]);  reshape_2 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind = paddle.unbind(permute_1);  permute_1 = None
        getitem: "f32[1, 3, 16, 16, 32]" = unbind[0]
        getitem_1: "f32[1, 3, 16, 16, 32]" = unbind[1]
        getitem_2: "f32[1, 3, 16, 16, 32]" = unbind[2];  unbind = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention: "f32[1, 3, 16, 16, 32]" = torch_attention(getitem, getitem_1, getitem_2);  getitem = getitem_1 = getitem_2 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_2: "f32[1, 16, 16, 32, 3]" = paddle.transpose(scaled_dot_product_attention, [0, 2, 3, 4, 1]);  scaled_dot_product_attention = None
        reshape_3: "f32[1, 16, 16, 96]" = paddle.reshape(permute_2, [1, 16, 16, 96]);  permute_2 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_1: "f32[1, 16, 16, 96]" = paddle.nn.functional.linear(reshape_3, p_levels_0_transformer_encoder_0_attn_proj_weight.t(), bias=p_levels_0_transformer_encoder_0_attn_proj_bias);  reshape_3 = p_levels_0_transformer_encoder_0_attn_proj_weight = p_levels_0_transformer_encoder_0_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout: "f32[1, 16, 16, 96]" = paddle.nn.functional.dropout(linear_1, 0.0, training=False);  linear_1 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_1: "f32[1, 16, 16, 96]" = paddle.add(add, dropout);  add = dropout = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_1: "f32[1, 16, 16, 96]" = paddle.nn.functional.layer_norm(x=add_1, normalized_shape=[96], weight=p_levels_0_transformer_encoder_0_norm2_weight, bias=p_levels_0_transformer_encoder_0_norm2_bias, epsilon=1e-06);  p_levels_0_transformer_encoder_0_norm2_weight = p_levels_0_transformer_encoder_0_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_2: "f32[1, 16, 16, 384]" = paddle.nn.functional.linear(layer_norm_1, p_levels_0_transformer_encoder_0_mlp_fc1_weight.t(), bias=p_levels_0_transformer_encoder_0_mlp_fc1_bias);  layer_norm_1 = p_levels_0_transformer_encoder_0_mlp_fc1_weight = p_levels_0_transformer_encoder_0_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu: "f32[1, 16, 16, 384]" = paddle.nn.functional.gelu(linear_2);  linear_2 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_1: "f32[1, 16, 16, 384]" = paddle.nn.functional.dropout(gelu, 0.0, training=False);  gelu = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_3: "f32[1, 16, 16, 96]" = paddle.nn.functional.linear(dropout_1, p_levels_0_transformer_encoder_0_mlp_fc2_weight.t(), bias=p_levels_0_transformer_encoder_0_mlp_fc2_bias);  dropout_1 = p_levels_0_transformer_encoder_0_mlp_fc2_weight = p_levels_0_transformer_encoder_0_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_2: "f32[1, 16, 16, 96]" = paddle.nn.functional.dropout(linear_3, 0.0, training=False);  linear_3 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_2: "f32[1, 16, 16, 96]" = paddle.add(add_1, dropout_2);  add_1 = dropout_2 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_2: "f32[1, 16, 16, 96]" = paddle.nn.functional.layer_norm(x=add_2, normalized_shape=[96], weight=p_levels_0_transformer_encoder_1_norm1_weight, bias=p_levels_0_transformer_encoder_1_norm1_bias, epsilon=1e-06);  p_levels_0_transformer_encoder_1_norm1_weight = p_levels_0_transformer_encoder_1_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_4: "f32[1, 16, 16, 288]" = paddle.nn.functional.linear(layer_norm_2, p_levels_0_transformer_encoder_1_attn_qkv_weight.t(), bias=p_levels_0_transformer_encoder_1_attn_qkv_bias);  layer_norm_2 = p_levels_0_transformer_encoder_1_attn_qkv_weight = p_levels_0_transformer_encoder_1_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_4: "f32[1, 16, 16, 3, 3, 32]" = paddle.reshape(linear_4, [1, 16, 16, 3, 3, 32]);  linear_4 = None
        permute_3: "f32[3, 1, 3, 16, 16, 32]" = paddle.transpose(reshape_4, [3, 0, 4, 1, 2, 5]);  reshape_4 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind_1 = paddle.unbind(permute_3);  permute_3 = None
        getitem_3: "f32[1, 3, 16, 16, 32]" = unbind_1[0]
        getitem_4: "f32[1, 3, 16, 16, 32]" = unbind_1[1]
        getitem_5: "f32[1, 3, 16, 16, 32]" = unbind_1[2];  unbind_1 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention_1: "f32[1, 3, 16, 16, 32]" = torch_attention(getitem_3, getitem_4, getitem_5);  getitem_3 = getitem_4 = getitem_5 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_4: "f32[1, 16, 16, 32, 3]" = paddle.transpose(scaled_dot_product_attention_1, [0, 2, 3, 4, 1]);  scaled_dot_product_attention_1 = None
        reshape_5: "f32[1, 16, 16, 96]" = paddle.reshape(permute_4, [1, 16, 16, 96]);  permute_4 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_5: "f32[1, 16, 16, 96]" = paddle.nn.functional.linear(reshape_5, p_levels_0_transformer_encoder_1_attn_proj_weight.t(), bias=p_levels_0_transformer_encoder_1_attn_proj_bias);  reshape_5 = p_levels_0_transformer_encoder_1_attn_proj_weight = p_levels_0_transformer_encoder_1_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_3: "f32[1, 16, 16, 96]" = paddle.nn.functional.dropout(linear_5, 0.0, training=False);  linear_5 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_3: "f32[1, 16, 16, 96]" = paddle.add(add_2, dropout_3);  add_2 = dropout_3 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_3: "f32[1, 16, 16, 96]" = paddle.nn.functional.layer_norm(x=add_3, normalized_shape=[96], weight=p_levels_0_transformer_encoder_1_norm2_weight, bias=p_levels_0_transformer_encoder_1_norm2_bias, epsilon=1e-06);  p_levels_0_transformer_encoder_1_norm2_weight = p_levels_0_transformer_encoder_1_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_6: "f32[1, 16, 16, 384]" = paddle.nn.functional.linear(layer_norm_3, p_levels_0_transformer_encoder_1_mlp_fc1_weight.t(), bias=p_levels_0_transformer_encoder_1_mlp_fc1_bias);  layer_norm_3 = p_levels_0_transformer_encoder_1_mlp_fc1_weight = p_levels_0_transformer_encoder_1_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu_1: "f32[1, 16, 16, 384]" = paddle.nn.functional.gelu(linear_6);  linear_6 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_4: "f32[1, 16, 16, 384]" = paddle.nn.functional.dropout(gelu_1, 0.0, training=False);  gelu_1 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_7: "f32[1, 16, 16, 96]" = paddle.nn.functional.linear(dropout_4, p_levels_0_transformer_encoder_1_mlp_fc2_weight.t(), bias=p_levels_0_transformer_encoder_1_mlp_fc2_bias);  dropout_4 = p_levels_0_transformer_encoder_1_mlp_fc2_weight = p_levels_0_transformer_encoder_1_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_5: "f32[1, 16, 16, 96]" = paddle.nn.functional.dropout(linear_7, 0.0, training=False);  linear_7 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_4: "f32[1, 16, 16, 96]" = paddle.add(add_3, dropout_5);  add_3 = dropout_5 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:283 in forward, code: x = deblockify(x, self.block_size)  # (B, H', W', C')
        reshape_6: "f32[1, 4, 4, 4, 4, 96]" = paddle.reshape(add_4, [1, 4, 4, 4, 4, 96]);  add_4 = None
        transpose_1: "f32[1, 4, 4, 4, 4, 96]" = reshape_6.moveaxis([2, 3], [3, 2]);  reshape_6 = None
        reshape_7: "f32[1, 16, 16, 96]" = paddle.reshape(transpose_1, [1, 16, 16, 96]);  transpose_1 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:285 in forward, code: return x.permute(0, 3, 1, 2)  # (B, C, H', W')
        permute_5: "f32[1, 96, 16, 16]" = paddle.transpose(reshape_7, [0, 3, 1, 2]);  reshape_7 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/conv.py:565 in forward, code: return self._conv_forward(input, self.weight, self.bias)
        conv2d_1: "f32[1, 192, 16, 16]" = paddle.nn.functional.conv2d(permute_5, p_levels_1_pool_conv_weight, p_levels_1_pool_conv_bias, [1, 1], [1, 1]);  permute_5 = p_levels_1_pool_conv_weight = p_levels_1_pool_conv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:182 in forward, code: x = self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        permute_6: "f32[1, 16, 16, 192]" = paddle.transpose(conv2d_1, [0, 2, 3, 1]);  conv2d_1 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_4: "f32[1, 16, 16, 192]" = paddle.nn.functional.layer_norm(x=permute_6, normalized_shape=[192], weight=p_levels_1_pool_norm_weight, bias=p_levels_1_pool_norm_bias, epsilon=1e-06);  permute_6 = p_levels_1_pool_norm_weight = p_levels_1_pool_norm_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:182 in forward, code: x = self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        permute_7: "f32[1, 192, 16, 16]" = paddle.transpose(layer_norm_4, [0, 3, 1, 2]);  layer_norm_4 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/pooling.py:224 in forward, code: return F.max_pool2d(
        max_pool2d: "f32[1, 192, 8, 8]" = paddle.nn.functional.max_pool2d(permute_7, [3, 3], [2, 2], [1, 1]);  permute_7 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:276 in forward, code: x = x.permute(0, 2, 3, 1)  # (B, H', W', C), switch to channels last for transformer
        permute_8: "f32[1, 8, 8, 192]" = paddle.transpose(max_pool2d, [0, 2, 3, 1]);  max_pool2d = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:277 in forward, code: x = blockify(x, self.block_size)  # (B, T, N, C')
        reshape_8: "f32[1, 2, 4, 2, 4, 192]" = paddle.reshape(permute_8, [1, 2, 4, 2, 4, 192]);  permute_8 = None
        transpose_2: "f32[1, 2, 2, 4, 4, 192]" = reshape_8.moveaxis([2, 3], [3, 2]);  reshape_8 = None
        reshape_9: "f32[1, 4, 16, 192]" = paddle.reshape(transpose_2, [1, 4, -1, 192]);  transpose_2 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:278 in forward, code: x = x + self.pos_embed
        add_5: "f32[1, 4, 16, 192]" = paddle.add(reshape_9, p_levels_1_pos_embed);  reshape_9 = p_levels_1_pos_embed = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_5: "f32[1, 4, 16, 192]" = paddle.nn.functional.layer_norm(x=add_5, normalized_shape=[192], weight=p_levels_1_transformer_encoder_0_norm1_weight, bias=p_levels_1_transformer_encoder_0_norm1_bias, epsilon=1e-06);  p_levels_1_transformer_encoder_0_norm1_weight = p_levels_1_transformer_encoder_0_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_8: "f32[1, 4, 16, 576]" = paddle.nn.functional.linear(layer_norm_5, p_levels_1_transformer_encoder_0_attn_qkv_weight.t(), bias=p_levels_1_transformer_encoder_0_attn_qkv_bias);  layer_norm_5 = p_levels_1_transformer_encoder_0_attn_qkv_weight = p_levels_1_transformer_encoder_0_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_10: "f32[1, 4, 16, 3, 6, 32]" = paddle.reshape(linear_8, [1, 4, 16, 3, 6, 32]);  linear_8 = None
        permute_9: "f32[3, 1, 6, 4, 16, 32]" = paddle.transpose(reshape_10, [3, 0, 4, 1, 2, 5]);  reshape_10 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind_2 = paddle.unbind(permute_9);  permute_9 = None
        getitem_6: "f32[1, 6, 4, 16, 32]" = unbind_2[0]
        getitem_7: "f32[1, 6, 4, 16, 32]" = unbind_2[1]
        getitem_8: "f32[1, 6, 4, 16, 32]" = unbind_2[2];  unbind_2 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention_2: "f32[1, 6, 4, 16, 32]" = torch_attention(getitem_6, getitem_7, getitem_8);  getitem_6 = getitem_7 = getitem_8 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_10: "f32[1, 4, 16, 32, 6]" = paddle.transpose(scaled_dot_product_attention_2, [0, 2, 3, 4, 1]);  scaled_dot_product_attention_2 = None
        reshape_11: "f32[1, 4, 16, 192]" = paddle.reshape(permute_10, [1, 4, 16, 192]);  permute_10 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_9: "f32[1, 4, 16, 192]" = paddle.nn.functional.linear(reshape_11, p_levels_1_transformer_encoder_0_attn_proj_weight.t(), bias=p_levels_1_transformer_encoder_0_attn_proj_bias);  reshape_11 = p_levels_1_transformer_encoder_0_attn_proj_weight = p_levels_1_transformer_encoder_0_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_6: "f32[1, 4, 16, 192]" = paddle.nn.functional.dropout(linear_9, 0.0, training=False);  linear_9 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_6: "f32[1, 4, 16, 192]" = paddle.add(add_5, dropout_6);  add_5 = dropout_6 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_6: "f32[1, 4, 16, 192]" = paddle.nn.functional.layer_norm(x=add_6, normalized_shape=[192], weight=p_levels_1_transformer_encoder_0_norm2_weight, bias=p_levels_1_transformer_encoder_0_norm2_bias, epsilon=1e-06);  p_levels_1_transformer_encoder_0_norm2_weight = p_levels_1_transformer_encoder_0_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_10: "f32[1, 4, 16, 768]" = paddle.nn.functional.linear(layer_norm_6, p_levels_1_transformer_encoder_0_mlp_fc1_weight.t(), bias=p_levels_1_transformer_encoder_0_mlp_fc1_bias);  layer_norm_6 = p_levels_1_transformer_encoder_0_mlp_fc1_weight = p_levels_1_transformer_encoder_0_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu_2: "f32[1, 4, 16, 768]" = paddle.nn.functional.gelu(linear_10);  linear_10 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_7: "f32[1, 4, 16, 768]" = paddle.nn.functional.dropout(gelu_2, 0.0, training=False);  gelu_2 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_11: "f32[1, 4, 16, 192]" = paddle.nn.functional.linear(dropout_7, p_levels_1_transformer_encoder_0_mlp_fc2_weight.t(), bias=p_levels_1_transformer_encoder_0_mlp_fc2_bias);  dropout_7 = p_levels_1_transformer_encoder_0_mlp_fc2_weight = p_levels_1_transformer_encoder_0_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_8: "f32[1, 4, 16, 192]" = paddle.nn.functional.dropout(linear_11, 0.0, training=False);  linear_11 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_7: "f32[1, 4, 16, 192]" = paddle.add(add_6, dropout_8);  add_6 = dropout_8 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_7: "f32[1, 4, 16, 192]" = paddle.nn.functional.layer_norm(x=add_7, normalized_shape=[192], weight=p_levels_1_transformer_encoder_1_norm1_weight, bias=p_levels_1_transformer_encoder_1_norm1_bias, epsilon=1e-06);  p_levels_1_transformer_encoder_1_norm1_weight = p_levels_1_transformer_encoder_1_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_12: "f32[1, 4, 16, 576]" = paddle.nn.functional.linear(layer_norm_7, p_levels_1_transformer_encoder_1_attn_qkv_weight.t(), bias=p_levels_1_transformer_encoder_1_attn_qkv_bias);  layer_norm_7 = p_levels_1_transformer_encoder_1_attn_qkv_weight = p_levels_1_transformer_encoder_1_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_12: "f32[1, 4, 16, 3, 6, 32]" = paddle.reshape(linear_12, [1, 4, 16, 3, 6, 32]);  linear_12 = None
        permute_11: "f32[3, 1, 6, 4, 16, 32]" = paddle.transpose(reshape_12, [3, 0, 4, 1, 2, 5]);  reshape_12 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind_3 = paddle.unbind(permute_11);  permute_11 = None
        getitem_9: "f32[1, 6, 4, 16, 32]" = unbind_3[0]
        getitem_10: "f32[1, 6, 4, 16, 32]" = unbind_3[1]
        getitem_11: "f32[1, 6, 4, 16, 32]" = unbind_3[2];  unbind_3 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention_3: "f32[1, 6, 4, 16, 32]" = torch_attention(getitem_9, getitem_10, getitem_11);  getitem_9 = getitem_10 = getitem_11 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_12: "f32[1, 4, 16, 32, 6]" = paddle.transpose(scaled_dot_product_attention_3, [0, 2, 3, 4, 1]);  scaled_dot_product_attention_3 = None
        reshape_13: "f32[1, 4, 16, 192]" = paddle.reshape(permute_12, [1, 4, 16, 192]);  permute_12 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_13: "f32[1, 4, 16, 192]" = paddle.nn.functional.linear(reshape_13, p_levels_1_transformer_encoder_1_attn_proj_weight.t(), bias=p_levels_1_transformer_encoder_1_attn_proj_bias);  reshape_13 = p_levels_1_transformer_encoder_1_attn_proj_weight = p_levels_1_transformer_encoder_1_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_9: "f32[1, 4, 16, 192]" = paddle.nn.functional.dropout(linear_13, 0.0, training=False);  linear_13 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_8: "f32[1, 4, 16, 192]" = paddle.add(add_7, dropout_9);  add_7 = dropout_9 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_8: "f32[1, 4, 16, 192]" = paddle.nn.functional.layer_norm(x=add_8, normalized_shape=[192], weight=p_levels_1_transformer_encoder_1_norm2_weight, bias=p_levels_1_transformer_encoder_1_norm2_bias, epsilon=1e-06);  p_levels_1_transformer_encoder_1_norm2_weight = p_levels_1_transformer_encoder_1_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_14: "f32[1, 4, 16, 768]" = paddle.nn.functional.linear(layer_norm_8, p_levels_1_transformer_encoder_1_mlp_fc1_weight.t(), bias=p_levels_1_transformer_encoder_1_mlp_fc1_bias);  layer_norm_8 = p_levels_1_transformer_encoder_1_mlp_fc1_weight = p_levels_1_transformer_encoder_1_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu_3: "f32[1, 4, 16, 768]" = paddle.nn.functional.gelu(linear_14);  linear_14 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_10: "f32[1, 4, 16, 768]" = paddle.nn.functional.dropout(gelu_3, 0.0, training=False);  gelu_3 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_15: "f32[1, 4, 16, 192]" = paddle.nn.functional.linear(dropout_10, p_levels_1_transformer_encoder_1_mlp_fc2_weight.t(), bias=p_levels_1_transformer_encoder_1_mlp_fc2_bias);  dropout_10 = p_levels_1_transformer_encoder_1_mlp_fc2_weight = p_levels_1_transformer_encoder_1_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_11: "f32[1, 4, 16, 192]" = paddle.nn.functional.dropout(linear_15, 0.0, training=False);  linear_15 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_9: "f32[1, 4, 16, 192]" = paddle.add(add_8, dropout_11);  add_8 = dropout_11 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:283 in forward, code: x = deblockify(x, self.block_size)  # (B, H', W', C')
        reshape_14: "f32[1, 2, 2, 4, 4, 192]" = paddle.reshape(add_9, [1, 2, 2, 4, 4, 192]);  add_9 = None
        transpose_3: "f32[1, 2, 4, 2, 4, 192]" = reshape_14.moveaxis([2, 3], [3, 2]);  reshape_14 = None
        reshape_15: "f32[1, 8, 8, 192]" = paddle.reshape(transpose_3, [1, 8, 8, 192]);  transpose_3 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:285 in forward, code: return x.permute(0, 3, 1, 2)  # (B, C, H', W')
        permute_13: "f32[1, 192, 8, 8]" = paddle.transpose(reshape_15, [0, 3, 1, 2]);  reshape_15 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/conv.py:565 in forward, code: return self._conv_forward(input, self.weight, self.bias)
        conv2d_2: "f32[1, 384, 8, 8]" = paddle.nn.functional.conv2d(permute_13, p_levels_2_pool_conv_weight, p_levels_2_pool_conv_bias, [1, 1], [1, 1]);  permute_13 = p_levels_2_pool_conv_weight = p_levels_2_pool_conv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:182 in forward, code: x = self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        permute_14: "f32[1, 8, 8, 384]" = paddle.transpose(conv2d_2, [0, 2, 3, 1]);  conv2d_2 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_9: "f32[1, 8, 8, 384]" = paddle.nn.functional.layer_norm(x=permute_14, normalized_shape=[384], weight=p_levels_2_pool_norm_weight, bias=p_levels_2_pool_norm_bias, epsilon=1e-06);  permute_14 = p_levels_2_pool_norm_weight = p_levels_2_pool_norm_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:182 in forward, code: x = self.norm(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)
        permute_15: "f32[1, 384, 8, 8]" = paddle.transpose(layer_norm_9, [0, 3, 1, 2]);  layer_norm_9 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/pooling.py:224 in forward, code: return F.max_pool2d(
        max_pool2d_1: "f32[1, 384, 4, 4]" = paddle.nn.functional.max_pool2d(permute_15, [3, 3], [2, 2], [1, 1]);  permute_15 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:276 in forward, code: x = x.permute(0, 2, 3, 1)  # (B, H', W', C), switch to channels last for transformer
        permute_16: "f32[1, 4, 4, 384]" = paddle.transpose(max_pool2d_1, [0, 2, 3, 1]);  max_pool2d_1 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:277 in forward, code: x = blockify(x, self.block_size)  # (B, T, N, C')
        reshape_16: "f32[1, 1, 4, 1, 4, 384]" = paddle.reshape(permute_16, [1, 1, 4, 1, 4, 384]);  permute_16 = None
        transpose_4: "f32[1, 1, 1, 4, 4, 384]" = reshape_16.moveaxis([2, 3], [3, 2]);  reshape_16 = None
        reshape_17: "f32[1, 1, 16, 384]" = paddle.reshape(transpose_4, [1, 1, -1, 384]);  transpose_4 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:278 in forward, code: x = x + self.pos_embed
        add_10: "f32[1, 1, 16, 384]" = paddle.add(reshape_17, p_levels_2_pos_embed);  reshape_17 = p_levels_2_pos_embed = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_10: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_10, normalized_shape=[384], weight=p_levels_2_transformer_encoder_0_norm1_weight, bias=p_levels_2_transformer_encoder_0_norm1_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_0_norm1_weight = p_levels_2_transformer_encoder_0_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_16: "f32[1, 1, 16, 1152]" = paddle.nn.functional.linear(layer_norm_10, p_levels_2_transformer_encoder_0_attn_qkv_weight.t(), bias=p_levels_2_transformer_encoder_0_attn_qkv_bias);  layer_norm_10 = p_levels_2_transformer_encoder_0_attn_qkv_weight = p_levels_2_transformer_encoder_0_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_18: "f32[1, 1, 16, 3, 12, 32]" = paddle.reshape(linear_16, [1, 1, 16, 3, 12, 32]);  linear_16 = None
        permute_17: "f32[3, 1, 12, 1, 16, 32]" = paddle.transpose(reshape_18, [3, 0, 4, 1, 2, 5]);  reshape_18 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind_4 = paddle.unbind(permute_17);  permute_17 = None
        getitem_12: "f32[1, 12, 1, 16, 32]" = unbind_4[0]
        getitem_13: "f32[1, 12, 1, 16, 32]" = unbind_4[1]
        getitem_14: "f32[1, 12, 1, 16, 32]" = unbind_4[2];  unbind_4 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention_4: "f32[1, 12, 1, 16, 32]" = torch_attention(getitem_12, getitem_13, getitem_14);  getitem_12 = getitem_13 = getitem_14 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_18: "f32[1, 1, 16, 32, 12]" = paddle.transpose(scaled_dot_product_attention_4, [0, 2, 3, 4, 1]);  scaled_dot_product_attention_4 = None
        reshape_19: "f32[1, 1, 16, 384]" = paddle.reshape(permute_18, [1, 1, 16, 384]);  permute_18 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_17: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(reshape_19, p_levels_2_transformer_encoder_0_attn_proj_weight.t(), bias=p_levels_2_transformer_encoder_0_attn_proj_bias);  reshape_19 = p_levels_2_transformer_encoder_0_attn_proj_weight = p_levels_2_transformer_encoder_0_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_12: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_17, 0.0, training=False);  linear_17 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_11: "f32[1, 1, 16, 384]" = paddle.add(add_10, dropout_12);  add_10 = dropout_12 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_11: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_11, normalized_shape=[384], weight=p_levels_2_transformer_encoder_0_norm2_weight, bias=p_levels_2_transformer_encoder_0_norm2_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_0_norm2_weight = p_levels_2_transformer_encoder_0_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_18: "f32[1, 1, 16, 1536]" = paddle.nn.functional.linear(layer_norm_11, p_levels_2_transformer_encoder_0_mlp_fc1_weight.t(), bias=p_levels_2_transformer_encoder_0_mlp_fc1_bias);  layer_norm_11 = p_levels_2_transformer_encoder_0_mlp_fc1_weight = p_levels_2_transformer_encoder_0_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu_4: "f32[1, 1, 16, 1536]" = paddle.nn.functional.gelu(linear_18);  linear_18 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_13: "f32[1, 1, 16, 1536]" = paddle.nn.functional.dropout(gelu_4, 0.0, training=False);  gelu_4 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_19: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(dropout_13, p_levels_2_transformer_encoder_0_mlp_fc2_weight.t(), bias=p_levels_2_transformer_encoder_0_mlp_fc2_bias);  dropout_13 = p_levels_2_transformer_encoder_0_mlp_fc2_weight = p_levels_2_transformer_encoder_0_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_14: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_19, 0.0, training=False);  linear_19 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_12: "f32[1, 1, 16, 384]" = paddle.add(add_11, dropout_14);  add_11 = dropout_14 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_12: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_12, normalized_shape=[384], weight=p_levels_2_transformer_encoder_1_norm1_weight, bias=p_levels_2_transformer_encoder_1_norm1_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_1_norm1_weight = p_levels_2_transformer_encoder_1_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_20: "f32[1, 1, 16, 1152]" = paddle.nn.functional.linear(layer_norm_12, p_levels_2_transformer_encoder_1_attn_qkv_weight.t(), bias=p_levels_2_transformer_encoder_1_attn_qkv_bias);  layer_norm_12 = p_levels_2_transformer_encoder_1_attn_qkv_weight = p_levels_2_transformer_encoder_1_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_20: "f32[1, 1, 16, 3, 12, 32]" = paddle.reshape(linear_20, [1, 1, 16, 3, 12, 32]);  linear_20 = None
        permute_19: "f32[3, 1, 12, 1, 16, 32]" = paddle.transpose(reshape_20, [3, 0, 4, 1, 2, 5]);  reshape_20 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind_5 = paddle.unbind(permute_19);  permute_19 = None
        getitem_15: "f32[1, 12, 1, 16, 32]" = unbind_5[0]
        getitem_16: "f32[1, 12, 1, 16, 32]" = unbind_5[1]
        getitem_17: "f32[1, 12, 1, 16, 32]" = unbind_5[2];  unbind_5 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention_5: "f32[1, 12, 1, 16, 32]" = torch_attention(getitem_15, getitem_16, getitem_17);  getitem_15 = getitem_16 = getitem_17 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_20: "f32[1, 1, 16, 32, 12]" = paddle.transpose(scaled_dot_product_attention_5, [0, 2, 3, 4, 1]);  scaled_dot_product_attention_5 = None
        reshape_21: "f32[1, 1, 16, 384]" = paddle.reshape(permute_20, [1, 1, 16, 384]);  permute_20 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_21: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(reshape_21, p_levels_2_transformer_encoder_1_attn_proj_weight.t(), bias=p_levels_2_transformer_encoder_1_attn_proj_bias);  reshape_21 = p_levels_2_transformer_encoder_1_attn_proj_weight = p_levels_2_transformer_encoder_1_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_15: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_21, 0.0, training=False);  linear_21 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_13: "f32[1, 1, 16, 384]" = paddle.add(add_12, dropout_15);  add_12 = dropout_15 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_13: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_13, normalized_shape=[384], weight=p_levels_2_transformer_encoder_1_norm2_weight, bias=p_levels_2_transformer_encoder_1_norm2_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_1_norm2_weight = p_levels_2_transformer_encoder_1_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_22: "f32[1, 1, 16, 1536]" = paddle.nn.functional.linear(layer_norm_13, p_levels_2_transformer_encoder_1_mlp_fc1_weight.t(), bias=p_levels_2_transformer_encoder_1_mlp_fc1_bias);  layer_norm_13 = p_levels_2_transformer_encoder_1_mlp_fc1_weight = p_levels_2_transformer_encoder_1_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu_5: "f32[1, 1, 16, 1536]" = paddle.nn.functional.gelu(linear_22);  linear_22 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_16: "f32[1, 1, 16, 1536]" = paddle.nn.functional.dropout(gelu_5, 0.0, training=False);  gelu_5 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_23: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(dropout_16, p_levels_2_transformer_encoder_1_mlp_fc2_weight.t(), bias=p_levels_2_transformer_encoder_1_mlp_fc2_bias);  dropout_16 = p_levels_2_transformer_encoder_1_mlp_fc2_weight = p_levels_2_transformer_encoder_1_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_17: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_23, 0.0, training=False);  linear_23 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_14: "f32[1, 1, 16, 384]" = paddle.add(add_13, dropout_17);  add_13 = dropout_17 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_14: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_14, normalized_shape=[384], weight=p_levels_2_transformer_encoder_2_norm1_weight, bias=p_levels_2_transformer_encoder_2_norm1_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_2_norm1_weight = p_levels_2_transformer_encoder_2_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_24: "f32[1, 1, 16, 1152]" = paddle.nn.functional.linear(layer_norm_14, p_levels_2_transformer_encoder_2_attn_qkv_weight.t(), bias=p_levels_2_transformer_encoder_2_attn_qkv_bias);  layer_norm_14 = p_levels_2_transformer_encoder_2_attn_qkv_weight = p_levels_2_transformer_encoder_2_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_22: "f32[1, 1, 16, 3, 12, 32]" = paddle.reshape(linear_24, [1, 1, 16, 3, 12, 32]);  linear_24 = None
        permute_21: "f32[3, 1, 12, 1, 16, 32]" = paddle.transpose(reshape_22, [3, 0, 4, 1, 2, 5]);  reshape_22 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind_6 = paddle.unbind(permute_21);  permute_21 = None
        getitem_18: "f32[1, 12, 1, 16, 32]" = unbind_6[0]
        getitem_19: "f32[1, 12, 1, 16, 32]" = unbind_6[1]
        getitem_20: "f32[1, 12, 1, 16, 32]" = unbind_6[2];  unbind_6 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention_6: "f32[1, 12, 1, 16, 32]" = torch_attention(getitem_18, getitem_19, getitem_20);  getitem_18 = getitem_19 = getitem_20 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_22: "f32[1, 1, 16, 32, 12]" = paddle.transpose(scaled_dot_product_attention_6, [0, 2, 3, 4, 1]);  scaled_dot_product_attention_6 = None
        reshape_23: "f32[1, 1, 16, 384]" = paddle.reshape(permute_22, [1, 1, 16, 384]);  permute_22 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_25: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(reshape_23, p_levels_2_transformer_encoder_2_attn_proj_weight.t(), bias=p_levels_2_transformer_encoder_2_attn_proj_bias);  reshape_23 = p_levels_2_transformer_encoder_2_attn_proj_weight = p_levels_2_transformer_encoder_2_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_18: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_25, 0.0, training=False);  linear_25 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_15: "f32[1, 1, 16, 384]" = paddle.add(add_14, dropout_18);  add_14 = dropout_18 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_15: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_15, normalized_shape=[384], weight=p_levels_2_transformer_encoder_2_norm2_weight, bias=p_levels_2_transformer_encoder_2_norm2_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_2_norm2_weight = p_levels_2_transformer_encoder_2_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_26: "f32[1, 1, 16, 1536]" = paddle.nn.functional.linear(layer_norm_15, p_levels_2_transformer_encoder_2_mlp_fc1_weight.t(), bias=p_levels_2_transformer_encoder_2_mlp_fc1_bias);  layer_norm_15 = p_levels_2_transformer_encoder_2_mlp_fc1_weight = p_levels_2_transformer_encoder_2_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu_6: "f32[1, 1, 16, 1536]" = paddle.nn.functional.gelu(linear_26);  linear_26 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_19: "f32[1, 1, 16, 1536]" = paddle.nn.functional.dropout(gelu_6, 0.0, training=False);  gelu_6 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_27: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(dropout_19, p_levels_2_transformer_encoder_2_mlp_fc2_weight.t(), bias=p_levels_2_transformer_encoder_2_mlp_fc2_bias);  dropout_19 = p_levels_2_transformer_encoder_2_mlp_fc2_weight = p_levels_2_transformer_encoder_2_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_20: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_27, 0.0, training=False);  linear_27 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_16: "f32[1, 1, 16, 384]" = paddle.add(add_15, dropout_20);  add_15 = dropout_20 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_16: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_16, normalized_shape=[384], weight=p_levels_2_transformer_encoder_3_norm1_weight, bias=p_levels_2_transformer_encoder_3_norm1_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_3_norm1_weight = p_levels_2_transformer_encoder_3_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_28: "f32[1, 1, 16, 1152]" = paddle.nn.functional.linear(layer_norm_16, p_levels_2_transformer_encoder_3_attn_qkv_weight.t(), bias=p_levels_2_transformer_encoder_3_attn_qkv_bias);  layer_norm_16 = p_levels_2_transformer_encoder_3_attn_qkv_weight = p_levels_2_transformer_encoder_3_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_24: "f32[1, 1, 16, 3, 12, 32]" = paddle.reshape(linear_28, [1, 1, 16, 3, 12, 32]);  linear_28 = None
        permute_23: "f32[3, 1, 12, 1, 16, 32]" = paddle.transpose(reshape_24, [3, 0, 4, 1, 2, 5]);  reshape_24 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind_7 = paddle.unbind(permute_23);  permute_23 = None
        getitem_21: "f32[1, 12, 1, 16, 32]" = unbind_7[0]
        getitem_22: "f32[1, 12, 1, 16, 32]" = unbind_7[1]
        getitem_23: "f32[1, 12, 1, 16, 32]" = unbind_7[2];  unbind_7 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention_7: "f32[1, 12, 1, 16, 32]" = torch_attention(getitem_21, getitem_22, getitem_23);  getitem_21 = getitem_22 = getitem_23 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_24: "f32[1, 1, 16, 32, 12]" = paddle.transpose(scaled_dot_product_attention_7, [0, 2, 3, 4, 1]);  scaled_dot_product_attention_7 = None
        reshape_25: "f32[1, 1, 16, 384]" = paddle.reshape(permute_24, [1, 1, 16, 384]);  permute_24 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_29: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(reshape_25, p_levels_2_transformer_encoder_3_attn_proj_weight.t(), bias=p_levels_2_transformer_encoder_3_attn_proj_bias);  reshape_25 = p_levels_2_transformer_encoder_3_attn_proj_weight = p_levels_2_transformer_encoder_3_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_21: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_29, 0.0, training=False);  linear_29 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_17: "f32[1, 1, 16, 384]" = paddle.add(add_16, dropout_21);  add_16 = dropout_21 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_17: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_17, normalized_shape=[384], weight=p_levels_2_transformer_encoder_3_norm2_weight, bias=p_levels_2_transformer_encoder_3_norm2_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_3_norm2_weight = p_levels_2_transformer_encoder_3_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_30: "f32[1, 1, 16, 1536]" = paddle.nn.functional.linear(layer_norm_17, p_levels_2_transformer_encoder_3_mlp_fc1_weight.t(), bias=p_levels_2_transformer_encoder_3_mlp_fc1_bias);  layer_norm_17 = p_levels_2_transformer_encoder_3_mlp_fc1_weight = p_levels_2_transformer_encoder_3_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu_7: "f32[1, 1, 16, 1536]" = paddle.nn.functional.gelu(linear_30);  linear_30 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_22: "f32[1, 1, 16, 1536]" = paddle.nn.functional.dropout(gelu_7, 0.0, training=False);  gelu_7 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_31: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(dropout_22, p_levels_2_transformer_encoder_3_mlp_fc2_weight.t(), bias=p_levels_2_transformer_encoder_3_mlp_fc2_bias);  dropout_22 = p_levels_2_transformer_encoder_3_mlp_fc2_weight = p_levels_2_transformer_encoder_3_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_23: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_31, 0.0, training=False);  linear_31 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_18: "f32[1, 1, 16, 384]" = paddle.add(add_17, dropout_23);  add_17 = dropout_23 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_18: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_18, normalized_shape=[384], weight=p_levels_2_transformer_encoder_4_norm1_weight, bias=p_levels_2_transformer_encoder_4_norm1_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_4_norm1_weight = p_levels_2_transformer_encoder_4_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_32: "f32[1, 1, 16, 1152]" = paddle.nn.functional.linear(layer_norm_18, p_levels_2_transformer_encoder_4_attn_qkv_weight.t(), bias=p_levels_2_transformer_encoder_4_attn_qkv_bias);  layer_norm_18 = p_levels_2_transformer_encoder_4_attn_qkv_weight = p_levels_2_transformer_encoder_4_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_26: "f32[1, 1, 16, 3, 12, 32]" = paddle.reshape(linear_32, [1, 1, 16, 3, 12, 32]);  linear_32 = None
        permute_25: "f32[3, 1, 12, 1, 16, 32]" = paddle.transpose(reshape_26, [3, 0, 4, 1, 2, 5]);  reshape_26 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind_8 = paddle.unbind(permute_25);  permute_25 = None
        getitem_24: "f32[1, 12, 1, 16, 32]" = unbind_8[0]
        getitem_25: "f32[1, 12, 1, 16, 32]" = unbind_8[1]
        getitem_26: "f32[1, 12, 1, 16, 32]" = unbind_8[2];  unbind_8 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention_8: "f32[1, 12, 1, 16, 32]" = torch_attention(getitem_24, getitem_25, getitem_26);  getitem_24 = getitem_25 = getitem_26 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_26: "f32[1, 1, 16, 32, 12]" = paddle.transpose(scaled_dot_product_attention_8, [0, 2, 3, 4, 1]);  scaled_dot_product_attention_8 = None
        reshape_27: "f32[1, 1, 16, 384]" = paddle.reshape(permute_26, [1, 1, 16, 384]);  permute_26 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_33: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(reshape_27, p_levels_2_transformer_encoder_4_attn_proj_weight.t(), bias=p_levels_2_transformer_encoder_4_attn_proj_bias);  reshape_27 = p_levels_2_transformer_encoder_4_attn_proj_weight = p_levels_2_transformer_encoder_4_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_24: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_33, 0.0, training=False);  linear_33 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_19: "f32[1, 1, 16, 384]" = paddle.add(add_18, dropout_24);  add_18 = dropout_24 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_19: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_19, normalized_shape=[384], weight=p_levels_2_transformer_encoder_4_norm2_weight, bias=p_levels_2_transformer_encoder_4_norm2_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_4_norm2_weight = p_levels_2_transformer_encoder_4_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_34: "f32[1, 1, 16, 1536]" = paddle.nn.functional.linear(layer_norm_19, p_levels_2_transformer_encoder_4_mlp_fc1_weight.t(), bias=p_levels_2_transformer_encoder_4_mlp_fc1_bias);  layer_norm_19 = p_levels_2_transformer_encoder_4_mlp_fc1_weight = p_levels_2_transformer_encoder_4_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu_8: "f32[1, 1, 16, 1536]" = paddle.nn.functional.gelu(linear_34);  linear_34 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_25: "f32[1, 1, 16, 1536]" = paddle.nn.functional.dropout(gelu_8, 0.0, training=False);  gelu_8 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_35: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(dropout_25, p_levels_2_transformer_encoder_4_mlp_fc2_weight.t(), bias=p_levels_2_transformer_encoder_4_mlp_fc2_bias);  dropout_25 = p_levels_2_transformer_encoder_4_mlp_fc2_weight = p_levels_2_transformer_encoder_4_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_26: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_35, 0.0, training=False);  linear_35 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_20: "f32[1, 1, 16, 384]" = paddle.add(add_19, dropout_26);  add_19 = dropout_26 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_20: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_20, normalized_shape=[384], weight=p_levels_2_transformer_encoder_5_norm1_weight, bias=p_levels_2_transformer_encoder_5_norm1_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_5_norm1_weight = p_levels_2_transformer_encoder_5_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_36: "f32[1, 1, 16, 1152]" = paddle.nn.functional.linear(layer_norm_20, p_levels_2_transformer_encoder_5_attn_qkv_weight.t(), bias=p_levels_2_transformer_encoder_5_attn_qkv_bias);  layer_norm_20 = p_levels_2_transformer_encoder_5_attn_qkv_weight = p_levels_2_transformer_encoder_5_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_28: "f32[1, 1, 16, 3, 12, 32]" = paddle.reshape(linear_36, [1, 1, 16, 3, 12, 32]);  linear_36 = None
        permute_27: "f32[3, 1, 12, 1, 16, 32]" = paddle.transpose(reshape_28, [3, 0, 4, 1, 2, 5]);  reshape_28 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind_9 = paddle.unbind(permute_27);  permute_27 = None
        getitem_27: "f32[1, 12, 1, 16, 32]" = unbind_9[0]
        getitem_28: "f32[1, 12, 1, 16, 32]" = unbind_9[1]
        getitem_29: "f32[1, 12, 1, 16, 32]" = unbind_9[2];  unbind_9 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention_9: "f32[1, 12, 1, 16, 32]" = torch_attention(getitem_27, getitem_28, getitem_29);  getitem_27 = getitem_28 = getitem_29 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_28: "f32[1, 1, 16, 32, 12]" = paddle.transpose(scaled_dot_product_attention_9, [0, 2, 3, 4, 1]);  scaled_dot_product_attention_9 = None
        reshape_29: "f32[1, 1, 16, 384]" = paddle.reshape(permute_28, [1, 1, 16, 384]);  permute_28 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_37: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(reshape_29, p_levels_2_transformer_encoder_5_attn_proj_weight.t(), bias=p_levels_2_transformer_encoder_5_attn_proj_bias);  reshape_29 = p_levels_2_transformer_encoder_5_attn_proj_weight = p_levels_2_transformer_encoder_5_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_27: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_37, 0.0, training=False);  linear_37 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_21: "f32[1, 1, 16, 384]" = paddle.add(add_20, dropout_27);  add_20 = dropout_27 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_21: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_21, normalized_shape=[384], weight=p_levels_2_transformer_encoder_5_norm2_weight, bias=p_levels_2_transformer_encoder_5_norm2_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_5_norm2_weight = p_levels_2_transformer_encoder_5_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_38: "f32[1, 1, 16, 1536]" = paddle.nn.functional.linear(layer_norm_21, p_levels_2_transformer_encoder_5_mlp_fc1_weight.t(), bias=p_levels_2_transformer_encoder_5_mlp_fc1_bias);  layer_norm_21 = p_levels_2_transformer_encoder_5_mlp_fc1_weight = p_levels_2_transformer_encoder_5_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu_9: "f32[1, 1, 16, 1536]" = paddle.nn.functional.gelu(linear_38);  linear_38 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_28: "f32[1, 1, 16, 1536]" = paddle.nn.functional.dropout(gelu_9, 0.0, training=False);  gelu_9 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_39: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(dropout_28, p_levels_2_transformer_encoder_5_mlp_fc2_weight.t(), bias=p_levels_2_transformer_encoder_5_mlp_fc2_bias);  dropout_28 = p_levels_2_transformer_encoder_5_mlp_fc2_weight = p_levels_2_transformer_encoder_5_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_29: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_39, 0.0, training=False);  linear_39 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_22: "f32[1, 1, 16, 384]" = paddle.add(add_21, dropout_29);  add_21 = dropout_29 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_22: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_22, normalized_shape=[384], weight=p_levels_2_transformer_encoder_6_norm1_weight, bias=p_levels_2_transformer_encoder_6_norm1_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_6_norm1_weight = p_levels_2_transformer_encoder_6_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_40: "f32[1, 1, 16, 1152]" = paddle.nn.functional.linear(layer_norm_22, p_levels_2_transformer_encoder_6_attn_qkv_weight.t(), bias=p_levels_2_transformer_encoder_6_attn_qkv_bias);  layer_norm_22 = p_levels_2_transformer_encoder_6_attn_qkv_weight = p_levels_2_transformer_encoder_6_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_30: "f32[1, 1, 16, 3, 12, 32]" = paddle.reshape(linear_40, [1, 1, 16, 3, 12, 32]);  linear_40 = None
        permute_29: "f32[3, 1, 12, 1, 16, 32]" = paddle.transpose(reshape_30, [3, 0, 4, 1, 2, 5]);  reshape_30 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind_10 = paddle.unbind(permute_29);  permute_29 = None
        getitem_30: "f32[1, 12, 1, 16, 32]" = unbind_10[0]
        getitem_31: "f32[1, 12, 1, 16, 32]" = unbind_10[1]
        getitem_32: "f32[1, 12, 1, 16, 32]" = unbind_10[2];  unbind_10 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention_10: "f32[1, 12, 1, 16, 32]" = torch_attention(getitem_30, getitem_31, getitem_32);  getitem_30 = getitem_31 = getitem_32 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_30: "f32[1, 1, 16, 32, 12]" = paddle.transpose(scaled_dot_product_attention_10, [0, 2, 3, 4, 1]);  scaled_dot_product_attention_10 = None
        reshape_31: "f32[1, 1, 16, 384]" = paddle.reshape(permute_30, [1, 1, 16, 384]);  permute_30 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_41: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(reshape_31, p_levels_2_transformer_encoder_6_attn_proj_weight.t(), bias=p_levels_2_transformer_encoder_6_attn_proj_bias);  reshape_31 = p_levels_2_transformer_encoder_6_attn_proj_weight = p_levels_2_transformer_encoder_6_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_30: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_41, 0.0, training=False);  linear_41 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_23: "f32[1, 1, 16, 384]" = paddle.add(add_22, dropout_30);  add_22 = dropout_30 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_23: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_23, normalized_shape=[384], weight=p_levels_2_transformer_encoder_6_norm2_weight, bias=p_levels_2_transformer_encoder_6_norm2_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_6_norm2_weight = p_levels_2_transformer_encoder_6_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_42: "f32[1, 1, 16, 1536]" = paddle.nn.functional.linear(layer_norm_23, p_levels_2_transformer_encoder_6_mlp_fc1_weight.t(), bias=p_levels_2_transformer_encoder_6_mlp_fc1_bias);  layer_norm_23 = p_levels_2_transformer_encoder_6_mlp_fc1_weight = p_levels_2_transformer_encoder_6_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu_10: "f32[1, 1, 16, 1536]" = paddle.nn.functional.gelu(linear_42);  linear_42 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_31: "f32[1, 1, 16, 1536]" = paddle.nn.functional.dropout(gelu_10, 0.0, training=False);  gelu_10 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_43: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(dropout_31, p_levels_2_transformer_encoder_6_mlp_fc2_weight.t(), bias=p_levels_2_transformer_encoder_6_mlp_fc2_bias);  dropout_31 = p_levels_2_transformer_encoder_6_mlp_fc2_weight = p_levels_2_transformer_encoder_6_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_32: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_43, 0.0, training=False);  linear_43 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_24: "f32[1, 1, 16, 384]" = paddle.add(add_23, dropout_32);  add_23 = dropout_32 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_24: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_24, normalized_shape=[384], weight=p_levels_2_transformer_encoder_7_norm1_weight, bias=p_levels_2_transformer_encoder_7_norm1_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_7_norm1_weight = p_levels_2_transformer_encoder_7_norm1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_44: "f32[1, 1, 16, 1152]" = paddle.nn.functional.linear(layer_norm_24, p_levels_2_transformer_encoder_7_attn_qkv_weight.t(), bias=p_levels_2_transformer_encoder_7_attn_qkv_bias);  layer_norm_24 = p_levels_2_transformer_encoder_7_attn_qkv_weight = p_levels_2_transformer_encoder_7_attn_qkv_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:89 in forward, code: qkv = self.qkv(x).reshape(B, T, N, 3, self.num_heads, C // self.num_heads).permute(3, 0, 4, 1, 2, 5)
        reshape_32: "f32[1, 1, 16, 3, 12, 32]" = paddle.reshape(linear_44, [1, 1, 16, 3, 12, 32]);  linear_44 = None
        permute_31: "f32[3, 1, 12, 1, 16, 32]" = paddle.transpose(reshape_32, [3, 0, 4, 1, 2, 5]);  reshape_32 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:90 in forward, code: q, k, v = qkv.unbind(0)  # make torchscript happy (cannot use tensor as tuple)
        unbind_11 = paddle.unbind(permute_31);  permute_31 = None
        getitem_33: "f32[1, 12, 1, 16, 32]" = unbind_11[0]
        getitem_34: "f32[1, 12, 1, 16, 32]" = unbind_11[1]
        getitem_35: "f32[1, 12, 1, 16, 32]" = unbind_11[2];  unbind_11 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:93 in forward, code: x = F.scaled_dot_product_attention(q, k, v, dropout_p=self.attn_drop.p if self.training else 0.)
        scaled_dot_product_attention_11: "f32[1, 12, 1, 16, 32]" = torch_attention(getitem_33, getitem_34, getitem_35);  getitem_33 = getitem_34 = getitem_35 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:102 in forward, code: x = x.permute(0, 2, 3, 4, 1).reshape(B, T, N, C)
        permute_32: "f32[1, 1, 16, 32, 12]" = paddle.transpose(scaled_dot_product_attention_11, [0, 2, 3, 4, 1]);  scaled_dot_product_attention_11 = None
        reshape_33: "f32[1, 1, 16, 384]" = paddle.reshape(permute_32, [1, 1, 16, 384]);  permute_32 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_45: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(reshape_33, p_levels_2_transformer_encoder_7_attn_proj_weight.t(), bias=p_levels_2_transformer_encoder_7_attn_proj_bias);  reshape_33 = p_levels_2_transformer_encoder_7_attn_proj_weight = p_levels_2_transformer_encoder_7_attn_proj_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_33: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_45, 0.0, training=False);  linear_45 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:153 in forward, code: x = x + self.drop_path1(self.attn(y))
        add_25: "f32[1, 1, 16, 384]" = paddle.add(add_24, dropout_33);  add_24 = dropout_33 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_25: "f32[1, 1, 16, 384]" = paddle.nn.functional.layer_norm(x=add_25, normalized_shape=[384], weight=p_levels_2_transformer_encoder_7_norm2_weight, bias=p_levels_2_transformer_encoder_7_norm2_bias, epsilon=1e-06);  p_levels_2_transformer_encoder_7_norm2_weight = p_levels_2_transformer_encoder_7_norm2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_46: "f32[1, 1, 16, 1536]" = paddle.nn.functional.linear(layer_norm_25, p_levels_2_transformer_encoder_7_mlp_fc1_weight.t(), bias=p_levels_2_transformer_encoder_7_mlp_fc1_bias);  layer_norm_25 = p_levels_2_transformer_encoder_7_mlp_fc1_weight = p_levels_2_transformer_encoder_7_mlp_fc1_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/activation.py:816 in forward, code: return F.gelu(input, approximate=self.approximate)
        gelu_11: "f32[1, 1, 16, 1536]" = paddle.nn.functional.gelu(linear_46);  linear_46 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_34: "f32[1, 1, 16, 1536]" = paddle.nn.functional.dropout(gelu_11, 0.0, training=False);  gelu_11 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_47: "f32[1, 1, 16, 384]" = paddle.nn.functional.linear(dropout_34, p_levels_2_transformer_encoder_7_mlp_fc2_weight.t(), bias=p_levels_2_transformer_encoder_7_mlp_fc2_bias);  dropout_34 = p_levels_2_transformer_encoder_7_mlp_fc2_weight = p_levels_2_transformer_encoder_7_mlp_fc2_bias = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_35: "f32[1, 1, 16, 384]" = paddle.nn.functional.dropout(linear_47, 0.0, training=False);  linear_47 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:154 in forward, code: x = x + self.drop_path2(self.mlp(self.norm2(x)))
        add_26: "f32[1, 1, 16, 384]" = paddle.add(add_25, dropout_35);  add_25 = dropout_35 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:283 in forward, code: x = deblockify(x, self.block_size)  # (B, H', W', C')
        reshape_34: "f32[1, 1, 1, 4, 4, 384]" = paddle.reshape(add_26, [1, 1, 1, 4, 4, 384]);  add_26 = None
        transpose_5: "f32[1, 1, 4, 1, 4, 384]" = reshape_34.moveaxis([2, 3], [3, 2]);  reshape_34 = None
        reshape_35: "f32[1, 4, 4, 384]" = paddle.reshape(transpose_5, [1, 4, 4, 384]);  transpose_5 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:285 in forward, code: return x.permute(0, 3, 1, 2)  # (B, C, H', W')
        permute_33: "f32[1, 384, 4, 4]" = paddle.transpose(reshape_35, [0, 3, 1, 2]);  reshape_35 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:562 in forward, code: x = self.forward_features(x)
        permute_34: "f32[1, 4, 4, 384]" = paddle.transpose(permute_33, [0, 2, 3, 1]);  permute_33 = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/layers/norm.py:89 in forward, code: x = F.layer_norm(x, self.normalized_shape, self.weight, self.bias, self.eps)
        layer_norm_26: "f32[1, 4, 4, 384]" = paddle.nn.functional.layer_norm(x=permute_34, normalized_shape=[384], weight=p_norm_weight, bias=p_norm_bias, epsilon=1e-06);  permute_34 = p_norm_weight = p_norm_bias = None

        # File: /root/.cache/paddletorch-programs/traced/deps/timm/models/nest.py:562 in forward, code: x = self.forward_features(x)
        permute_35: "f32[1, 384, 4, 4]" = paddle.transpose(layer_norm_26, [0, 3, 1, 2]);  layer_norm_26 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/pooling.py:1512 in forward, code: return F.adaptive_avg_pool2d(input, self.output_size)
        adaptive_avg_pool2d: "f32[1, 384, 1, 1]" = paddle.nn.functional.adaptive_avg_pool2d(permute_35, [1, 1]);  permute_35 = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/flatten.py:55 in forward, code: return input.flatten(self.start_dim, self.end_dim)
        flatten: "f32[1, 384]" = paddle.flatten(adaptive_avg_pool2d, 1);  adaptive_avg_pool2d = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/dropout.py:73 in forward, code: return F.dropout(input, self.p, self.training, self.inplace)
        dropout_36: "f32[1, 384]" = paddle.nn.functional.dropout(flatten, 0.0, training=False);  flatten = None

        # File: /tmp/v/lib/python3.11/site-packages/torch/nn/modules/linear.py:134 in forward, code: return F.linear(input, self.weight, self.bias)
        linear_48: "f32[1, 10]" = paddle.nn.functional.linear(dropout_36, p_head_weight.t(), bias=p_head_bias);  dropout_36 = p_head_weight = p_head_bias = None
        return (linear_48,)


def build():
    return GraphModule()
