# SPDX-License-Identifier: Apache-2.0
"""Misbehaviour on request: what a node does to its answers while a test wants it to."""


class Fault:
    def before(self, node, context):
        pass

    def after(self, response):
        yield response


class Faults:
    def take(self, topic, group):
        return Fault()
