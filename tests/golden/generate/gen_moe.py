"""Mixtures of experts alone: a block, and choices from given router logits."""

import math

import numpy as np
import torch
from case import Case, draw

RULES = {
    True: "top-k probabilities divided by their sum",
    False: "top-k probabilities as they are (not divided by their sum)",
}


def choose(probs, k):
    """The k most probable, of equals the lower index first."""
    return torch.argsort(-probs, dim=-1, stable=True)[:, :k]


def statistics(case, logits, k, renormalize, factors):
    N, E = logits.shape
    probs = torch.softmax(logits, -1)
    case.add("intermediate", "router_probs", probs, "[N, E]")
    selected = choose(probs, k)
    gates = probs.gather(-1, selected)
    if renormalize:
        gates = gates / gates.sum(-1, keepdim=True)
    case.add("output", "selected", selected, "[N, k], expert indices, most probable first")
    case.add("output", "gate_weights", gates, "[N, k], in the order of selected")
    dense = torch.zeros(N, E, dtype=torch.float64).scatter(-1, selected, gates)
    case.add("output", "gates", dense, "[N, E], the gate weight of each chosen expert, 0 elsewhere")
    importance, load = dense.sum(0), torch.bincount(selected.flatten(), minlength=E)
    cv2 = lambda x, ddof: x.double().var(correction=ddof) / x.double().mean() ** 2
    case.add("output", "importance", importance, "[E], sum of gates over the tokens")
    case.add("output", "importance_cv2", cv2(importance, 0), "squared coefficient of variation of importance: population variance (divides by E) over squared mean")
    case.add("output", "importance_cv2_sample", cv2(importance, 1), "the same with the sample variance (divides by E - 1)")
    case.add("output", "load", load, "[E], number of (token, choice) assignments")
    case.add("output", "load_cv2", cv2(load, 0), "squared coefficient of variation of load, population variance")
    kept = {}
    for factor in factors:
        capacity = math.ceil(factor * k * N / E)
        key = str(float(factor)).replace(".", "_")
        room = [capacity] * E
        kept[factor] = torch.zeros(N, k, dtype=torch.int64)
        for n in range(N):
            for i in range(k):
                e = int(selected[n, i])
                kept[factor][n, i] = int(room[e] > 0)
                room[e] -= 1
        case.add("output", f"capacity_{key}", np.int64(capacity), f"ceil({factor} * k * N / E)")
        case.add("output", f"overflow_{key}", (load - capacity).clamp(min=0), "[E], assignments beyond capacity: max(load - capacity, 0)")
        case.add("output", f"kept_token_order_{key}", kept[factor], "[N, k], 1 = the assignment finds a place when tokens go in order, each placing all its choices")
    return selected, gates, kept


def block(name, exercises, seed, N, D, F, E, k, renormalize, factors, skew=0.0):
    rng = np.random.default_rng(seed)
    config = {
        "N (tokens)": N, "D": D, "F": F, "E (experts)": E, "k": k,
        "router": "logits = x W_r^T, softmax over all E, top k (ties to the lower index)",
        "gates": RULES[renormalize],
        "expert": "W2 (silu(W1 x) * W3 x), no bias",
    }
    case = Case("moe", name, exercises, config, ["router [E, D]; experts W1, W3 [E, F, D], W2 [E, D, F]; y = W x per token"])
    router, w1, w3, w2 = draw(rng, E, D), draw(rng, E, F, D, scale=0.5), draw(rng, E, F, D, scale=0.5), draw(rng, E, D, F, scale=0.5)
    for key, value, meaning in [("router", router, "[E, D]"), ("W1", w1, "[E, F, D] gate"), ("W3", w3, "[E, F, D] up"), ("W2", w2, "[E, D, F] down")]:
        case.add("weight", key, value, meaning)
    x = draw(rng, N, D) + skew
    x = torch.from_numpy(x.numpy().astype(np.float32).astype(np.float64))
    case.add("input", "x", x, "[N, D]")
    logits = x @ router.T
    case.add("intermediate", "router_logits", logits, "[N, E]")
    hidden = torch.nn.functional.silu(torch.einsum("nd,efd->enf", x, w1)) * torch.einsum("nd,efd->enf", x, w3)
    outputs = torch.einsum("enf,edf->end", hidden, w2)
    case.add("intermediate", "expert_outputs", outputs, "[E, N, D], every expert on every token")
    selected, gates, kept = statistics(case, logits, k, renormalize, factors)
    of = outputs[selected, torch.arange(N)[:, None]]
    case.add("output", "output", (gates[..., None] * of).sum(1), "[N, D], no capacity limit")
    dropped = ((gates * kept[1.0])[..., None] * of).sum(1)
    case.add("output", "output_capacity", dropped, "[N, D] with capacity factor 1.0 in token order: dropped assignments add nothing, gates are not divided again")
    case.write("gen_moe.py")


def ties(name, exercises, k, renormalize, rows):
    config = {
        "N": len(rows), "E": len(rows[0]), "k": k,
        "rule for ties": "the lower expert index comes first (a choice of this set, see notes)",
        "gates": RULES[renormalize],
    }
    case = Case("moe", name, exercises, config, ["router_logits are the input"])
    logits = torch.tensor(rows, dtype=torch.float64)
    case.add("input", "router_logits", logits, "[N, E]")
    statistics(case, logits, k, renormalize, [1.0, 0.5])
    case.write("gen_moe.py")


def main():
    block("block_top3of6_plain", "three of six experts, gates not divided", 501, 9, 6, 5, 6, 3, False, [1.0, 0.5, 1.5])
    block("block_top1of2_skewed", "one of two experts, gates divided (all 1), skewed router", 502, 7, 4, 3, 2, 1, True, [1.0, 0.75], skew=0.5)
    ties("router_ties_top3", "ties among five experts, gates as they are", 3, False, [[0, 0, 0, 0, 0], [1, 2, 1, 2, 1], [3, 0, 0, 0, 3], [-1, -1, 4, -1, -1]])


if __name__ == "__main__":
    main()
