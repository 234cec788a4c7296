# SPDX-License-Identifier: Apache-2.0
"""How long the turns of the executors' loops were, of their threads' own time."""
import collections


def turns_text(liaison):
    """The longest one, and how many there were up to each bound of the histogram."""
    upto = collections.Counter()
    for (name, labels), value in liaison.metrics().items():
        if name == "bydb_turn_seconds_bucket":
            upto[float(dict(labels)["le"])] += value
    before, told = 0, []
    for bound, value in sorted(upto.items()):
        if value > before:
            told.append(f"{value - before:.0f} up to {bound * 1000:g} ms")
        before = value
    return f"longest turn {liaison.metric('bydb_turn_max_seconds') * 1000:.1f} ms; turns: {', '.join(told)}"
