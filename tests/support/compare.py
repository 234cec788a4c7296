# SPDX-License-Identifier: Apache-2.0
"""Compares data points and says in words where they differ."""
import collections

from proto import as_dict, message


def encoded(point):
    """Equal bytes = equal data point; NaN equals itself."""
    return point.SerializeToString(deterministic=True)


def without(point, *fields):
    """A copy of the data point that lacks these fields."""
    copy = message("measure.v1.DataPoint")
    copy.CopyFrom(point)
    for field in fields:
        copy.ClearField(field)
    return copy


def show(point):
    """One line for a data point."""
    found = as_dict(point)
    parts = [f"{key}={found[key]}" for key in ("timestamp", "sid", "version") if key in found]
    for family in found.get("tag_families", ()):
        parts += [f"{family['name']}.{tag['key']}={_show_value(tag['value'])}" for tag in family.get("tags", ())]
    parts += [f"{field['name']}={_show_value(field.get('value'))}" for field in found.get("fields", ())]
    return " ".join(parts)


def _show_value(value):
    if not value:
        return "(unset)"
    kind, content = next(iter(value.items()))
    return f"{kind}:{content.get('value') if isinstance(content, dict) else content}"


def same_list(got, wanted, heading=""):
    """AssertionError unless the same points come in the same order."""
    for at, (mine, theirs) in enumerate(zip(got, wanted)):
        assert encoded(mine) == encoded(theirs), (
            f"{heading}row {at} of {len(wanted)}\nwanted {show(theirs)}\ngot    {show(mine)}\n{listing(got, wanted)}")
    assert len(got) == len(wanted), f"{heading}{len(got)} rows instead of {len(wanted)}\n{listing(got, wanted)}"


def same_set(got, wanted, heading=""):
    """AssertionError unless the same points come, in whatever order."""
    mine, theirs = (collections.Counter(map(encoded, points)) for points in (got, wanted))
    if mine == theirs:
        return
    lines = [f"{heading}{len(got)} rows for {len(wanted)}"]
    lines += [f"lacks    {show(point)}" for point in wanted if encoded(point) in theirs - mine]
    lines += [f"too many {show(point)}" for point in got if encoded(point) in mine - theirs]
    raise AssertionError("\n".join(lines[:40]))


def listing(got, wanted, most=12):
    lines = ["wanted:"] + [f"  {show(point)}" for point in wanted[:most]]
    return "\n".join(lines + ["got:"] + [f"  {show(point)}" for point in got[:most]])
