"""The same layers from PyTorch's own modules and functions, to show that plain.py computes what PyTorch computes.

`layer` has the signature of plain.layer. Where the sizes allow it is nn.TransformerEncoderLayer or
nn.TransformerDecoderLayer; elsewhere F.scaled_dot_product_attention, nn.functional's norms, activations and linear maps; what
PyTorch has no attention function for (mixing, weights that are no softmax) goes head by head over F.linear and matmul.
"""
import math

import torch
from torch import nn
from torch.func import functional_call
from torch.nn import functional as F

from frozen import plain

ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu, "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"), "silu": F.silu}


def norm(m, p, name, x):
    kind, eps, width = m["norm"]["type"], m["norm"]["eps"], m["width"]
    if kind == "none":
        return x
    weight = p[name + ".weight"]
    if kind == "layernorm":
        return F.layer_norm(x, (width,), weight, p[name + ".bias"], eps)
    if kind == "rmsnorm":
        return F.rms_norm(x, (width,), weight, eps)
    return weight * F.normalize(x, dim=-1, eps=eps)


def linear(p, name, x):
    return F.linear(x, p[name + ".weight"], p.get(name + ".bias"))


def ffn(m, p, name, x):
    if m["ffn"]["activation"] == "swiglu":
        return linear(p, name + ".down", F.silu(linear(p, name + ".gate", x)) * linear(p, name + ".up", x))
    return linear(p, name + ".down", ACTIVATIONS[m["ffn"]["activation"]](linear(p, name + ".up", x)))


def is_standard(m):
    """Whether nn.TransformerEncoderLayer can be this layer."""
    a, width = m["attention"], m["width"]
    plain_attention = plain.DEFAULTS["attention"] | {
        n: a[n] for n in ("heads", "key_size", "value_size", "kind", "mask", "score_heads", "value_heads", "combine")}
    return (a == plain_attention and a["key_size"] * a["heads"] == width == a["value_size"] * a["heads"]
            and m["ffn"]["width"] > 0 and m["ffn"]["activation"] in ACTIVATIONS and m["residual"] and a["kind"] == "self"
            and m["positions"]["type"] not in ("alibi", "relative_bias", "rotary"))


class Norm(nn.Module):
    """An empty place for the norm, filled by functional_call."""

    def __init__(self, m):
        super().__init__()
        self.m, kind = m, m["norm"]["type"]
        self.weight = nn.Parameter(torch.ones(1 if kind == "l2" else m["width"]))
        self.bias = nn.Parameter(torch.zeros(m["width"])) if kind == "layernorm" else None

    def forward(self, x):
        return norm(self.m, {"n." + k: v for k, v in self.named_parameters()}, "n", x)


def standard_layer(m, p, prefix, x, sources, causal):
    """The layer as one nn.TransformerEncoderLayer, or nn.TransformerDecoderLayer where it has cross-attention."""
    kind = nn.TransformerDecoderLayer if len(sources) == 2 else nn.TransformerEncoderLayer
    module = kind(m["width"], m["attention"]["heads"], m["ffn"]["width"], dropout=0.0,
                  activation=ACTIVATIONS[m["ffn"]["activation"]], batch_first=True,
                  norm_first=m["norm"]["placement"] == "pre", bias=m["bias"], dtype=torch.float64)
    values = {}
    for n in range(1, len(sources) + 2):
        setattr(module, f"norm{n}", Norm(m))
        for part in ("weight", "bias"):
            if f"{prefix}norm{n}.{part}" in p:
                values[f"norm{n}.{part}"] = p[f"{prefix}norm{n}.{part}"]
    for part in ("weight", "bias")[:1 + m["bias"]]:
        values["linear1." + part], values["linear2." + part] = p[f"{prefix}ffn.up.{part}"], p[f"{prefix}ffn.down.{part}"]
        for name, mine in (("self_attn", "attention"), ("multihead_attn", "cross_attention"))[:len(sources)]:
            mine = prefix + mine
            values[f"{name}.in_proj_{part}"] = torch.cat([p[f"{mine}.{n}.{part}"] for n in ("query", "key", "value")])
            values[f"{name}.out_proj.{part}"] = p[f"{mine}.output.{part}"].reshape((-1, m["width"])[part == "bias":])
    if causal:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=torch.float64)
    else:
        mask = None
    module.train()
    return functional_call(module, values, (x,) if len(sources) == 1 else (x, sources[1], mask)[:2],
                           {"tgt_mask" if len(sources) == 2 else "src_mask": mask}, strict=True)


def core_of_pytorch(m, query, key, value, bias, causal):
    """F.scaled_dot_product_attention over (B,h,T,size) of one copy."""
    a = m["attention"]
    queries, keys = query.shape[-2], key.shape[-2]
    mask = torch.zeros(queries, keys, dtype=torch.float64)
    if causal:
        mask = mask.masked_fill(torch.ones(queries, keys, dtype=torch.bool).triu(1), -math.inf)
    scale = {"inv_sqrt_key_size": None, "inv_key_size": 1 / a["key_size"]}.get(a["scale"], a["scale"])
    if a["qk_norm"] == "l2":
        query, key = F.normalize(query, dim=-1, eps=0), F.normalize(key, dim=-1, eps=0)
    elif a["qk_norm"] == "rms":
        query, key = (F.rms_norm(y, y.shape[-1:], eps=0.0) for y in (query, key))
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask + bias, scale=scale,
                                          enable_gqa=a["kv_heads"] is not None)


def core_by_heads(m, p, name, copy, query, key, value, bias, causal):
    """Head by head; query, key (B,h_k,T,K), value (B,h_v,T,V) of one copy."""
    a = m["attention"]
    queries, keys = query.shape[-2], key.shape[-2]
    if a["qk_norm"] != "none":
        size = 1 if a["qk_norm"] == "l2" else a["key_size"]
        query, key = (F.normalize(y, dim=-1, eps=0) * size**0.5 for y in (query, key))
    if a["kv_heads"]:
        key, value = (y.repeat_interleave(a["heads"] // a["kv_heads"], 1) for y in (key, value))
    raw = []
    for i in range(query.shape[1]):
        s = torch.baddbmm(torch.zeros((), dtype=torch.float64), query[:, i], key[:, i].mT, beta=0)
        if a["scale"] == "learned":
            s = s * p[name + ".scale.weight"][copy, i]
        else:
            s = s / {"inv_sqrt_key_size": a["key_size"] ** 0.5, "inv_key_size": a["key_size"]}[a["scale"]]
        raw.append(s)
    weights = []
    for g in range(a["heads"]):
        s = raw[g] if a["mix_scores"] == "none" else sum(
            p[name + ".mix_scores.weight"][copy, g, i] * r for i, r in enumerate(raw))
        s = s + (bias[g] if torch.is_tensor(bias) else bias)
        rows = []
        for t in range(queries):  # only what the query sees
            seen = s[:, t, :t + 1] if causal else s[:, t]
            if a["type"] == "softmax":
                w = F.softmax(seen, -1)
            else:
                w = torch.sigmoid(seen) if a["type"] == "sigmoid" else (
                    F.relu(seen) if a["type"] == "relu" else seen) / seen.shape[-1]
            rows.append(F.pad(w, (0, keys - seen.shape[-1])))
        weights.append(torch.stack(rows, 1))
    if a["mix_weights"] != "none":
        mix = p[name + ".mix_weights.weight"][copy]
        weights = [sum(mix[g, i] * w for i, w in enumerate(weights)) for g in range(a["value_heads"])]
    return torch.stack([w @ value[:, i] for i, w in enumerate(weights)], 1)


def attention(m, p, name, x, memory, bias, causal):
    a, width, cross = m["attention"], m["width"], memory is not None
    memory, bias, causal = (memory, 0, False) if cross else (x, bias, causal)
    special = a["type"] != "softmax" or a["mix_scores"] != "none" or a["mix_weights"] != "none" or a["scale"] == "learned"
    outputs = []
    for copy in range(a["copies"]):
        def project(part, y):
            if name + f".{part}.weight" not in p:  # full score map: the memory itself is the key of every head
                return memory[:, None].expand(-1, a["score_heads"], -1, -1)
            weight = p[name + f".{part}.weight"].chunk(a["copies"])[copy]
            b = p[name + f".{part}.bias"].chunk(a["copies"])[copy] if name + f".{part}.bias" in p else None
            size = a["value_size"] if part == "value" else a["key_size"]
            return F.linear(y, weight, b).unflatten(-1, (-1, size)).transpose(1, 2)

        q, k, v = project("query", x), project("key", memory), project("value", memory)
        if m["positions"]["type"] == "rotary" and not cross:
            q, k = (rotary_by_complex(y) for y in (q, k))
        own_bias = bias[min(copy, bias.shape[0] - 1)] if torch.is_tensor(bias) else bias
        found = (core_by_heads(m, p, name, copy, q, k, v, own_bias, causal) if special
                 else core_of_pytorch(m, q, k, v, own_bias, causal))
        if a["value_map"] == "full":
            out = found.sum(1)
        else:
            columns = p[name + ".output.weight"].chunk(a["copies"], 1)[copy]
            out = F.linear(found.transpose(1, 2).flatten(2), columns)
        outputs.append(out + p[name + ".output.bias"][copy] if name + ".output.bias" in p else out)
    total = torch.stack(outputs).sum(0)
    return total / a["copies"] if a["combine"] == "mean" else total


def rotary_by_complex(x):
    """Rotary positions as a product of complex numbers."""
    half = x.shape[-1] // 2
    z = torch.complex(x[..., :half], x[..., half:])
    angle = torch.outer(torch.arange(x.shape[-2]).double(), 10000.0 ** (-torch.arange(half).double() / half))
    z = z * torch.polar(torch.ones_like(angle), angle)
    return torch.cat([z.real, z.imag], -1)


def layer(m, p, prefix, x, sources, bias, causal):
    if is_standard(m):
        return standard_layer(m, p, prefix, x, sources, causal)
    parts = [(f"{prefix}norm{n}", lambda y, part=part, memory=memory: attention(
        m, p, prefix + part, y, memory, bias, causal))
        for n, (part, memory) in enumerate(zip(("attention", "cross_attention"), sources), 1)]
    if m["ffn"]["width"]:
        parts.append((f"{prefix}norm{len(parts) + 1}", lambda y: ffn(m, p, prefix + "ffn", y)))
    for name, f in parts:
        y = f(norm(m, p, name, x)) if m["norm"]["placement"] == "pre" else f(x)
        y = x + y if m["residual"] else y
        x = y if m["norm"]["placement"] == "pre" else norm(m, p, name, y)
    return x
