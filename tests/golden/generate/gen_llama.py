"""Llama, Qwen2, Gemma, Mistral, Mixtral, Bloom and GPT-NeoX of transformers, float64 throughout."""

import numpy as np
import torch
from case import Case, fill
from hugging_face import build, run, tokens, weights

LAYOUT = ["every Linear weight is [out, in], y = x W^T (+ b)"]
CAST = "(attn_implementation eager; float32 casts in its code replaced by float64)"
ROPE = "RoPE, base {base}, half-split pairing (j, j + {r}/2), on {what}"
OUTPUTS = {
    "input_layernorm": "[B, T, D] norm before attention",
    "self_attn.q_proj": "[B, T, H*d] before RoPE",
    "self_attn.k_proj": "[B, T, H_kv*d] before RoPE",
    "self_attn.v_proj": "[B, T, H_kv*d]",
    "self_attn": "[B, T, D] attention output after o_proj, before the residual",
    "post_attention_layernorm": "[B, T, D] norm before the MLP",
    "mlp": "[B, T, D] MLP output before the residual",
    "block_sparse_moe.gate": "[B*T, E] router logits",
    "block_sparse_moe": "[B, T, D] mixture output before the residual",
}
MLP = {
    "silu": "silu(gate) * up, then down (SwiGLU)",
    "gelu_pytorch_tanh": "gelu_tanh(gate) * up, then down (GeGLU)",
    "gelu": "gelu(gate) * up, then down (GeGLU)",
    "relu": "relu(gate) * up, then down (ReGLU)",
}


def llama_like(kind, family, name, exercises, seed, V, D, H, L, F, B, T, kv, d, *, eps=1e-6, base=10000.0, act="silu", tied=False, biases="none", lengths=None, side=None, cache=False, config_more=None, scaling="", experts=None, window=None, **settings):
    rng = np.random.default_rng(seed)
    model = build(
        kind, seed, fill,
        dict(
            vocab_size=V, hidden_size=D, num_attention_heads=H, num_key_value_heads=kv, num_hidden_layers=L,
            intermediate_size=F, head_dim=d, rms_norm_eps=eps, rope_theta=base, hidden_act=act,
            tie_word_embeddings=tied, max_position_embeddings=64, pad_token_id=0, bos_token_id=0, eos_token_id=0, **settings,
        ),
        **({"hidden_activation": act} if kind == "Gemma" else {}),
    )
    mask = "causal and padding" if lengths else "causal"
    config = {
        "model": f"transformers {kind}ForCausalLM {CAST}",
        "V": V, "D": D, "H": H, "L": L, "F": F, "B": B, "T": T, "H_kv": kv, "d (head size)": d,
        "norm": f"RMSNorm, eps {eps}, gain " + ("(1 + weight)" if kind == "Gemma" else "weight"),
        "positions": ROPE.format(base=base, r="d", what="every head dimension") + scaling,
        "MLP": "mixture of SwiGLU experts" if experts else MLP[act],
        "biases": biases,
        "head": "tied" if tied else "untied",
        "mask": mask + (f", sliding window {window}" if window else ""),
        **(config_more or {}),
    }
    if experts:
        E, k = experts
        config["experts"] = f"E = {E}, top {k}: softmax over all E, take the top k, divide by their sum (equal to a softmax over the k logits)"
    case = Case(family, name, exercises, config, LAYOUT)
    weights(case, model, tied)
    ids, padding = tokens(rng, V, B, T, lengths, side)
    told = run(case, model, ids, padding, "model.layers", OUTPUTS, lengths, side, cache=cache)
    frequencies = model.model.rotary_emb.inv_freq
    case.add("intermediate", "rope_inv_freq", frequencies, "rotation per position of each pair, base^(-2j/d)")
    if experts:
        for n in range(L):
            router = model.model.layers[n].block_sparse_moe.gate.weight
            rows = case.tensors[f"out:model.layers.{n}.post_attention_layernorm"].reshape(-1, D)
            probs = torch.softmax(torch.from_numpy(rows) @ router.detach().T, -1)
            top, chosen = probs.topk(experts[1], -1)
            case.add("intermediate", f"router_probs_{n}", probs, f"[B*T, E] softmax of the router logits of block {n}")
            case.add("output", f"selected_{n}", chosen, f"[B*T, k] experts chosen in block {n}, most probable first")
            case.add("output", f"gate_weights_{n}", top / top.sum(-1, keepdim=True), f"[B*T, k] their weights in block {n}")
    assert told.logits.shape == (B, T, V)
    case.write("gen_llama.py")


def bloom(name, exercises, seed, V, D, H, L, B, T, lengths=None):
    rng = np.random.default_rng(seed)
    model = build("Bloom", seed, fill, dict(vocab_size=V, hidden_size=D, n_head=H, n_layer=L, hidden_dropout=0.0, attention_dropout=0.0, bos_token_id=0, eos_token_id=0, pad_token_id=0))
    config = {
        "model": f"transformers BloomForCausalLM {CAST}",
        "V": V, "D": D, "H": H, "L": L, "F": 4 * D, "B": B, "T": T, "d (head size)": D // H,
        "norm": "LayerNorm with shift, eps 1e-05, one more right after the embedding",
        "positions": "ALiBi: slope_h * key position added to the scores (a softmax cannot tell this from -slope_h * distance)",
        "activation": "GELU tanh form with the constant written as 0.79788456 (9 digits)",
        "biases": "all but the head",
        "head": "tied",
        "mask": "causal and padding" if lengths else "causal",
    }
    case = Case("positions", name, exercises, config, LAYOUT)
    weights(case, model, True)
    outputs = {
        "input_layernorm": "[B, T, D] norm before attention",
        "self_attention": "[B, T, D] attention output after dense, the residual ALREADY added",
        "post_attention_layernorm": "[B, T, D] norm before the MLP",
        "mlp": "[B, T, D] MLP output, the residual ALREADY added",
    }
    ids, padding = tokens(rng, V, B, T, lengths, "left")
    run(case, model, ids, padding, "transformer.h", outputs, lengths, "left", positions=False)
    case.write("gen_llama.py")


def neox(name, exercises, seed, V, D, H, L, F, B, T, share, parallel, base=10000, eps=1e-5, act="gelu"):
    rng = np.random.default_rng(seed)
    model = build("GPTNeoX", seed, fill, dict(vocab_size=V, hidden_size=D, num_attention_heads=H, num_hidden_layers=L, intermediate_size=F, rotary_pct=share, rotary_emb_base=base, use_parallel_residual=parallel, layer_norm_eps=eps, hidden_act=act, tie_word_embeddings=False, max_position_embeddings=64, bos_token_id=0, eos_token_id=0))
    d = D // H
    width = int(d * share)
    what = "every head dimension" if width == d else f"the first {width} of {d} head dimensions"
    config = {
        "model": f"transformers GPTNeoXForCausalLM {CAST}",
        "V": V, "D": D, "H": H, "L": L, "F": F, "B": B, "T": T, "d (head size)": d,
        "norm": f"LayerNorm with shift, eps {eps}",
        "positions": ROPE.format(base=base, r="r", what=what),
        "use_parallel_residual": parallel,
        "activation": {"gelu": "GELU exact (erf)", "relu": "ReLU"}[act],
        "biases": "all but the head",
        "head": "untied",
        "mask": "causal",
    }
    case = Case("positions", name, exercises, config, LAYOUT + ["query_key_value: rows ordered per head: for head h the d rows of q, then d of k, then d of v"])
    weights(case, model, False)
    outputs = {
        "input_layernorm": "[B, T, D] norm before attention",
        "attention": "[B, T, D] attention output after dense, before the residual",
        "post_attention_layernorm": "[B, T, D] norm before the MLP",
        "mlp": "[B, T, D] MLP output before the residual",
    }
    ids, padding = tokens(rng, V, B, T)
    run(case, model, ids, padding, "gpt_neox.layers", outputs, cache=True)
    case.add("intermediate", "rope_inv_freq", model.gpt_neox.rotary_emb.inv_freq, "rotation per position of each pair, base^(-2j/r)")
    case.write("gen_llama.py")


def main():
    linear = {"rope_type": "linear", "factor": 2.5}
    llama3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 16}
    llama_like("Llama", "llama", "llama_linear_scaling", "rotary frequencies divided by a factor", 401, 11, 8, 2, 1, 6, 2, 5, 1, 4, rope_scaling=linear, scaling=", linear scaling by 2.5", cache=True)
    llama_like("Llama", "llama", "llama_llama3_scaling", "Llama 3's stretched frequencies, base 500", 402, 11, 12, 2, 1, 8, 1, 6, 2, 6, base=500.0, rope_scaling=llama3, scaling=", llama3 scaling (factor 8.0, low_freq_factor 1.0, high_freq_factor 4.0, original_max_position_embeddings 16)")
    llama_like("Llama", "llama", "llama_all_biases", "biases everywhere but the head, right padding, eps 1e-3", 403, 11, 8, 4, 2, 6, 2, 5, 2, 2, eps=0.001, biases="q, k, v, o and the MLP", attention_bias=True, mlp_bias=True, lengths=[3, 5], side="right")
    llama_like("Llama", "llama", "llama_one_group_relu", "every query head reads the same key head; ReLU gate, head size 6", 404, 9, 8, 4, 1, 6, 1, 4, 1, 6, act="relu")
    llama_like("Mistral", "llama", "mistral_window", "MistralForCausalLM: a sliding window of 3", 405, 11, 8, 2, 2, 6, 2, 7, 1, 4, sliding_window=3, window=3, cache=True)
    llama_like("Qwen2", "llama", "qwen2_untied", "Qwen2ForCausalLM: untied head, as many key heads as heads, left padding", 406, 11, 8, 2, 1, 10, 2, 5, 2, 4, biases="q, k, v only", lengths=[5, 2], side="left")
    llama_like("Gemma", "llama", "gemma_wide_heads", "GemmaForCausalLM: three heads of 6 at D = 10", 407, 9, 10, 3, 1, 8, 2, 4, 3, 6, act="gelu_pytorch_tanh", tied=True, config_more={"embedding scale": "hidden = embedding * sqrt(D)"})
    llama_like("Mixtral", "moe", "mixtral_top1of3", "MixtralForCausalLM: top 1 of 3", 408, 9, 8, 2, 1, 5, 2, 4, 1, 4, experts=(3, 1), num_local_experts=3, num_experts_per_tok=1)
    llama_like("Mixtral", "moe", "mixtral_top3of5", "MixtralForCausalLM: top 3 of 5, two blocks", 409, 9, 8, 4, 2, 4, 1, 5, 2, 2, experts=(5, 3), num_local_experts=5, num_experts_per_tok=3)
    bloom("bloom_h6", "BloomForCausalLM: 6 heads, no power of two", 410, 9, 12, 6, 1, 2, 5)
    bloom("bloom_h3_padded", "BloomForCausalLM: 3 heads, two blocks, left padding", 411, 9, 6, 3, 2, 2, 5, lengths=[5, 3])
    neox("neox_partial_parallel", "GPTNeoXForCausalLM: rotary on a quarter of each head, parallel branches", 412, 11, 16, 2, 2, 12, 2, 5, 0.25, True)
    neox("neox_half_sequential", "GPTNeoXForCausalLM: rotary on half of each head, one branch after the other, base 100", 413, 11, 12, 3, 1, 10, 1, 5, 0.5, False, base=100, eps=0.0001)




if __name__ == "__main__":
    main()
