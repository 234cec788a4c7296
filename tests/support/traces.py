# SPDX-License-Identifier: Apache-2.0
"""Traces of queries as lines of names and tags, to be compared with those of the Go liaison."""
import re

# Tags that only we give, and those whose values tell of the moment or of what nodes are asked.
MORE_TAGS = {"peak_charge_bytes"}
OPEN_TAGS = {"frame_bytes_total", "broadcast_timeout_ms"}


def words(text):
    """White space of debug texts is not fixed."""
    return " ".join(text.split())


def tree_of(trace, nodes=True):
    """The lines. A node's own spans, and its name, differ from run to run; `nodes`: whether it is shown at all."""
    lines = []

    def read(span, depth):
        indent, name = "  " * depth, re.sub(r"-(\S+):\d+$", "", span.message)
        if is_of_node(span) and not nodes:
            return
        lines.append(f"{indent}{name}{' failed' if span.error else ''}")
        if not is_of_node(span):
            lines.extend(f"{indent}- {tag.key}: {'' if tag.key in OPEN_TAGS else words(tag.value)}"
                         for tag in span.tags if tag.key not in MORE_TAGS)
            for child in span.children:
                read(child, depth + 1)
    for root in trace.spans:
        read(root, 0)
    return lines


def is_of_node(span):
    return span.message.startswith("data-")


def spans_of(trace):
    """All of them, parents first."""
    found = list(trace.spans)
    for span in found:
        found.extend(span.children)
    return found


def tags_of(span):
    return {tag.key: tag.value for tag in span.tags}
