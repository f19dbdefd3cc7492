"""Dropping tokens in float64: lists of tokens, one loop per index."""

from __future__ import annotations

import math

import numpy as np

from oracles import loops


def recent(sinks):
    """Rule: the first tokens and the newest."""

    def rank(head):
        return [math.inf if t["pos"] < sinks else t["pos"] for t in head]

    return {"rank": rank, "observe": lambda head, rows: None}


def h2o(newest):
    """Rule: most weight so far, and the newest."""

    def rank(head):
        last = len(head) - newest
        return [
            math.inf if place >= last else token["score"]
            for place, token in enumerate(head)
        ]

    def observe(head, rows):
        for row in rows:
            for token, weight in zip(head, row, strict=True):
                token["score"] += weight

    return {"rank": rank, "observe": observe}


def snapkv(window, pool):
    """Rule: votes of the last queries of a prompt, highest of neighbours."""

    def observe(head, rows):
        rows = rows[-window:]
        earlier = len(head) - len(rows)
        if len(rows) > 1:
            votes = [sum(row[j] for row in rows) for j in range(earlier)]
            for j in range(earlier):
                near = range(max(0, j - pool // 2), j + pool // 2 + 1)
                best = max(votes[n] for n in near if n < earlier)
                head[j]["score"] = best
        for token in head[earlier:]:
            token["score"] = math.inf

    def rank(head):
        return [token["score"] for token in head]

    return {"rank": rank, "observe": observe, "prompts_only": True}


def drop(head, budget, rank):
    """The tokens of a head that stay: highest rank, then the newest."""
    order = [(score, place) for place, score in enumerate(rank(head))]
    places = sorted(place for _, place in sorted(order)[-budget:])
    return [head[place] for place in places]


def weights_of(query, head, position, cap):
    """Softmax weights of one query over the tokens it may see."""
    scores = []
    for token in head:
        score = float(query @ token["k"]) / math.sqrt(len(query))
        if cap is not None:
            score = cap * math.tanh(score / cap)
        scores.append(score if token["pos"] <= position else -math.inf)
    top = max(scores)
    terms = [math.exp(score - top) for score in scores]
    return [term / math.fsum(terms) for term in terms]


def read(q, k, v, passes, *, budget, room, rule, theta, layout, cap=None):
    """Read tokens pass by pass; return outputs and the kept positions.

    q and k are not rotated. Tokens are dropped at the beginning of a pass.
    """
    kv_heads, group = k.shape[1], q.shape[1] // k.shape[1]
    everywhere = list(range(len(q)))
    q, k = (loops.rope(x, everywhere, theta, layout) for x in (q, k))
    heads = [[] for _ in range(kv_heads)]
    out, shown = np.zeros((*q.shape[:2], v.shape[2])), []
    start, due = 0, False
    for count in passes:
        full = len(heads[0]) + count > budget + room
        stop = start + count
        for index, head in enumerate(heads):
            if due or full:
                head[:] = drop(head, budget, rule["rank"])
            head += [
                {"pos": i, "k": k[i, index], "v": v[i, index], "score": 0.0}
                for i in range(start, stop)
            ]
            rows = []
            for i in range(start, stop):
                total = [0.0] * len(head)
                for h in range(index * group, (index + 1) * group):
                    weights = weights_of(q[i, h], head, i, cap)
                    for place, weight in enumerate(weights):
                        out[i, h] += weight * head[place]["v"]
                        total[place] += weight
                rows.append(total)
            rule["observe"](head, rows)
        due = count > 1 or not rule.get("prompts_only", False)
        shown.append([[token["pos"] for token in head] for head in heads])
        start = stop
    return out, shown
