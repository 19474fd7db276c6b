"""Position schemes alone: rotary in both pairings, ALiBi, sinusoids."""

import numpy as np
import torch
from case import Case, draw

TIGHT = {"float64": {"rtol": 1e-12, "atol": 1e-13}, "float32": {"rtol": 1e-4, "atol": 1e-5}}


def rope(name, exercises, seed, H, T, d, r, base, positions):
    rng = np.random.default_rng(seed)
    config = {
        "H": H, "T": T, "d (head size)": d, "rotated dimensions": r, "base": base, "positions": positions,
        "angle": "position * base^(-2j / r), j = 0 .. r/2 - 1",
        "interleaved": "pair (2j, 2j+1): the textbook / RoFormer form",
        "half": "pair (j, j + r/2): the form of GPT-NeoX, Llama and Hugging Face (rotate_half)",
        "rotation": "(a, b) -> (a cos - b sin, a sin + b cos)",
    }
    case = Case("positions", name, exercises, config, ["[H, T, d]"], TIGHT)
    q, k = draw(rng, H, T, d), draw(rng, H, T, d)
    case.add("input", "q", q, "[H, T, d]")
    case.add("input", "k", k, "[H, T, d]")
    case.add("input", "positions", np.array(positions), "[T]")
    frequencies = base ** (-2.0 * torch.arange(r // 2, dtype=torch.float64) / r)
    angles = torch.tensor(positions, dtype=torch.float64)[:, None] * frequencies
    cos, sin = angles.cos(), angles.sin()
    case.add("intermediate", "inv_freq", frequencies, "[r/2], base^(-2j/r)")
    case.add("intermediate", "cos", cos, "[T, r/2]")
    case.add("intermediate", "sin", sin, "[T, r/2]")
    pairs = {
        "interleaved": (slice(0, r, 2), slice(1, r, 2)),
        "half": (slice(0, r // 2), slice(r // 2, r)),
    }
    for pairing, (first, second) in pairs.items():
        rotated = []
        for part, x in (("q", q), ("k", k)):
            y = x.clone()
            y[..., first] = x[..., first] * cos - x[..., second] * sin
            y[..., second] = x[..., first] * sin + x[..., second] * cos
            rotated.append(y)
            case.add("output", f"{part}_{pairing}", y, f"{part} rotated, {pairing} pairing")
        scores = rotated[0] @ rotated[1].transpose(-1, -2) / np.sqrt(d)
        case.add("output", f"scores_{pairing}", scores, "rotated q k^T / sqrt(d), [H, T, T], no mask")
    case.write("gen_positions.py")


def slopes_of(heads):
    power = 2 ** int(np.floor(np.log2(heads)))
    own = [2.0 ** (-8.0 * (i + 1) / power) for i in range(power)]
    more = [2.0 ** (-8.0 * (i + 1) / (2 * power)) for i in range(0, 2 * power, 2)]
    return torch.tensor((own + more)[:heads], dtype=torch.float64)


def alibi(name, exercises, seed, heads, T, d):
    rng = np.random.default_rng(seed)
    config = {
        "heads": heads, "T": T, "d": d,
        "slopes": "H a power of two: 2^(-8 i / H), i = 1..H; otherwise those of the next lower power of two n, then every other slope (1st, 3rd, ...) of 2n until H are there",
        "bias": "slope_h * (key position - query position), i.e. 0 on the diagonal and negative to the left; causal",
    }
    case = Case("positions", name, exercises, config, ["[H, T, T]: query, key"], TIGHT)
    for H in heads:
        case.add("output", f"slopes_{H}", slopes_of(H), f"[{H}]")
    H = heads[-1]
    q, k, v = (draw(rng, H, T, d) for _ in range(3))
    t = torch.arange(T, dtype=torch.float64)
    bias = slopes_of(H)[:, None, None] * (t[None] - t[:, None])
    bias = bias.masked_fill(t[None] > t[:, None], float("-inf"))
    case.add("intermediate", "bias", bias, f"[H={H}, T, T], -inf above the diagonal")
    for part, x in dict(q=q, k=k, v=v).items():
        case.add("input", part, x, "[H, T, d]")
    weights = (q @ k.transpose(-1, -2) / np.sqrt(d) + bias).softmax(-1)
    case.add("output", "attention", weights, "softmax(q k^T / sqrt(d) + bias)")
    case.add("output", "context", weights @ v, "[H, T, d]")
    case.write("gen_positions.py")


def sinusoids(name, exercises, D, T):
    config = {
        "D": D, "T": T,
        "interleaved": "P[t, 2j] = sin(t * 10000^(-2j/D)), P[t, 2j+1] = cos(the same angle)",
        "concatenated": "first D/2 columns sin, last D/2 columns cos, the same angles",
    }
    case = Case("positions", name, exercises, config, ["[T, D], row t = position t, counted from 0"], TIGHT)
    frequencies = 10000.0 ** (-2.0 * np.arange(D // 2) / D)
    angles = np.arange(T)[:, None] * frequencies
    case.add("intermediate", "frequencies", frequencies, "[D/2]")
    table = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(T, D)
    case.add("output", "table", table, "[T, D], interleaved: even columns sin, odd columns cos")
    both = np.concatenate([np.sin(angles), np.cos(angles)], -1)
    case.add("output", "table_concatenated", both, "[T, D], all sin columns, then all cos columns")
    case.write("gen_positions.py")


def main():
    rope("rope_partial_base500", "RoPE on 2 of 6 dimensions, base 500, positions out of order", 601, 3, 4, 6, 2, 500, [5, 0, 31, 2])
    rope("rope_d2", "RoPE on a head of two", 602, 1, 3, 2, 2, 10000, [0, 1, 2])
    alibi("alibi_3_5_12", "ALiBi slopes for 3, 5 and 12 heads", 603, [3, 5, 7, 12], 4, 2)
    sinusoids("sinusoidal_d2_t5", "sinusoidal table, D = 2", 2, 5)
    sinusoids("sinusoidal_d10_t100", "sinusoidal table, D = 10, T = 100", 10, 100)


if __name__ == "__main__":
    main()
