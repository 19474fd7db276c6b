"""torch.nn.TransformerEncoderLayer, stacks of it, torch.nn.MultiheadAttention."""

import numpy as np
import torch
from case import Case, draw, fill

LAYOUT = [
    "every Linear weight is [out, in], y = x W^T + b",
    "head h uses columns h*d .. (h+1)*d-1 of q, k, v (d = D/H); scores are q k^T / sqrt(d)",
    "tensors are [B, T, D] (batch first); attention weights are [B, H, L(query), S(key)]",
    "masks are stored as int64 0/1 (1 = True = masked OUT, PyTorch's meaning) or float64 (added to the scores, -inf = masked out)",
    "per-head masks are [B*H, L, S], index b*H + h",
]
PLACEMENT = {
    False: "post-norm: x = LN1(x + SA(x)); x = LN2(x + FF(x))",
    True: "pre-norm: x = x + SA(LN1(x)); x = x + FF(LN2(x))",
}
# Functions, not modules: a copied decoder layer forgets an activation that is a module.
ACTIVATIONS = {
    "relu": ("ReLU", torch.nn.functional.relu),
    "gelu": ("GELU, exact (erf)", torch.nn.functional.gelu),
    "gelu_tanh": ("GELU, tanh form", lambda x: torch.nn.functional.gelu(x, approximate="tanh")),
    "silu": ("SiLU", torch.nn.functional.silu),
}


def causal(length):
    return torch.triu(torch.ones(length, length, dtype=torch.bool), 1)


def padding(lengths, length):
    return torch.arange(length)[None] >= torch.tensor(lengths)[:, None]


def random_hidden(rng, *shape):
    """A Boolean mask that leaves every query its first key."""
    hidden = torch.from_numpy(rng.random(shape) < 0.4)
    hidden[..., 0] = False
    return hidden


def random_added(rng, *shape):
    """Finite numbers, some -inf, never in the first key."""
    added = draw(rng, *shape)
    added[random_hidden(rng, *shape)] = float("-inf")
    return added


def make_mask(rng, kind, batch, heads, queries, keys):
    if kind == "causal_bool":
        return causal(queries)
    if kind == "causal_float":
        return torch.zeros(queries, queries, dtype=torch.float64).masked_fill(causal(queries), float("-inf"))
    if kind == "bool_ls":
        return random_hidden(rng, queries, keys)
    if kind == "float_additive":
        return random_added(rng, queries, keys)
    if kind == "per_head_bool":
        return random_hidden(rng, batch * heads, queries, keys)
    if kind == "per_head_float":
        return random_added(rng, batch * heads, queries, keys)
    raise ValueError(kind)


def layer_config(module, D, H, F, T, B, pre, activation, eps, bias, masks, **more):
    return {
        "model": module,
        "D (d_model)": D,
        "H (heads)": H,
        "d (head size)": D // H,
        "F (feed-forward)": F,
        "T": T,
        "B": B,
        "norm placement": PLACEMENT[pre],
        "activation": ACTIVATIONS[activation][0],
        "norm": f"LayerNorm, biased variance, eps {eps}, inside the square root",
        "biases": "every Linear and LayerNorm has a bias"
        if bias
        else "bias=False: no Linear bias and no LayerNorm shift at all",
        "position scheme": "none",
        "dropout": "0 (eval)",
        "masks": masks or "none",
        **more,
    }


def layer(D, H, F, pre, activation, eps, bias, kind=torch.nn.TransformerEncoderLayer):
    act = ACTIVATIONS[activation][1]
    return kind(
        D, H, F, 0.0, act, layer_norm_eps=eps, batch_first=True, norm_first=pre, bias=bias, dtype=torch.float64
    ).eval()


def encoder_layer(name, exercises, seed, D, H, F, T, B, pre, activation, eps=1e-5, bias=True, mask=None, lengths=None):
    rng = np.random.default_rng(seed)
    module = fill(layer(D, H, F, pre, activation, eps, bias), rng)
    masks = ([mask] if mask else []) + (["key_padding"] if lengths else [])
    more = {"lengths": lengths} if lengths else {}
    config = layer_config("torch.nn.TransformerEncoderLayer", D, H, F, T, B, pre, activation, eps, bias, masks, **more)
    case = Case("encoder", name, exercises, config, LAYOUT)
    case.weights(module)
    x = draw(rng, B, T, D)
    case.add("input", "x", x, "[B, T, D] input")
    attn_mask = make_mask(rng, mask, B, H, T, T) if mask else None
    key_padding = padding(lengths, T) if lengths else None
    if attn_mask is not None:
        case.add("input", "attn_mask", attn_mask, "[L, S] or [B*H, L, S]")
    if key_padding is not None:
        case.add("input", "key_padding_mask", key_padding, "[B, S]; 1 = masked out")
    # PyTorch wants both masks to be of one type.
    given = key_padding
    if key_padding is not None and attn_mask is not None and attn_mask.is_floating_point():
        given = torch.zeros(B, T, dtype=torch.float64).masked_fill(key_padding, float("-inf"))
    d = D // H
    attn = module.self_attn
    normed = module.norm1(x) if pre else x
    qkv = torch.nn.functional.linear(normed, attn.in_proj_weight, attn.in_proj_bias)
    q, k, v = (part.reshape(B, T, H, d).transpose(1, 2) for part in qkv.chunk(3, -1))
    added = torch.zeros(B, H, T, T, dtype=torch.float64)
    if attn_mask is not None:
        full = attn_mask.reshape(B, H, T, T) if attn_mask.ndim == 3 else attn_mask[None, None]
        added = added.masked_fill(full, float("-inf")) if full.dtype == torch.bool else added + full
    if key_padding is not None:
        added = added.masked_fill(key_padding[:, None, None], float("-inf"))
    scores = q @ k.transpose(-1, -2) / np.sqrt(d) + added
    weights = scores.softmax(-1)
    context = (weights @ v).transpose(1, 2).reshape(B, T, D)
    out = attn.out_proj(context)
    mid = x + out if pre else module.norm1(x + out)
    normed2 = module.norm2(mid) if pre else mid
    before = module.linear1(normed2)
    act = module.activation(before)
    ff = module.linear2(act)
    output = mid + ff if pre else module.norm2(mid + ff)
    asked = dict(attn_mask=attn_mask, key_padding_mask=given, average_attn_weights=False)
    told = attn(normed, normed, normed, **asked)
    assert torch.allclose(told[1], weights, rtol=1e-12, atol=1e-13)
    assert torch.allclose(module(x, attn_mask, given), output, rtol=1e-11, atol=1e-12)
    if pre:
        case.add("intermediate", "norm1_out", normed, "LN1(x)")
    for part, values in dict(q=q, k=k, v=v).items():
        case.add("intermediate", part, values, "[B, H, T, d]")
    case.add("intermediate", "scores", scores, "q k^T / sqrt(d) + masks, [B, H, L, S], -inf where masked out")
    case.add("intermediate", "attn_context", context, "heads' outputs side by side, before out_proj, [B, T, D]")
    case.add("intermediate", "attn_out", out, "after out_proj (no residual yet)")
    case.add("intermediate", "x_mid", mid, "after the attention sub-layer")
    if pre:
        case.add("intermediate", "norm2_out", normed2, "LN2(x_mid)")
    case.add("intermediate", "ff_pre", before, "linear1 output before the activation")
    case.add("intermediate", "ff_act", act, "after the activation")
    case.add("intermediate", "ff_out", ff, "linear2 output (no residual yet)")
    case.add("output", "attn_weights", told[1], "[B, H, L, S]")
    case.add("output", "attn_weights_avg", told[1].mean(1), "[B, L, S]: mean over heads")
    case.add("output", "output", output, "the layer's output, [B, T, D]")
    case.write("gen_encoder.py")


def encoder_full(name, exercises, seed, D, H, F, T, B, pre, activation, hidden=None, lengths=None):
    """Rows without any key: weights NaN, outputs NaN or made of zero weights, depending on the path PyTorch takes."""
    rng = np.random.default_rng(seed)
    module = fill(layer(D, H, F, pre, activation, 1e-5, True), rng)
    masks = ["full_row"] if hidden is not None else ["full_key_padding"]
    more = {"lengths": lengths} if lengths else {}
    config = layer_config("torch.nn.TransformerEncoderLayer", D, H, F, T, B, pre, activation, 1e-05, True, masks, **more)
    case = Case("encoder", name, exercises, config, LAYOUT)
    case.weights(module)
    x = draw(rng, B, T, D)
    case.add("input", "x", x, "[B, T, D] input")
    attn_mask = torch.tensor(hidden, dtype=torch.bool) if hidden is not None else None
    key_padding = padding(lengths, T) if lengths else None
    if attn_mask is not None:
        case.add("input", "attn_mask", attn_mask, "1 = masked out")
    if key_padding is not None:
        case.add("input", "key_padding_mask", key_padding, "[B, S]; 1 = masked out")
    normed = module.norm1(x) if pre else x
    asked = dict(attn_mask=attn_mask, key_padding_mask=key_padding)
    out, weights = module.self_attn(normed, normed, normed, average_attn_weights=False, **asked)
    case.add("output", "attn_weights", weights, "[B, H, L, S], need_weights=True: NaN in a row with no key left")
    case.add("output", "attn_weights_avg", weights.mean(1), "[B, L, S]: NaN in such a row")
    case.add("output", "mha_out_need_weights", out, "self-attention output with need_weights=True: NaN in such a row")
    out = module.self_attn(normed, normed, normed, need_weights=False, **asked)[0]
    case.add("output", "mha_out_sdpa", out, "self-attention output with need_weights=False and gradients enabled")
    with torch.no_grad():
        out = module.self_attn(normed, normed, normed, need_weights=False, **asked)[0]
        case.add("output", "mha_out_no_grad", out, "self-attention output with need_weights=False under no_grad")
    case.add("output", "output_sdpa", module(x, attn_mask, key_padding), "the layer's output with gradients enabled")
    with torch.no_grad():
        out = module(x, attn_mask, key_padding)
        case.add("output", "output_no_grad", out, "the layer's output under no_grad in eval mode")
    case.write("gen_encoder.py")


def encoder_stack(name, exercises, seed, D, H, F, T, B, pre, activation, layers, final, lengths):
    rng = np.random.default_rng(seed)
    norm = torch.nn.LayerNorm(D, dtype=torch.float64) if final else None
    one = layer(D, H, F, pre, activation, 1e-5, True)
    module = torch.nn.TransformerEncoder(one, layers, norm, enable_nested_tensor=False).eval()
    fill(module, rng)
    more = {"lengths": lengths, "layers": layers, "final norm": "LayerNorm after the last layer" if final else "none"}
    title = f"torch.nn.TransformerEncoderLayer x {layers} in TransformerEncoder"
    config = layer_config(title, D, H, F, T, B, pre, activation, 1e-05, True, ["key_padding"], **more)
    case = Case("encoder", name, exercises, config, LAYOUT)
    case.weights(module)
    x = draw(rng, B, T, D)
    case.add("input", "x", x, "[B, T, D]")
    hidden = padding(lengths, T)
    case.add("input", "key_padding_mask", hidden, "1 = masked out")
    rows = x
    for n, one in enumerate(module.layers):
        normed = one.norm1(rows) if pre else rows
        weights = one.self_attn(normed, normed, normed, key_padding_mask=hidden, average_attn_weights=False)[1]
        case.add("intermediate", f"attn_weights_{n}", weights, f"layer {n}, [B, H, L, S]")
        rows = one(rows, src_key_padding_mask=hidden)
        case.add("intermediate", f"layer_{n}_out", rows, f"after layer {n}")
    case.add("output", "output", module(x, src_key_padding_mask=hidden), "the encoder's output, [B, T, D]")
    module.enable_nested_tensor = True
    with torch.no_grad():
        case.add("output", "output_no_grad", module(x, src_key_padding_mask=hidden), "the same call under torch.no_grad()")
    case.write("gen_encoder.py")


def multihead(name, exercises, seed, D, H, kdim, vdim, B, L, S, bias, mask=None, lengths=None):
    rng = np.random.default_rng(seed)
    module = torch.nn.MultiheadAttention(
        D, H, bias=bias, kdim=kdim, vdim=vdim, batch_first=True, dtype=torch.float64
    ).eval()
    fill(module, rng)
    masks = ([mask] if mask else []) + (["key_padding"] if lengths else [])
    config = {
        "model": "torch.nn.MultiheadAttention (cross-attention)",
        "D": D,
        "H": H,
        "d": D // H,
        "B": B,
        "L (queries)": L,
        "S (keys)": S,
        "kdim": kdim,
        "vdim": vdim,
        "biases": bias,
        "masks": masks or "none",
    }
    case = Case("encoder", name, exercises, config, LAYOUT)
    case.weights(module)
    inputs = [draw(rng, B, L, D), draw(rng, B, S, kdim), draw(rng, B, S, vdim)]
    for part, values in zip(["query", "key", "value"], inputs):
        case.add("input", part, values, "")
    attn_mask = make_mask(rng, mask, B, H, L, S) if mask else None
    hidden = padding(lengths, S) if lengths else None
    if attn_mask is not None:
        case.add("input", "attn_mask", attn_mask, "")
    if hidden is not None:
        case.add("input", "key_padding_mask", hidden, "[B, S]; 1 = masked out")
    output, weights = module(*inputs, attn_mask=attn_mask, key_padding_mask=hidden, average_attn_weights=False)
    case.add("output", "attn_weights", weights, "[B, H, L, S]")
    case.add("output", "attn_weights_avg", weights.mean(1), "[B, L, S], mean over heads")
    case.add("output", "output", output, "[B, L, D]")
    case.write("gen_encoder.py")


def main():
    encoder_layer("pre_silu_per_head_float_padding", "float mask per head together with padding", 101, 12, 3, 10, 4, 2, True, "silu", mask="per_head_float", lengths=[4, 2])
    encoder_layer("post_gelu_tanh_one_head", "one head, tanh GELU, eps 1e-3", 102, 6, 1, 8, 5, 2, False, "gelu_tanh", eps=0.001, mask="bool_ls")
    encoder_layer("pre_gelu_one_token", "a single token", 103, 8, 4, 8, 1, 2, True, "gelu")
    encoder_layer("post_relu_nobias_float", "no biases, causal mask as floats, padding", 104, 8, 2, 12, 4, 2, False, "relu", bias=False, mask="causal_float", lengths=[3, 4])
    encoder_layer("post_silu_per_head_bool", "boolean mask per head", 105, 8, 2, 12, 4, 2, False, "silu", mask="per_head_bool")
    encoder_stack("stack_post_gelu_final", "three layers, post-norm, final norm, padding", 106, 8, 2, 8, 4, 2, False, "gelu", 3, True, [2, 4])
    one_head = [[[0, 1, 1], [1, 1, 1], [0, 0, 0]], [[0, 1, 1], [0, 0, 1], [1, 0, 0]]]
    encoder_full("pre_relu_full_row_of_one_head", "a query without keys in one head of two", 109, 8, 2, 6, 3, 1, True, "relu", hidden=one_head)
    encoder_full("post_gelu_full_padding_odd_heads", "an item that is all padding, three heads", 110, 6, 3, 6, 3, 2, False, "gelu", lengths=[0, 2])
    multihead("mha_nobias_mask", "other widths, no biases, float mask, one head", 107, 6, 1, 4, 10, 2, 3, 4, False, mask="float_additive")
    multihead("mha_same_width_padding", "keys and values as wide as queries, padding, mask per head", 108, 8, 4, 8, 8, 2, 3, 5, True, mask="per_head_bool", lengths=[5, 4])


if __name__ == "__main__":
    main()
