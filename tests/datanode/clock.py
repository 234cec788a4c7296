# SPDX-License-Identifier: Apache-2.0
"""Times as nanoseconds since the epoch, and their ISO 8601 text."""
import datetime
import math

MILLISECOND = 1_000_000
SECOND = 1_000_000_000
MINUTE = 60 * SECOND
DAY = 86_400 * SECOND


def from_iso(text):
    """Nanoseconds of an ISO 8601 time; without a zone it is UTC."""
    moment = datetime.datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=datetime.timezone.utc)
    return math.floor(moment.timestamp()) * SECOND + moment.microsecond * 1000


def to_iso(nanos):
    """ISO 8601 in UTC, to the second."""
    return datetime.datetime.fromtimestamp(nanos // SECOND, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
