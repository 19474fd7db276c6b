"""torch.nn.TransformerDecoderLayer and torch.nn.Transformer."""

import numpy as np
import torch
from case import Case, draw, fill
from gen_encoder import ACTIVATIONS, LAYOUT, causal, layer, make_mask, padding

PLACEMENT = {
    False: "post-norm: x = LN1(x + SA(x)); x = LN2(x + CA(x, memory)); x = LN3(x + FF(x))",
    True: "pre-norm: x += SA(LN1(x)); x += CA(LN2(x), memory); x += FF(LN3(x)); the memory itself is not normed by the layer",
}


def base_config(model, D, H, F, B, T, S, pre, activation, eps, bias, more, memory_mask, tgt, mem):
    return {
        "model": model,
        **more,
        "D (d_model)": D,
        "H (heads)": H,
        "d (head size)": D // H,
        "F (feed-forward)": F,
        "B": B,
        "T (target length)": T,
        "S (source/memory length)": S,
        "norm placement": PLACEMENT[pre],
        "activation": ACTIVATIONS[activation][0],
        "norm": f"LayerNorm, biased variance, eps {eps}",
        "biases": "all" if bias else "none",
        "position scheme": "none",
        "dropout": "0 (eval)",
        "causal target mask": True,
        "memory mask": memory_mask or "none",
        "tgt_lengths": tgt or "all full",
        "mem_lengths": mem or "all full",
    }


def decoder_layer(name, exercises, seed, D, H, F, B, T, S, pre, activation, eps=1e-5, bias=True, memory_mask=None, tgt=None, mem=None):
    rng = np.random.default_rng(seed)
    module = fill(layer(D, H, F, pre, activation, eps, bias, torch.nn.TransformerDecoderLayer), rng)
    kind = None if memory_mask is None else ("float" if "float" in memory_mask else "bool")
    config = base_config("torch.nn.TransformerDecoderLayer", D, H, F, B, T, S, pre, activation, eps, bias, {}, kind, tgt, mem)
    case = Case("decoder", name, exercises, config, LAYOUT)
    case.weights(module)
    x, memory = draw(rng, B, T, D), draw(rng, B, S, D)
    case.add("input", "x", x, "decoder input [B, T, D]")
    case.add("input", "memory", memory, "encoder output [B, S, D]")
    masks = {
        "tgt_mask": causal(T),
        "memory_mask": make_mask(rng, memory_mask, B, H, T, S) if memory_mask else None,
        "tgt_key_padding_mask": padding(tgt, T) if tgt else None,
        "memory_key_padding_mask": padding(mem, S) if mem else None,
    }
    for key, mask in masks.items():
        if mask is not None:
            case.add("input", key, mask, "1 = masked out, or added")
    given = dict(masks)
    floats = masks["memory_mask"] is not None and masks["memory_mask"].is_floating_point()
    if mem and floats:
        zeros = torch.zeros(B, S, dtype=torch.float64)
        given["memory_key_padding_mask"] = zeros.masked_fill(masks["memory_key_padding_mask"], float("-inf"))
    n1, n2, n3 = module.norm1, module.norm2, module.norm3
    own = n1(x) if pre else x
    out, weights = module.self_attn(own, own, own, attn_mask=given["tgt_mask"], key_padding_mask=given["tgt_key_padding_mask"], average_attn_weights=False)
    after = x + out if pre else n1(x + out)
    asks = n2(after) if pre else after
    cross, cross_weights = module.multihead_attn(asks, memory, memory, attn_mask=given["memory_mask"], key_padding_mask=given["memory_key_padding_mask"], average_attn_weights=False)
    then = after + cross if pre else n2(after + cross)
    ff = module.linear2(module.activation(module.linear1(n3(then) if pre else then)))
    output = then + ff if pre else n3(then + ff)
    assert torch.allclose(module(x, memory, **given), output, rtol=1e-11, atol=1e-12)
    values = [
        ("self_attn_weights", weights, "[B, H, T, T]"),
        ("self_attn_out", out, "self-attention output after out_proj, no residual"),
        ("x_after_self", after, "after the self-attention sub-layer (residual, and LN1 when post-norm)"),
        ("cross_attn_weights", cross_weights, "[B, H, T, S]"),
        ("cross_attn_out", cross, "cross-attention output after out_proj, no residual"),
        ("x_after_cross", then, "after the cross-attention sub-layer (residual, and LN2 when post-norm)"),
        ("ff_out", ff, "feed-forward output, no residual"),
    ]
    for key, value, meaning in values:
        case.add("intermediate", key, value, meaning)
    case.add("output", "output", output, "the layer's output [B, T, D]")
    case.write("gen_decoder.py")


def transformer(name, exercises, seed, D, H, F, B, T, S, encoders, decoders, pre, activation, eps, tgt=None, mem=None, hide_memory=True):
    rng = np.random.default_rng(seed)
    act = ACTIVATIONS[activation][1]
    module = torch.nn.Transformer(
        D, H, encoders, decoders, F, 0.0, act, layer_norm_eps=eps, batch_first=True, norm_first=pre, dtype=torch.float64
    ).eval()
    module.encoder.enable_nested_tensor = False
    fill(module, rng)
    more = {
        "encoder layers": encoders,
        "decoder layers": decoders,
        "final norms": "LayerNorm after the last encoder layer and after the last decoder layer (nn.Transformer adds both for post-norm too)",
    }
    config = base_config("torch.nn.Transformer", D, H, F, B, T, S, pre, activation, eps, True, more, None, tgt, mem)
    case = Case("decoder", name, exercises, config, LAYOUT)
    case.weights(module)
    src, target = draw(rng, B, S, D), draw(rng, B, T, D)
    case.add("input", "src", src, "[B, S, D]")
    case.add("input", "tgt", target, "[B, T, D]")
    tgt_padding = padding(tgt, T) if tgt else None
    src_padding = padding(mem, S) if mem else None
    mem_padding = src_padding if hide_memory else None
    masks = {
        "tgt_mask": causal(T),
        "tgt_key_padding_mask": tgt_padding,
        "memory_key_padding_mask": mem_padding,
        "src_key_padding_mask": src_padding,
    }
    for key, mask in masks.items():
        if mask is not None:
            case.add("input", key, mask, "1 = masked out")
    rows = src
    for n, one in enumerate(module.encoder.layers):
        rows = one(rows, src_key_padding_mask=src_padding)
        case.add("intermediate", f"encoder_layer_{n}_out", rows, f"after encoder layer {n}")
    memory = module.encoder.norm(rows)
    case.add("intermediate", "memory", memory, "encoder output after its final norm")
    rows = target
    for n, one in enumerate(module.decoder.layers):
        own = one.norm1(rows) if pre else rows
        out, weights = one.self_attn(own, own, own, attn_mask=causal(T), key_padding_mask=tgt_padding, average_attn_weights=False)
        case.add("intermediate", f"decoder_layer_{n}_self_attn_weights", weights, "[B, H, T, T]")
        after = rows + out if pre else one.norm1(rows + out)
        asks = one.norm2(after) if pre else after
        weights = one.multihead_attn(asks, memory, memory, key_padding_mask=mem_padding, average_attn_weights=False)[1]
        case.add("intermediate", f"decoder_layer_{n}_cross_attn_weights", weights, "[B, H, T, S]")
        rows = one(rows, memory, tgt_mask=causal(T), tgt_key_padding_mask=tgt_padding, memory_key_padding_mask=mem_padding)
        case.add("intermediate", f"decoder_layer_{n}_out", rows, f"after decoder layer {n}")
    output = module(
        src,
        target,
        tgt_mask=causal(T),
        src_key_padding_mask=src_padding,
        tgt_key_padding_mask=tgt_padding,
        memory_key_padding_mask=mem_padding,
    )
    assert torch.allclose(module.decoder.norm(rows), output, rtol=1e-11, atol=1e-12)
    case.add("output", "output", output, "the model's output [B, T, D]")
    case.write("gen_decoder.py")


def main():
    decoder_layer("pre_silu_memory_per_head_float", "float memory mask per head, padded memory", 201, 8, 2, 10, 2, 4, 3, True, "silu", memory_mask="per_head_float", mem=[3, 2])
    decoder_layer("post_gelu_memory_per_head_bool", "boolean memory mask per head, padded target, eps 1e-6", 202, 12, 3, 8, 2, 3, 5, False, "gelu", eps=1e-06, memory_mask="per_head_bool", tgt=[2, 3])
    decoder_layer("post_relu_nobias", "no biases, float memory mask", 203, 8, 4, 8, 1, 3, 4, False, "relu", bias=False, memory_mask="float_additive")
    transformer("transformer_pre_gelu_1_2", "one encoder and two decoder layers, pre-norm, target padded", 204, 8, 2, 8, 2, 3, 4, 1, 2, True, "gelu", 1e-05, tgt=[3, 2], mem=[2, 4])
    transformer("transformer_post_silu_open_memory", "the source is padded, the memory is not hidden", 205, 8, 4, 6, 2, 3, 4, 2, 1, False, "silu", 0.001, mem=[3, 4], hide_memory=False)


if __name__ == "__main__":
    main()
