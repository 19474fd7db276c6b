"""What all language models from Hugging Face have in common: a batch, hooks, hidden states, caches, the loss."""

import numpy as np
import torch
import transformers
from case import Case, only_float64, single

NOTE = (
    "hidden_states in Hugging Face's sense has L+1 entries: 0 is the embedding sum, i is the output of block i-1, and the "
    "LAST one is taken after the final norm, so the raw output of the last block is stored separately as last_block_out."
)


def build(kind, seed, fill, settings, **more):
    """A model in float64 with random weights, attention written out."""
    config = getattr(transformers, f"{kind}Config")(**settings, attn_implementation="eager", **more)
    torch.manual_seed(seed)
    with only_float64():
        model = getattr(transformers, f"{kind}ForCausalLM")(config).to(torch.float64).eval()
        renew_rotary(model)
    return fill(model, np.random.default_rng(seed))


def renew_rotary(model):
    """Frequencies are made when a model is built, in the type of that moment."""
    for module in model.modules():
        if hasattr(module, "rope_init_fn"):
            module.inv_freq = module.rope_init_fn(module.config, None)[0].double()
            module.original_inv_freq = module.inv_freq


def tokens(rng, vocabulary, batch, length, lengths=None, side="left"):
    ids = rng.integers(0, vocabulary, (batch, length))
    mask = np.ones((batch, length), dtype=np.int64)
    for b, own in enumerate(lengths or []):
        empty = slice(0, length - own) if side == "left" else slice(own, length)
        ids[b, empty], mask[b, empty] = 0, 0
    return torch.from_numpy(ids), torch.from_numpy(mask)


def labels_of(ids, mask):
    """Every own token but a prompt's first is predicted."""
    labels = torch.where(mask == 1, ids, -100)
    for b in range(len(ids)):
        labels[b, int(torch.nonzero(mask[b])[0])] = -100
    return labels


def mean_loss(logits, labels):
    rows, wanted = logits[:, :-1].reshape(-1, logits.shape[-1]), labels[:, 1:].reshape(-1)
    return torch.nn.functional.cross_entropy(rows, wanted, ignore_index=-100)


def run(case, model, ids, mask, blocks, outputs, lengths=None, side=None, positions=True, cache=False):
    """Runs the model and adds inputs, hidden states, attentions, modules' outputs, logits and loss.

    `blocks` is the prefix of the blocks in the module tree, `outputs` are modules below one, with what each gives.
    """
    case.add("input", "input_ids", ids, "[B, T] token ids")
    given = {"input_ids": ids}
    if lengths:
        meaning = "[B, T], 1 = real token, 0 = padding (the opposite of PyTorch's key_padding_mask)"
        case.add("input", "attention_mask", mask, meaning)
        given["attention_mask"] = mask
        if side == "left" and positions:
            given["position_ids"] = (mask.cumsum(-1) - 1).clamp(min=0)
            case.add("input", "position_ids", given["position_ids"], "[B, T] position of each token")
        case.notes.append(f"{side}-padded to {ids.shape[1]}; lengths {lengths}. Compare only rows whose attention_mask is 1.")
    found, handles = {}, []
    count = model.config.num_hidden_layers
    modules = dict(model.named_modules())
    for n in range(count):
        for name in outputs:
            full = f"{blocks}.{n}.{name}"
            if full in modules:
                handles.append(modules[full].register_forward_hook(keep(found, full)))
        handles.append(modules[f"{blocks}.{n}"].register_forward_hook(keep(found, f"{blocks}.{n}")))
    with torch.no_grad(), only_float64():
        told = model(**given, output_hidden_states=True, output_attentions=True, use_cache=True)
    for handle in handles:
        handle.remove()
    assert told.logits.dtype == torch.float64
    for i, state in enumerate(told.hidden_states):
        what = "embedding output" if i == 0 else "after the final norm" if i == count else f"after block {i - 1}"
        case.add("intermediate", f"hidden_states_{i}", state, f"[B, T, D] {what}")
    for i, weights in enumerate(told.attentions):
        case.add("intermediate", f"attentions_{i}", weights, f"[B, H, T, T] attention weights of block {i}")
    last = found[f"{blocks}.{count - 1}"]
    case.add("intermediate", "last_block_out", last, "[B, T, D] output of the last block, before the final norm")
    for n in range(count):
        for name, meaning in outputs.items():
            full = f"{blocks}.{n}.{name}"
            if full in found:
                case.add("intermediate", f"out:{full}", found[full], meaning)
    case.add("output", "logits", told.logits, "[B, T, V]")
    if cache:
        for n in range(count):
            layer = told.past_key_values.layers[n]
            for kind, values in (("key", layer.keys), ("value", layer.values)):
                case.add("intermediate", f"cache_{kind}_{n}", values, f"block {n}: {kind}s as kept in the KV cache, [B, H_kv, T, d]")
    labels = labels_of(ids, mask)
    meaning = "[B, T], -100 = ignored; the shift by one happens inside: logits at t are scored against labels at t+1"
    case.add("input", "labels", labels, meaning)
    case.add("output", "loss", mean_loss(told.logits, labels), "mean cross-entropy in float64 over the labels that count")
    case.notes.insert(0, NOTE)
    return told


def keep(found, name):
    def hook(_module, _inputs, output):
        found[name] = (output[0] if isinstance(output, tuple) else output).detach()

    return hook


def weights(case, model, tied):
    case.weights(model, skip=("lm_head.weight", "embed_out.weight") if tied else ())
    if tied:
        case.notes.append("lm_head.weight is the same tensor as the embedding (tied), so it is stored once.")


__all__ = ["Case", "build", "run", "single", "tokens", "weights"]
