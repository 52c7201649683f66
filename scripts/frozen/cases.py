"""The cases that are frozen, one row each: name -> (task, model), over the small defaults below.

Sizes are unequal on purpose (width, heads, key size, value size, FFN, tokens, batch), so that a transposed or misplaced
axis cannot pass. `FROZEN` are in tests/data/torch.
"""
NEAREST = {"type": "nearest_neighbor", "dim": 7, "points": 6, "points_from": "sphere", "query": "self_farthest"}
SMALL = {**NEAREST, "dim": 5, "points": 5}
SEPARATE = {**NEAREST, "query": "separate", "queries": 4}
REGRESSION = {"type": "linear_regression", "dim": 3, "points": 5, "noise": 0}
BATCH = 3


def model(layers, width, norm, attention, ffn, **rest):
    """norm: (type, placement); ffn: (width, activation)."""
    rest = {"bias": True, "positions": {"type": "none"}, **rest}
    attention = {"type": "softmax", "copies": 1, "combine": "mean", "mask": "none", **attention}
    return {"type": "encoder", "layers": layers, "width": width, "norm": {"type": norm[0], "placement": norm[1]},
            "attention": attention, "ffn": {"width": ffn[0], "activation": ffn[1]}, **rest}


def sizes(heads, key_size, value_size, **rest):
    return {"heads": heads, "key_size": key_size, "value_size": value_size, **rest}


L2, RELU = ("l2", "post"), (11, "relu")
LINEAR = {"read_in": "linear", "read_out": "linear"}
GPT2 = {**LINEAR, "positions": {"type": "learned", "length": 12}}


def one(attention, task=SMALL, norm=L2, ffn=(6, "relu"), width=5, **rest):
    """One small layer, for a variant of the attention."""
    return task, model(1, width, norm, attention, ffn, **rest)


FROZEN = {
    "encoder_post_l2": (NEAREST, model(2, 7, L2, sizes(2, 3, 5, copies=3), RELU)),
    "encoder_post_l2_sum": (NEAREST, model(2, 7, L2, sizes(2, 3, 5, copies=3, combine="sum"), RELU)),
    "encoder_pre_l2": (NEAREST, model(2, 7, ("l2", "pre"), sizes(3, 2, 4), RELU)),
    "encoder_pre_layernorm": (SMALL, model(2, 6, ("layernorm", "pre"), sizes(3, 4, 2, mask="causal"), (9, "gelu_tanh"), **GPT2)),
    "post_layernorm": (NEAREST, model(2, 7, ("layernorm", "post"), sizes(2, 3, 5), RELU)),
    "larger_keys": (SMALL, model(1, 5, L2, sizes(2, 9, 3), (8, "gelu_tanh"))),
    "no_ffn": (NEAREST, model(2, 7, L2, sizes(2, 3, 5), (0, "relu"))),
    "no_bias": (NEAREST, model(2, 7, ("layernorm", "post"), sizes(2, 3, 5, copies=2), RELU, bias=False)),
    "no_norm": (SMALL, model(2, 5, ("none", "pre"), sizes(2, 3, 4), (8, "relu"))),
    "no_residual": (SMALL, model(2, 5, L2, sizes(2, 3, 4), (8, "gelu_tanh"), residual=False)),
    "slice": (SMALL, model(1, 8, L2, sizes(2, 3, 5), (9, "relu"), read_in="linear", read_out="slice")),
    "gpt2_regression": (REGRESSION, model(2, 8, ("layernorm", "pre"), sizes(2, 4, 4, mask="causal"), (32, "gelu_tanh"), **GPT2)),
    "mix_scores": one(sizes(3, 2, 4, mix_scores="fan_in", score_heads=2, value_heads=3, copies=2)),
    "mix_weights": one(sizes(2, 3, 2, mix_weights="fan_in", score_heads=2, value_heads=3)),
    "mix_both": one(sizes(4, 2, 3, mix_scores="fan_in", mix_weights="fan_in", score_heads=2, value_heads=3)),
    "mix_both_causal": one(sizes(4, 2, 3, mix_scores="fan_in", mix_weights="fan_in", score_heads=2, value_heads=3, mask="causal")),
    "grouped": one(sizes(6, 2, 3, kv_heads=2, copies=2)),
    "multi_query": one(sizes(3, 4, 2, kv_heads=1, mask="causal")),
    "linear": one(sizes(2, 3, 4, type="linear")),
    "linear_causal": one(sizes(2, 3, 4, type="linear", mask="causal")),
    "relu": one(sizes(2, 3, 4, type="relu", mask="causal")),
    "sigmoid": one(sizes(2, 3, 4, type="sigmoid", mask="causal")),
    "sigmoid_full": one(sizes(2, 3, 4, type="sigmoid")),
    "learned": one(sizes(2, 3, 4), positions={"type": "learned", "length": 7}),
    "value_full": one({"heads": 2, "key_size": 3, "value_map": "full"}),
    "score_full": one({"heads": 2, "score_map": "full", "value_size": 3}),
    "bilinear": one({"heads": 2, "score_map": "full", "value_map": "full"}),
    "scale_inv_key": one(sizes(2, 3, 4, scale="inv_key_size")),
    "scale_number": one(sizes(2, 3, 4, scale=0.7)),
    "scale_learned": one(sizes(2, 3, 4, scale="learned", copies=2)),
    "qk_l2": one(sizes(2, 3, 4, qk_norm="l2", scale=3.5)),
    "qk_rms": one(sizes(2, 3, 4, qk_norm="rms")),
    "cross": one(sizes(2, 3, 5, kind="cross"), task=SEPARATE, width=7),
    "encoder_decoder": (SEPARATE, {**model(2, 7, ("layernorm", "post"), sizes(2, 3, 5), RELU), "type": "encoder_decoder"}),
    "concatenated": one(sizes(2, 3, 4), width=8, positions={"type": "concatenated", "width": 3, "length": 6}),
    "sinusoidal": one(sizes(2, 3, 4), positions={"type": "sinusoidal"}),
    "rotary": one(sizes(2, 6, 4, copies=2), positions={"type": "rotary"}),
    "alibi": one(sizes(6, 2, 1), positions={"type": "alibi"}),
    "alibi_causal": one(sizes(4, 2, 1, mask="causal"), positions={"type": "alibi"}),
    "relative_bias": (dict(SMALL, points=40), model(2, 5, L2, sizes(2, 3, 2), (0, "relu"), positions={"type": "relative_bias"})),
    "relative_bias_causal": (dict(SMALL, points=40), model(
        1, 5, L2, sizes(3, 2, 1, mask="causal", mix_scores="fan_in", score_heads=2), (0, "relu"), positions={"type": "relative_bias"})),
    "rmsnorm": one(sizes(2, 3, 4), norm=("rmsnorm", "pre"), ffn=(6, "silu")),
    "gelu": one(sizes(2, 3, 4), ffn=(6, "gelu")),
    "silu": one(sizes(2, 3, 4), ffn=(6, "silu")),
    "swiglu": one(sizes(2, 3, 4), ffn=(6, "swiglu")),
    "shared": (SMALL, model(3, 5, ("layernorm", "post"), sizes(2, 3, 4), (6, "gelu"), share_layers=True)),
    "encoder_decoder_causal": (SEPARATE, {
        **model(1, 7, ("rmsnorm", "pre"), sizes(2, 4, 3, mask="causal", scale=1.0), (6, "relu"), bias=False,
                positions={"type": "relative_bias"}), "type": "encoder_decoder"}),
    "rotary_qk_rms_causal": one(sizes(3, 4, 2, qk_norm="rms", scale="learned", mask="causal", kv_heads=1),
                                positions={"type": "rotary"}),
    "bilinear_mixed": one({"heads": 3, "score_map": "full", "value_map": "full", "mix_scores": "fan_in", "mix_weights": "fan_in",
                           "score_heads": 2, "value_heads": 4, "copies": 2}),
    "attention_alone": one({"heads": 2, "key_size": 3, "value_map": "full", "kind": "cross"}, task=SEPARATE, norm=("none", "post"),
                           ffn=(0, "relu"), width=7, bias=False, residual=False),
}

# Frozen nowhere: sizes at which nn.TransformerEncoderLayer and nn.TransformerDecoderLayer exist, to hold plain.py against.
STANDARD = {
    "standard_post": (dict(NEAREST, dim=8), model(2, 8, ("layernorm", "post"), sizes(2, 4, 4), RELU)),
    "standard_l2": (dict(NEAREST, dim=8), model(2, 8, L2, sizes(4, 2, 2), RELU)),
    "standard_gpt2": (REGRESSION, model(2, 8, ("layernorm", "pre"), sizes(2, 4, 4, mask="causal"), (32, "gelu_tanh"), **GPT2)),
    "standard_no_bias": (dict(NEAREST, dim=8), model(1, 8, L2, sizes(2, 4, 4), (9, "gelu"), bias=False)),
    "standard_decoder": (dict(SEPARATE, dim=8), {
        **model(2, 8, ("layernorm", "post"), sizes(2, 4, 4), RELU), "type": "encoder_decoder"}),
}
