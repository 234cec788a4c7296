# SPDX-License-Identifier: Apache-2.0
"""grpc.health.v1 of both ports of a node. Credentials in the metadata are accepted, whatever they are."""
import threading

from messages import health
from rpc import services

UNKNOWN, SERVING, NOT_SERVING = 0, 1, 2
STATES = {"SERVING": SERVING, "NOT_SERVING": NOT_SERVING, "UNKNOWN": UNKNOWN}


class Health:
    """`state` is what Check answers; "HANG" leaves calls without an answer."""

    def __init__(self):
        self.state = "SERVING"

    def handlers(self):
        return services({"grpc.health.v1.Health": {"Check": ("unary_unary", self.check, health.HealthCheckRequest)}})

    def check(self, _request, context):
        if self.state == "HANG":
            ended = threading.Event()
            if context.add_callback(ended.set):
                ended.wait()
        return health.HealthCheckResponse(status=STATES.get(self.state, UNKNOWN))
