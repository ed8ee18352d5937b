# SPDX-License-Identifier: MPL-2.0
"""Faults of a stack: a process is killed, stopped, or cut off. Each fault can be undone."""

import random

from support.chaos_stack import KINDS, LEASE
from support.proxy import FAULTS

ACTIONS = ("kill", "stop", *FAULTS)


class Fault:
    """A fault of one process of a kind. `seconds`: its duration."""

    def __init__(self, stack, action, part, proxies, seconds):
        self.stack = stack
        self.action = action
        self.part = part
        self.proxies = proxies  # the proxies {(from, to): Proxy} that have `part` at one end
        self.seconds = seconds

    @property
    def name(self):
        """Its row in a summary."""
        return f"{self.action} {self.part.kind}" if self.action in ("kill", "stop") else f"{self.action} {'-'.join(self.endpoints())}"

    def endpoints(self):
        who, to = next(iter(self.proxies))
        return who.rpartition("-")[0], to

    def __str__(self):
        where = self.part.name if not self.proxies else " and ".join(f"{who} > {to}" for who, to in self.proxies)
        return f"{self.action} {where} for {self.seconds:.1f} s"

    def begin(self):
        if self.action == "kill":
            self.part.kill()
        elif self.action == "stop":
            self.part.stop()
        for proxy in self.proxies.values():
            proxy.break_as(self.action)

    def end(self):
        if self.action == "kill":
            self.part.start()
        elif self.action == "stop":
            self.part.resume()
        for proxy in self.proxies.values():
            proxy.heal()


def connections_of(stack, part):
    """The connections of a process, by their other ends: {("worker", "scheduler"): {("worker-1", "scheduler"):
    Proxy}}."""
    found = {}
    for (who, to), proxy in stack.proxies.items():
        if part.name in (who, to):
            found.setdefault((who.rpartition("-")[0], to), {})[who, to] = proxy
    return found


def pick(stack, seed, kinds=KINDS, actions=ACTIONS):
    """A random fault, the same for the same seed. Processes with connections are killed, stopped and cut off with
    equal probability."""
    rng = random.Random(seed)
    part = rng.choice([part for part in stack.parts if part.kind in kinds])
    links = connections_of(stack, part)
    network_actions = [action for action in actions if action in FAULTS] if links else []
    choices = [action for action in actions if action not in FAULTS] + ([rng.choice(network_actions)] if network_actions else [])
    action = rng.choice(choices or ["kill"])
    proxies = links[rng.choice(sorted(links))] if action in FAULTS else {}
    # A killed process is restarted at once, or after its leases are over. All other faults last longer than the leases.
    seconds = rng.choice([0, LEASE * 1.5]) if action == "kill" else LEASE * rng.uniform(1.3, 2)
    return Fault(stack, action, part, proxies, seconds)
