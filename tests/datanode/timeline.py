# SPDX-License-Identifier: Apache-2.0
"""More rows than a table in memory can hold: made when they are asked for, and only those of the time range.

Row i of a node lies at begin + i × step (step 0: all at one moment), from row `turn` on with another step; it belongs to
series i modulo `series`, and has the value i × 7 modulo 1000. Tags are strings that tell their series, or `tag` in all
rows. What a request asks for besides its range and columns is not looked at.
"""
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass

from answers import encode
from frame import INT64, ROLE_FIELD, ROLE_SERIES, ROLE_SHARD, ROLE_TAG, ROLE_TIMESTAMP, ROLE_VERSION, STRING
from frame import Column, Frame
from messages import measure, nanoseconds
from spans import Tracer


@dataclass(frozen=True)
class Timeline:
    rows: int
    begin: int              # ns since the epoch
    step: int = 1_000_000   # ns from one row to the next
    turn: int | None = None
    later_step: int = 1_000     # ns from one row to the next, from row `turn` on
    series: int = 100
    first_series: int = 0   # nodes with the same series hold copies of each other's rows
    tag: str = None         # of all rows: a column that is sent once by wire version 4
    trace_bytes: int = 0    # of a traced answer, besides what its trace has anyway

    def answer(self, node, body):
        """The body of an answer to an InternalQueryRequest."""
        encoded = encode(self._frame(body.request), node.frame_version, node.constants)
        if not body.request.trace:
            return encoded
        padding = {"padding": "x" * self.trace_bytes} if self.trace_bytes else {}
        trace = Tracer(f"data-{node.name}", **padding).finish()
        return measure.InternalQueryResponse(trace=trace, raw_frame_body=encoded).SerializeToString()

    def _numbers(self, time_range):
        """Of the rows in range, both ends included."""
        first = bisect_left(range(self.rows), nanoseconds(time_range.begin), key=self._moment)
        last = bisect_right(range(self.rows), nanoseconds(time_range.end), key=self._moment)
        return range(first, max(first, last))

    def _moment(self, number):
        later = 0 if self.turn is None else max(0, number - self.turn)
        return self.begin + (number - later) * self.step + later * self.later_step

    def _tags(self, name, series):
        if self.tag is not None:
            return [self.tag] * len(series)
        return [f"{name}-{number}" for number in series]

    def _frame(self, request):
        numbers = self._numbers(request.time_range)
        series = [self.first_series + number % self.series for number in numbers]
        columns = [Column(ROLE_TIMESTAMP, INT64, cells=array("q", map(self._moment, numbers))),
                   Column(ROLE_VERSION, INT64, cells=[1] * len(numbers)),
                   Column(ROLE_SERIES, INT64, cells=array("q", series)),
                   Column(ROLE_SHARD, INT64, cells=[0] * len(numbers))]
        for family in request.tag_projection.tag_families:
            for tag in family.tags:
                columns.append(Column(ROLE_TAG, STRING, tag, family.name, self._tags(tag, series)))
        for name in request.field_projection.names:
            columns.append(Column(ROLE_FIELD, INT64, name, cells=array("q", [i * 7 % 1000 for i in numbers])))
        return Frame(len(numbers), columns)
