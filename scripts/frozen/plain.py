"""headroom's models written plainly in PyTorch: every formula spelled out, no torch.nn.

A model is its config (the `task` and `model` sections of a headroom config over DEFAULTS), a dict of parameters with
headroom's names and shapes, and `forward`. Letters: B batch, T tokens, C width, c copies, h heads, K key size, V value size.
"""
import math

import torch

DEFAULTS = {
    "type": "encoder", "layers": 1, "width": 16, "read_in": None, "read_out": None, "residual": True, "bias": True,
    "share_layers": False,
    "norm": {"type": "l2", "placement": "post", "eps": None, "final": None},
    "positions": {"type": "none", "width": None, "length": None},
    "attention": {"type": "softmax", "kind": "self", "heads": 1, "key_size": None, "value_size": None, "copies": 1,
                  "combine": "mean", "kv_heads": None, "scale": "inv_sqrt_key_size", "qk_norm": "none",
                  "mix_scores": "none", "mix_weights": "none", "score_heads": None, "value_heads": None,
                  "score_map": "factored", "value_map": "factored", "mask": "none"},
    "ffn": {"width": 64, "activation": "relu"},
}
NORM_EPS = {"layernorm": 1e-5, "rmsnorm": 1e-5, "l2": 0.0, "none": 0.0}
BUCKETS, MAX_DISTANCE = 32, 128  # of the T5 relative bias


def resolve(model, input_dim, output_dim):
    """The model section with every default filled in."""
    m = {k: ({**v, **model.get(k, {})} if isinstance(v, dict) else model.get(k, v)) for k, v in DEFAULTS.items()}
    for key in set(model) - set(m):
        raise KeyError(key)
    a, positions, width = m["attention"], m["positions"], m["width"]
    extra = positions["width"] if positions["type"] == "concatenated" else 0
    m["embed"] = width - extra
    m["read_in"] = m["read_in"] or ("identity" if m["embed"] == input_dim else "linear")
    m["read_out"] = m["read_out"] or ("slice" if width >= output_dim else "linear")
    m["norm"]["eps"] = NORM_EPS[m["norm"]["type"]] if m["norm"]["eps"] is None else m["norm"]["eps"]
    if m["norm"]["final"] is None:
        m["norm"]["final"] = m["norm"]["placement"] == "pre"
    a["key_size"] = width if a["score_map"] == "full" else a["key_size"] or width // a["heads"]
    a["value_size"] = width if a["value_map"] == "full" else a["value_size"] or width // a["heads"]
    a["score_heads"] = a["score_heads"] or a["heads"]
    a["value_heads"] = a["value_heads"] or a["heads"]
    m["input_dim"], m["output_dim"] = input_dim, output_dim
    return m


def stacks(m):
    """(prefix, whether the layers hold cross-attention besides) of each stack of layers."""
    return [("encoder.", False), ("decoder.", True)] if m["type"] == "encoder_decoder" else [("", False)]


def shapes(m):
    """name -> shape of every parameter, in the order of the forward pass."""
    width, bias, rows = m["width"], m["bias"], {}

    def linear(name, out_size, in_size, with_bias=True):
        rows[name + ".weight"] = (out_size, in_size)
        if with_bias:
            rows[name + ".bias"] = (out_size,)

    def norm(name):
        if m["norm"]["type"] != "none":
            rows[name + ".weight"] = (1,) if m["norm"]["type"] == "l2" else (width,)
            if m["norm"]["type"] == "layernorm":
                rows[name + ".bias"] = (width,)

    def attention(name):
        a = m["attention"]
        c, h, hk, hv, k, v = (a[n] for n in ("copies", "heads", "score_heads", "value_heads", "key_size", "value_size"))
        linear(name + ".query", c * hk * k, width, bias)
        if a["score_map"] == "factored":
            linear(name + ".key", c * (a["kv_heads"] or hk) * k, width, bias)
        linear(name + ".value", c * (a["kv_heads"] or hv) * v, width, bias)
        if a["scale"] == "learned":
            rows[name + ".scale.weight"] = (c, hk)
        if a["mix_scores"] != "none":
            rows[name + ".mix_scores.weight"] = (c, h, hk)
        if a["mix_weights"] != "none":
            rows[name + ".mix_weights.weight"] = (c, hv, h)
        if a["value_map"] == "factored":
            rows[name + ".output.weight"] = (width, c * hv * v)
        if bias:
            rows[name + ".output.bias"] = (c, width)

    if m["read_in"] == "linear":
        linear("read_in", m["embed"], m["input_dim"])
    kind, length = m["positions"]["type"], m["positions"]["length"]
    if kind in ("learned", "concatenated"):
        rows["positions.weight"] = (length, width if kind == "learned" else m["positions"]["width"])
    for stack, cross in stacks(m):
        if kind == "relative_bias":
            rows[stack + "positions.weight"] = (BUCKETS, m["attention"]["copies"] * m["attention"]["heads"])
        for i in range(1 if m["share_layers"] else m["layers"]):
            layer, n = f"{stack}layers.{i}.", 1
            for part in ("attention", "cross_attention")[:2 if cross else 1]:
                attention(layer + part)
                norm(f"{layer}norm{n}")
                n += 1
            if m["ffn"]["width"]:
                if m["ffn"]["activation"] == "swiglu":
                    linear(layer + "ffn.gate", m["ffn"]["width"], width, bias)
                linear(layer + "ffn.up", m["ffn"]["width"], width, bias)
                linear(layer + "ffn.down", width, m["ffn"]["width"], bias)
                norm(f"{layer}norm{n}")
        if m["norm"]["final"]:
            norm(stack + "final_norm")
    if m["read_out"] == "linear":
        linear("read_out", m["output_dim"], width)
    return rows


def linear(p, name, x):
    y = torch.einsum("...i,oi->...o", x, p[name + ".weight"])
    return y + p[name + ".bias"] if name + ".bias" in p else y


def norm(m, p, name, x):
    kind, eps = m["norm"]["type"], m["norm"]["eps"]
    if kind == "none":
        return x
    if kind == "l2":
        return p[name + ".weight"] * x / (x.square().sum(-1, keepdim=True) + eps).sqrt()
    if kind == "rmsnorm":
        return p[name + ".weight"] * x / (x.square().mean(-1, keepdim=True) + eps).sqrt()
    centred = x - x.mean(-1, keepdim=True)
    return centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt() * p[name + ".weight"] + p[name + ".bias"]


def activation(kind, x):
    if kind == "relu":
        return torch.where(x > 0, x, torch.zeros_like(x))
    if kind == "gelu":
        return x / 2 * (1 + torch.erf(x / math.sqrt(2)))
    if kind == "gelu_tanh":
        return x / 2 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    if kind == "silu":
        return x / (1 + torch.exp(-x))
    raise KeyError(kind)


def ffn(m, p, name, x):
    if m["ffn"]["activation"] == "swiglu":
        hidden = activation("silu", linear(p, name + ".gate", x)) * linear(p, name + ".up", x)
    else:
        hidden = activation(m["ffn"]["activation"], linear(p, name + ".up", x))
    return linear(p, name + ".down", hidden)


def rotate(x):
    """Rotary positions of x (..., T, K), halves split: coordinate i turns with coordinate i + K/2."""
    tokens, half = x.shape[-2], x.shape[-1] // 2
    rate = 10000.0 ** (-torch.arange(half, dtype=x.dtype) / half)
    angle = torch.arange(tokens, dtype=x.dtype)[:, None] * rate
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def alibi_slopes(heads):
    """Press et al.: 2^(-8 i / n) for a power of two n; elsewhere those of the power below, then every other one of the power above."""
    power = 2 ** int(math.log2(heads))
    slopes = [2 ** (-8 * (i + 1) / power) for i in range(power)]
    return slopes + [2 ** (-8 * (i + 1) / (2 * power)) for i in range(0, 2 * (heads - power), 2)]


def bucket(distance, causal):
    """T5's bucket of distance = key position - query position."""
    count, base = BUCKETS, 0
    if not causal:
        count //= 2
        base = count if distance > 0 else 0
    n = abs(distance) if not causal else max(-distance, 0)
    exact = count // 2
    if n < exact:
        return base + n
    far = exact + int(math.log(n / exact) / math.log(MAX_DISTANCE / exact) * (count - exact))
    return base + min(far, count - 1)


def position_bias(m, p, stack, tokens, causal):
    """What is added to the scores of self-attention after mixing: (c, h, tokens, tokens) or 0."""
    a, kind = m["attention"], m["positions"]["type"]
    distance = [[j - i for j in range(tokens)] for i in range(tokens)]
    if kind == "alibi":
        slopes = torch.tensor(alibi_slopes(a["heads"]), dtype=torch.float64)
        return (-torch.tensor(distance, dtype=torch.float64).abs() * slopes[:, None, None])[None]
    if kind == "relative_bias":
        index = torch.tensor([[bucket(d, causal) for d in row] for row in distance])
        bias = p[stack + "positions.weight"][index]  # (tokens, tokens, c*h)
        return bias.permute(2, 0, 1).reshape(a["copies"], a["heads"], tokens, tokens)
    return 0


def attention(m, p, name, x, memory, bias, causal):
    """x (B,Tq,C) asks, memory (B,Tk,C) answers, or x itself where there is none; returns (B,Tq,C).

    Position biases, rotation and the mask are about one sequence: cross-attention has none of them.
    """
    a, cross = m["attention"], memory is not None
    memory, bias, causal = (memory, 0, False) if cross else (x, bias, causal)
    c, k, v = a["copies"], a["key_size"], a["value_size"]

    def split(y, size):  # (B,T,c*h*size) -> (B,c,h,T,size): copies, then heads, then coordinates
        return y.reshape(y.shape[0], y.shape[1], c, -1, size).permute(0, 2, 3, 1, 4)

    query, value = split(linear(p, name + ".query", x), k), split(linear(p, name + ".value", memory), v)
    key = split(linear(p, name + ".key", memory), k) if a["score_map"] == "factored" else memory[:, None, None]
    if a["kv_heads"]:  # consecutive query heads share one key and value head
        key, value = (y.repeat_interleave(a["heads"] // a["kv_heads"], 2) for y in (key, value))
    if a["qk_norm"] != "none":
        size = 1 if a["qk_norm"] == "l2" else k
        query, key = (y * math.sqrt(size) / y.square().sum(-1, keepdim=True).sqrt() for y in (query, key))
    if m["positions"]["type"] == "rotary" and not cross:
        query, key = rotate(query), rotate(key)
    scores = query @ key.transpose(-1, -2)
    scale = {"inv_sqrt_key_size": 1 / math.sqrt(k), "inv_key_size": 1 / k}.get(a["scale"], a["scale"])
    scores = scores * (p[name + ".scale.weight"][..., None, None] if scale == "learned" else scale)
    if a["mix_scores"] != "none":
        scores = torch.einsum("cgh,bchij->bcgij", p[name + ".mix_scores.weight"], scores)
    scores = scores + bias
    seen = torch.ones(scores.shape[-2:], dtype=torch.bool)
    if causal:
        seen = seen.tril()
    if a["type"] == "softmax":
        weights = torch.softmax(scores.masked_fill(~seen, -math.inf), -1)
    else:
        if a["type"] == "sigmoid":
            weights = 1 / (1 + torch.exp(-scores))
        else:
            weights = (activation("relu", scores) if a["type"] == "relu" else scores) / seen.sum(-1, keepdim=True)
        weights = weights * seen
    if a["mix_weights"] != "none":
        weights = torch.einsum("cgh,bchij->bcgij", p[name + ".mix_weights.weight"], weights)
    found = weights @ value  # (B,c,h_v,Tq,V)
    if a["value_map"] == "factored":
        out = torch.einsum("bchtv,ochv->bcto", found, p[name + ".output.weight"].reshape(m["width"], c, -1, v))
    else:
        out = found.sum(2)
    if name + ".output.bias" in p:
        out = out + p[name + ".output.bias"][:, None]
    return out.mean(1) if a["combine"] == "mean" else out.sum(1)


def sublayer(m, p, norm_name, x, f):
    """x + f(norm(x)) or norm(x + f(x)); without residual the x falls away."""
    pre = m["norm"]["placement"] == "pre"
    y = f(norm(m, p, norm_name, x) if pre else x)
    y = x + y if m["residual"] else y
    return y if pre else norm(m, p, norm_name, y)


def layer(m, p, prefix, x, sources, bias, causal):
    """sources: per attention of the layer its memory, None for x itself."""
    n = 1
    for part, memory in zip(("attention", "cross_attention"), sources):
        x = sublayer(m, p, f"{prefix}norm{n}", x,
                     lambda y: attention(m, p, prefix + part, y, memory, bias, causal))
        n += 1
    if m["ffn"]["width"]:
        x = sublayer(m, p, f"{prefix}norm{n}", x, lambda y: ffn(m, p, prefix + "ffn", y))
    return x


def embed(m, p, tokens):
    """Tokens (B,T,D) to the residual stream (B,T,C): read-in and absolute positions."""
    x = linear(p, "read_in", tokens) if m["read_in"] == "linear" else tokens
    kind, length = m["positions"]["type"], tokens.shape[1]
    if kind == "learned":
        x = x + p["positions.weight"][:length]
    elif kind == "concatenated":
        x = torch.cat([x, p["positions.weight"][:length].expand(x.shape[0], -1, -1)], -1)
    elif kind == "sinusoidal":  # Vaswani et al.: sine at even coordinates, cosine at odd ones
        i = torch.arange(m["width"])
        angle = torch.arange(length)[:, None] / 10000.0 ** ((i - i % 2).double() / m["width"])
        x = x + torch.where(i % 2 == 0, angle.sin(), angle.cos())
    return x


def run_stack(m, p, stack, x, sources, apply=layer):
    causal = m["attention"]["mask"] == "causal" and stack != "encoder."  # an encoder sees its whole sequence
    bias = position_bias(m, p, stack, x.shape[1], causal)
    for i in range(m["layers"]):
        x = apply(m, p, f"{stack}layers.{0 if m['share_layers'] else i}.", x, sources, bias, causal)
    return norm(m, p, stack + "final_norm", x) if m["norm"]["final"] else x


def forward(m, p, tokens, query=None, apply=layer):
    """tokens (B,T,D), query (B,Q,D) for cross-attention; returns the output (B,T or Q,O)."""
    x = embed(m, p, tokens)
    if m["type"] == "encoder_decoder":
        memory = run_stack(m, p, "encoder.", x, [None], apply)
        x = run_stack(m, p, "decoder.", embed(m, p, query), [None, memory], apply)
    elif m["attention"]["kind"] == "cross":
        x = run_stack(m, p, "", embed(m, p, query), [x], apply)
    else:
        x = run_stack(m, p, "", x, [None], apply)
    return linear(p, "read_out", x) if m["read_out"] == "linear" else x[..., :m["output_dim"]]
