"""Random numbers of environments that users write. The random words are those of the crate `math`."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Sequence

_WORD = 0xFFFFFFFF
_PARITY = 0x1BD11BDA
_ROUNDS = 13
_TURNS = ((10, 26), (11, 21), (13, 27), (23, 5), (6, 20), (17, 11), (25, 10), (18, 20))
#: Random stream of these environments, separate from all other streams of the same seed.
_STREAM = 0x53435250
_UNIT = 2.0**-24


def threefry(key: Sequence[int], counter: Sequence[int]) -> list[int]:
    """Returns four random words of Threefry4x32 with 13 rounds (Salmon, Moraes, Dror, Shaw 2011)."""
    schedule = [*key, _PARITY ^ key[0] ^ key[1] ^ key[2] ^ key[3]]
    x = list(counter)
    for turn in range(_ROUNDS):
        if turn % 4 == 0:
            injected = turn // 4
            for i in range(4):
                x[i] = (x[i] + schedule[(injected + i) % 5]) & _WORD
            x[3] = (x[3] + injected) & _WORD
        # Even rounds mix words (0, 1) and (2, 3). Odd rounds mix words (0, 3) and (2, 1).
        partners = (1, 3) if turn % 2 == 0 else (3, 1)
        for i, k, by in zip((0, 2), partners, _TURNS[turn % 8]):
            x[i] = (x[i] + x[k]) & _WORD
            x[k] = ((x[k] << by | x[k] >> (32 - by)) & _WORD) ^ x[i]
    return x


def _f32(value: float) -> float:
    """Rounds to the nearest f32."""
    return struct.unpack("f", struct.pack("f", value))[0]


class Random:
    """Random numbers of an environment. They depend only on the seed, the number of the environment, the episode, the step, and the number
    of words that the same call has drawn before."""

    def __init__(self) -> None:
        self._key = [0, _STREAM, 0, 0]
        self._counter: list[int] = []
        self._drawn = 0
        self._block: list[int] = []
        #: Name of the running code, if it must not draw random numbers; otherwise empty.
        self.closed = "the top level of a file"

    def begin(self, seed: int, env: int, episode: int, step: int) -> None:
        """Selects the numbers of a call of `reset` (step 0) or `step`."""
        self._key[0] = seed
        self._counter = [env, episode, step]
        self._drawn = 0
        self.closed = ""

    def _word(self) -> int:
        if self.closed:
            raise RuntimeError(f"random numbers cannot be drawn in {self.closed}. Draw them in reset or step, and keep them as attributes of self")
        block, k = divmod(self._drawn, 4)
        if k == 0:
            self._block = threefry(self._key, [*self._counter, block])
        self._drawn += 1
        return self._block[k]

    def _unit(self) -> float:
        return (self._word() >> 8) * _UNIT

    def uniform(self, low: float, high: float) -> float:
        """Returns a random number from `low` to `high`."""
        unit, low, high = self._unit(), _f32(low), _f32(high)
        return _f32(low + _f32(_f32(high - low) * unit))

    def randint(self, low: int, high: int) -> int:
        """Returns a random integer from `low` to `high - 1`."""
        low, high = operator.index(low), operator.index(high)
        if low >= high:
            raise ValueError(f"randint({low}, {high}) has no number to choose, because {high} is excluded. Pass a larger `high`")
        return low + (self._word() * (high - low) >> 32)

    def normal(self, mean: float, deviation: float) -> float:
        """Returns a random number of a normal distribution (Box and Muller 1958)."""
        first, second = self._unit(), self._unit()
        # 1 - u is in (0, 1], where the logarithm is finite.
        radius = _f32(math.sqrt(_f32(-2.0 * _f32(math.log(1.0 - first)))))
        unit = _f32(radius * _f32(math.cos(_f32(_f32(math.tau) * second))))
        return _f32(_f32(unit * _f32(deviation)) + _f32(mean))
