"""transformers' GPT2LMHeadModel, and GPT in nanoGPT's naming."""

import math

import numpy as np
import torch
from case import Case, draw, fill
from hugging_face import mean_loss, run, tokens, weights
from transformers import GPT2Config, GPT2LMHeadModel

LAYOUT = [
    "Hugging Face GPT-2 keeps c_attn, c_proj and c_fc as Conv1D: weight is [in, out], y = x W + b (NOT transposed)",
    "embeddings and lm_head are [V, D], logits = x W^T",
    "block: x += attn(ln_1(x)); x += mlp(ln_2(x)); then ln_f, then lm_head",
    "head h uses columns h*d .. (h+1)*d-1; scores / sqrt(d); causal",
]
ACTIVATIONS = {
    "gelu_new": "GELU tanh form (gelu_new)",
    "gelu": "GELU exact (erf)",
    "relu": "ReLU",
    "silu": "SiLU",
}
OUTPUTS = {
    "ln_1": "[B, T, D] ln_1 output",
    "attn": "[B, T, D] attention output after c_proj, before the residual",
    "ln_2": "[B, T, D] ln_2 output",
    "mlp.c_fc": "[B, T, F] before the activation",
    "mlp": "[B, T, D] MLP output before the residual",
}


def hugging_face(name, exercises, seed, V, D, H, L, F, n, B, T, act, eps=1e-5, tied=True, inverse=False, lengths=None, side=None, cache=False):
    config = GPT2Config(
        vocab_size=V, n_embd=D, n_head=H, n_layer=L, n_inner=F, n_positions=n, activation_function=act,
        layer_norm_epsilon=eps, tie_word_embeddings=tied, scale_attn_by_inverse_layer_idx=inverse,
        attn_implementation="eager", resid_pdrop=0, embd_pdrop=0, attn_pdrop=0, bos_token_id=0, eos_token_id=0,
    )
    rng = np.random.default_rng(seed)
    model = fill(GPT2LMHeadModel(config).to(torch.float64).eval(), rng)
    told = {
        "model": "transformers GPT2LMHeadModel (attn_implementation eager)",
        "V": V, "D (n_embd)": D, "H (n_head)": H, "d": D // H, "L (n_layer)": L, "F (n_inner)": F, "n_positions": n,
        "activation": ACTIVATIONS[act],
        "norm": f"LayerNorm, eps {eps}",
        "positions": "learned absolute, added to the token embedding",
        "mask": "causal and padding" if lengths else "causal",
        "head": "tied to wte" if tied else "untied",
        "scale_attn_by_inverse_layer_idx": inverse,
        "B": B, "T": T,
    }
    case = Case("gpt2", name, exercises, told, LAYOUT)
    weights(case, model, tied)
    ids, mask = tokens(rng, V, B, T, lengths, side)
    run(case, model, ids, mask, "transformer.h", OUTPUTS, lengths, side, cache=cache)
    case.write("gen_gpt2.py")


def nano(name, exercises, seed, V, D, H, L, n, B, T, bias):
    """The equations of nanoGPT, with torch's functions."""
    rng = np.random.default_rng(seed)
    told = {
        "model": "GPT in nanoGPT's parameter naming, written here from the equations with torch modules",
        "V": V, "D": D, "H": H, "d": D // H, "L": L, "F": 4 * D, "block_size": n,
        "activation": "GELU exact (erf), as nanoGPT uses nn.GELU()",
        "norm": "LayerNorm, eps 1e-5" + ("" if bias else ", without shift"),
        "biases": bias,
        "positions": "learned absolute",
        "mask": "causal",
        "head": "tied: lm_head.weight is transformer.wte.weight (nanoGPT checkpoints hold both names)",
        "B": B, "T": T,
    }
    layout = [
        "Linear weights are [out, in], y = x W^T + b: the TRANSPOSE of Hugging Face's GPT-2 layout",
        "block: x += attn(ln_1(x)); x += mlp(ln_2(x)); then ln_f, then lm_head",
    ]
    case = Case("gpt2", name, exercises, told, layout)
    w = {"transformer.wte": draw(rng, V, D), "transformer.wpe": draw(rng, n, D)}
    shapes = {"attn.c_attn": (3 * D, D), "attn.c_proj": (D, D), "mlp.c_fc": (4 * D, D), "mlp.c_proj": (D, 4 * D)}
    biases = {}

    def norm_of(key):
        w[key] = 1 + 0.25 * draw(rng, D).sign()
        biases[key] = draw(rng, D, scale=0.3) if bias else None

    for block in range(L):
        prefix = f"transformer.h.{block}."
        norm_of(f"{prefix}ln_1")
        norm_of(f"{prefix}ln_2")
        for key, shape in shapes.items():
            w[prefix + key] = draw(rng, *shape, scale=1 / math.sqrt(shape[1]))
            biases[prefix + key] = draw(rng, shape[0], scale=0.3) if bias else None
    norm_of("transformer.ln_f")
    for key, value in w.items():
        case.add("weight", f"{key}.weight", value, "")
        if biases.get(key) is not None:
            case.add("weight", f"{key}.bias", biases[key], "")
    linear = lambda x, key: torch.nn.functional.linear(x, w[key], biases.get(key))
    norm = lambda x, key: torch.nn.functional.layer_norm(x, (D,), w[key], biases.get(key), 1e-5)
    ids = torch.from_numpy(rng.integers(0, V, (B, T)))
    targets = torch.from_numpy(rng.integers(0, V, (B, T)))
    targets[0, 0] = -1
    case.add("input", "input_ids", ids, "[B, T]")
    case.add("input", "targets", targets, "[B, T], already shifted (targets[t] is the token after input t), -1 = ignored")
    x = w["transformer.wte"][ids] + w["transformer.wpe"][:T]
    case.add("intermediate", "embedding", x, "[B, T, D]")
    hidden = torch.triu(torch.ones(T, T, dtype=torch.bool), 1)
    for block in range(L):
        p = f"transformer.h.{block}."
        parts = linear(norm(x, p + "ln_1"), p + "attn.c_attn").chunk(3, -1)
        q, k, v = (part.reshape(B, T, H, D // H).transpose(1, 2) for part in parts)
        scores = (q @ k.transpose(-1, -2) / math.sqrt(D // H)).masked_fill(hidden, float("-inf"))
        a = scores.softmax(-1)
        case.add("intermediate", f"attention_{block}", a, "[B, H, T, T]")
        x = x + linear((a @ v).transpose(1, 2).reshape(B, T, D), p + "attn.c_proj")
        case.add("intermediate", f"after_attention_{block}", x, "[B, T, D]")
        x = x + linear(torch.nn.functional.gelu(linear(norm(x, p + "ln_2"), p + "mlp.c_fc")), p + "mlp.c_proj")
        case.add("intermediate", f"after_block_{block}", x, "[B, T, D]")
    x = norm(x, "transformer.ln_f")
    case.add("intermediate", "final_norm", x, "[B, T, D]")
    logits = x @ w["transformer.wte"].T
    case.add("output", "logits", logits, "[B, T, V]")
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, V), targets.reshape(-1), ignore_index=-1)
    case.add("output", "loss", loss, "mean cross-entropy over targets that are not -1")
    case.write("gen_gpt2.py")


def main():
    hugging_face("hf_inverse_layer", "scores divided by layer, three blocks, exact GELU", 301, 11, 8, 2, 3, 12, 8, 2, 5, "gelu", inverse=True, cache=True)
    hugging_face("hf_untied_relu", "untied head, ReLU, eps 1e-3", 302, 13, 6, 3, 1, 10, 6, 2, 4, "relu", eps=0.001, tied=False)
    hugging_face("hf_left_padded_silu", "left padding, SiLU", 303, 9, 8, 4, 2, 8, 7, 3, 5, "silu", lengths=[2, 5, 1], side="left")
    hugging_face("hf_right_padded_inverse", "right padding, scores divided by layer", 304, 9, 6, 1, 2, 8, 7, 2, 4, "gelu_new", inverse=True, lengths=[4, 1], side="right")
    nano("nanogpt_bias", "nanoGPT with biases", 305, 7, 6, 2, 2, 5, 2, 5, True)


if __name__ == "__main__":
    main()
