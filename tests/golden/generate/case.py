"""Writing a case: a folder with case.json (plain words) and tensors.safetensors (F64 and I64 only)."""

import contextlib
import json
import pathlib
import platform

import numpy as np
import torch
from safetensors.numpy import save_file

OUT = pathlib.Path(__file__).resolve().parent.parent / "more"
WIDE = {"float64": {"rtol": 1e-9, "atol": 1e-11}, "float32": {"rtol": 1e-4, "atol": 2e-5}}


class Case:
    """One case; tensors are listed in the order in which they are added."""

    def __init__(self, family, name, exercises, config, layout, tolerance=WIDE, exact=True):
        self.family, self.name, self.exercises = family, name, exercises
        self.config, self.layout, self.tolerance, self.exact = config, layout, tolerance, exact
        self.notes, self.tensors, self.listed = [], {}, []

    def add(self, role, name, values, meaning):
        """Adds a tensor; booleans become 0/1, a scalar gets shape [1]."""
        if torch.is_tensor(values):
            values = values.detach().cpu().numpy()
        values = np.asarray(values)
        values = values.astype(np.float64 if values.dtype.kind == "f" else np.int64)
        values = np.array(values.reshape(1) if values.ndim == 0 else values, order="C")
        assert name not in self.tensors, name
        self.tensors[name] = values
        dtype = "F64" if values.dtype == np.float64 else "I64"
        self.listed.append(
            {"name": name, "shape": list(values.shape), "dtype": dtype, "role": role, "meaning": meaning}
        )

    def weights(self, module, meanings=None, skip=()):
        for name, parameter in module.named_parameters():
            if name not in skip:
                self.add("weight", name, parameter, meanings(name) if meanings else "")

    def lines(self, key, value):
        """JSON with one line a tensor."""
        if key != "tensors":
            return json.dumps(value)
        return "[\n" + ",\n".join(f"    {json.dumps(entry)}" for entry in value) + "\n  ]"

    def write(self, generator):
        if self.exact:
            for entry in self.listed:
                if entry["role"] in ("weight", "input") and entry["dtype"] == "F64":
                    values = self.tensors[entry["name"]]
                    assert np.array_equal(values.astype(np.float32).astype(np.float64), values), entry["name"]
        folder = OUT / self.family / self.name
        folder.mkdir(parents=True, exist_ok=True)
        save_file(self.tensors, folder / "tensors.safetensors")
        versions = {"python": platform.python_version(), "numpy": np.__version__, "torch": torch.__version__}
        told = {
            "name": self.name,
            "family": self.family,
            "exercises": self.exercises,
            "config": self.config,
            "layout": self.layout,
            "notes": self.notes,
            "tensors": self.listed,
            "produced_by": versions,
            "generator": f"generate/{generator}",
            "tolerance": self.tolerance,
            "inputs_exact_in_float32": self.exact,
        }
        lines = [f"  {json.dumps(key)}: {self.lines(key, value)}" for key, value in told.items()]
        (folder / "case.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")
        print(f"{self.family}/{self.name}")


def single(values):
    """Numbers that float32 holds too, as float64."""
    if torch.is_tensor(values):
        return values.to(torch.float32).to(torch.float64)
    return np.asarray(values, dtype=np.float64).astype(np.float32).astype(np.float64)


def draw(rng, *shape, scale=1.0):
    return torch.from_numpy(single(rng.normal(size=shape) * scale))


def fill(module, rng):
    """Random parameters: norms' gains about 1, everything else about 0."""
    gemma = "Gemma" in type(module).__name__
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            is_gain = parameter.ndim == 1 and "norm" in name.lower().replace("ln_", "norm") and "weight" in name
            scale = 0.3 if parameter.ndim == 1 else 1.2 / np.sqrt(parameter.shape[-1])
            if "embed" in name or "wte" in name or "wpe" in name:
                scale = 0.8
            values = rng.normal(size=tuple(parameter.shape)) * scale
            values += 1.0 if is_gain and not gemma else 0.0
            parameter.copy_(torch.from_numpy(single(values)))
    return module


@contextlib.contextmanager
def only_float64():
    """Where a library casts to float32 inside, it casts to float64."""
    kept = torch.float32, torch.float, torch.Tensor.float
    torch.float32 = torch.float = torch.float64
    torch.Tensor.float = torch.Tensor.double
    try:
        yield
    finally:
        torch.float32, torch.float, torch.Tensor.float = kept
