"""Equations alone: norms, activations, gated units, softmax and cross-entropy."""

import numpy as np
import torch
from case import Case, draw

F = torch.nn.functional


def norms(name, exercises, seed, D, eps):
    rng = np.random.default_rng(seed)
    rows = ["normal", "normal * 3 + 5", "normal * 1e-3", "all 0", "all 1", "1e3 then zeros"]
    config = {"D": D, "eps": eps, "rows": rows}
    layout = [
        "rows are normed over the last axis",
        "LayerNorm: (x - mean) / sqrt(var + eps) * weight + bias, var divides by D (not D-1)",
        "RMSNorm: x / sqrt(mean(x^2) + eps) * weight; Gemma's multiplies by (1 + weight)",
    ]
    tolerance = {
        "float64": {"rtol": 1e-9, "atol": 1e-9, "rows": list(range(6))},
        "float32": {"rtol": 1e-4, "atol": 1e-4, "rows": [0, 1, 2, 3, 4, 5]},
    }
    case = Case("pointwise", name, exercises, config, layout, tolerance)
    x = torch.stack([draw(rng, D), draw(rng, D) * 2 + 4, draw(rng, D) / 1024, torch.zeros(D), torch.ones(D), torch.zeros(D)])
    x[5, 0] = 1e3
    x = torch.from_numpy(x.double().numpy().astype(np.float32).astype(np.float64))
    weight, bias = draw(rng, D), draw(rng, D)
    case.add("input", "x", x, f"[{len(rows)}, D], one kind of row each (see config)")
    case.add("weight", "weight", weight, "[D]")
    case.add("weight", "bias", bias, "[D]")
    case.add("output", "layer_norm", F.layer_norm(x, (D,), weight, bias, eps), "LayerNorm with weight and bias")
    case.add("output", "layer_norm_plain", F.layer_norm(x, (D,), eps=eps), "LayerNorm without weight and bias")
    case.add("intermediate", "mean", x.mean(-1), "[6]")
    rms = x / torch.sqrt((x * x).mean(-1, keepdim=True) + eps)
    case.add("output", "rms_norm", rms * weight, "RMSNorm with weight")
    case.add("output", "rms_norm_plain", rms, "RMSNorm without weight")
    case.add("output", "rms_norm_gemma", rms * (1 + weight), "RMSNorm times (1 + weight)")
    case.write("gen_pointwise.py")


def gated(name, exercises, seed, R, D, H):
    rng = np.random.default_rng(seed)
    layout = [
        "weights are [out, in], y = x W^T",
        "SwiGLU(x) = silu(x Wg^T) * (x Wu^T); GEGLU(x) = gelu_exact(x Wg^T) * (x Wu^T); GLU(x) = sigmoid(x Wg^T) * (x Wu^T); ReGLU with ReLU; Bilinear with the identity; the block then multiplies by Wd^T",
        "torch.nn.functional.glu(z) splits the last axis into a | b and returns a * sigmoid(b): the SECOND half is the gate",
    ]
    case = Case("pointwise", name, exercises, {"R (rows)": R, "D": D, "F": H, "biases": "none"}, layout)
    x, gate, up, down = draw(rng, R, D), draw(rng, H, D), draw(rng, H, D), draw(rng, D, H)
    for role, key, value in [("input", "x", x), ("weight", "W_gate", gate), ("weight", "W_up", up), ("weight", "W_down", down)]:
        case.add(role, key, value, "")
    a, b = x @ gate.T, x @ up.T
    case.add("intermediate", "gate_pre", a, "x W_gate^T [R, F]")
    case.add("intermediate", "up", b, "x W_up^T [R, F]")
    units = {
        "glu": torch.sigmoid(a),
        "swiglu": F.silu(a),
        "geglu": F.gelu(a),
        "geglu_tanh": F.gelu(a, approximate="tanh"),
        "reglu": F.relu(a),
        "bilinear": a,
    }
    for unit, value in units.items():
        case.add("output", f"{unit}_hidden", value * b, f"{unit}: gated hidden [R, F]")
        case.add("output", f"{unit}_out", (value * b) @ down.T, f"{unit}: hidden W_down^T [R, D]")
    case.add("output", "torch_glu", F.glu(torch.cat([b, a], -1)), "torch.nn.functional.glu(concat(up, gate_pre)); equals glu_hidden")
    case.write("gen_pointwise.py")


def softmaxes(name, exercises, seed, V):
    rng = np.random.default_rng(seed)
    rows = ["normal", "normal * 30", "all -inf", "first two -inf", "zeros (all tied)"]
    case = Case("pointwise", name, exercises, {"V": V, "rows": rows}, ["over the last axis"])
    logits = torch.stack([draw(rng, V), draw(rng, V) * 32, torch.full((V,), -torch.inf), draw(rng, V), torch.zeros(V)])
    logits[3, :2] = -torch.inf
    labels = torch.tensor([V - 1, 0, 0, -100, 1])
    case.add("input", "logits", logits, f"[5, {V}]")
    case.add("input", "labels", labels, "[5], -100 = ignored")
    case.add("output", "softmax", logits.softmax(-1), "row 2 (all -inf) is NaN")
    case.add("output", "log_softmax", logits.log_softmax(-1), "-inf where the logit is -inf; row 2 is NaN")
    case.add("output", "logsumexp", logits.logsumexp(-1), "[5]; row 2 is -inf")
    some, two = [0, 1, 3, 4], [0, 4]
    nll = F.cross_entropy(logits[some], labels[some], reduction="none")
    case.add("output", "nll", nll, "cross-entropy per row of rows 0,1,3,4; 0 for the ignored one")
    mean = F.cross_entropy(logits[:2], labels[:2])
    case.add("output", "nll_mean", mean, "mean over rows 0..1; none is ignored")
    smooth = F.cross_entropy(logits[two], labels[two], label_smoothing=0.25)
    case.add("output", "nll_smooth", smooth, "mean over rows 0, 4 with label_smoothing 0.25: 0.75 * nll + 0.25 * mean over classes of -log p")
    case.write("gen_pointwise.py")


def activations(name, exercises, seed):
    rng = np.random.default_rng(seed)
    x = torch.cat([draw(rng, 12) * 4, torch.tensor([0.0, -0.0, 19.5, 20.5, 21.0, -20.5, -9.0])]).double()
    tolerance = {"float64": {"rtol": 1e-12, "atol": 1e-14}, "float32": {"rtol": 1e-5, "atol": 1e-6}}
    config = {"inputs": "12 normal * 4, then values about torch's thresholds"}
    layout = ["all tensors are [N], elementwise", "NAME is torch's value"]
    case = Case("pointwise", name, exercises, config, layout, tolerance)
    case.add("input", "x", x, "[N]")
    functions = {
        "relu": F.relu, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "silu": F.silu, "gelu_exact": F.gelu,
        "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
        "quick_gelu": lambda x: x * torch.sigmoid(1.702 * x),
        "softplus": F.softplus,
    }
    for key, function in functions.items():
        case.add("output", key, function(x), "")
    case.write("gen_pointwise.py")


def main():
    norms("norms_eps1e-3", "LayerNorm and RMSNorm, eps 1e-3, D = 5", 701, 5, 1e-3)
    gated("gated_units_narrow", "gated units with F below D", 702, 3, 6, 4)
    softmaxes("softmax_small", "softmax, log-softmax, cross-entropy of six classes, smoothing 0.25", 703, 6)
    activations("activations_few", "activations about torch's thresholds", 704)


if __name__ == "__main__":
    main()
