"""Writes large_seeds.json: streams of np.random.default_rng for seeds that need more than 32 bits.

Run with NumPy 1.26 or 2: python generate.py
"""

import json
import pathlib

import numpy as np

SEEDS = [2**32, 2**53 + 1, 2**63, 2**64 - 1]


def stream(seed):
    fresh = lambda: np.random.default_rng(seed)
    return {
        "seed": str(seed),
        "raw_uint64_x4": [str(word) for word in fresh().bit_generator.random_raw(4)],
        "normal": fresh().normal(size=12).tolist(),
        "random": fresh().random(8).tolist(),
        "integers_0_1000": fresh().integers(0, 1000, 12).tolist(),
        "normal_19999": float(fresh().normal(size=20000)[19999]),
    }


out = {"produced_by": {"numpy": np.__version__}, "streams": [stream(seed) for seed in SEEDS]}
pathlib.Path(__file__).with_name("large_seeds.json").write_text(json.dumps(out, indent=1) + "\n")
