"""Pictures of environments that users write, drawn with NumPy. The point (0, 0) is the upper left corner, and y points down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from . import _native

#: Maximum width and height of a picture, in pixels.
_WIDTH, _HEIGHT = 600, 400
#: Shapes are drawn at this multiple of the resolution and then averaged, so that edges are smooth.
_FINE = 2
#: Width of a line, as a share of the smaller side of the picture.
_LINE = 0.01
#: Height of a text, as a share of the picture's height.
_TEXT = 0.06

_PAPER = (250, 250, 247)
#: Colours by name: red, green and blue.
PALETTE = _native.colours()

#: Characters of three columns and five rows. Each octal digit gives the pixels of one row. Rows are ordered from top to bottom.
_FONT = {
    **dict(zip("0123456789", "75557 26227 71747 71717 55711 74717 74757 71122 75757 75717".split())),
    **dict(zip("ABCDEFGHI", "25755 65656 34443 65556 74647 74644 34553 55755 72227".split())),
    **dict(zip("JKLMNOPQR", "11152 55655 44447 57755 65555 25552 65644 25563 65655".split())),
    **dict(zip("STUVWXYZ", "34216 72222 55557 55552 55775 55255 55222 71247".split())),
    **dict(zip(" .,:!?-+/", "00000 00002 00024 02020 22202 71202 00700 02720 11244".split())),
    **dict(zip("%()='_*<>", "51245 12221 42224 07070 22000 00007 05250 12421 42124".split())),
}
_UNKNOWN = "77777"


def _colour(name: Any) -> tuple[int, int, int]:
    if name not in PALETTE:
        raise ValueError(f"{name!r} is not a colour. Choose one of: {', '.join(PALETTE)}")
    return PALETTE[name]


def _numbers(*values: Any) -> list[float]:
    numbers = [float(value) for value in values]
    if not all(map(math.isfinite, numbers)):
        raise ValueError(f"a shape has a number that is not finite: {', '.join(map(str, numbers))}")
    return numbers


class Picture:
    """A picture. `size` is its width and height in the environment's units."""

    def __init__(self, size: Sequence[float]) -> None:
        width, height = size
        scale = min(_WIDTH / width, _HEIGHT / height)
        self.width, self.height = width, height
        self.shape = (max(round(height * scale), 1), max(round(width * scale), 1))
        self._scale = scale * _FINE
        self._pixels = np.empty((self.shape[0] * _FINE, self.shape[1] * _FINE, 3), np.uint8)
        self._pixels[:] = _PAPER

    def _fill(self, box: Sequence[float], colour: Any, inside: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> None:
        """Colours the pixels of a box (left, top, right, bottom) whose centres are inside a shape."""
        rows, columns = self._pixels.shape[:2]
        left, top, right, bottom = (number * self._scale for number in box)
        x0, x1 = max(math.floor(left), 0), min(math.ceil(right), columns)
        y0, y1 = max(math.floor(top), 0), min(math.ceil(bottom), rows)
        rgb = _colour(colour)
        if x0 < x1 and y0 < y1:
            y, x = (np.mgrid[y0:y1, x0:x1] + 0.5) / self._scale
            self._pixels[y0:y1, x0:x1][inside(x, y)] = rgb

    def rect(self, x: float, y: float, w: float, h: float, colour: str) -> None:
        """Fills a rectangle. (x, y) is its upper left corner."""
        x, y, w, h = _numbers(x, y, w, h)
        self.polygon([x, y, x + w, y, x + w, y + h, x, y + h], colour)

    def circle(self, x: float, y: float, r: float, colour: str) -> None:
        """Fills a circle. (x, y) is its centre."""
        x, y, r = _numbers(x, y, r)
        self._fill((x - r, y - r, x + r, y + r), colour, lambda px, py: (px - x) ** 2 + (py - y) ** 2 <= r * r)

    def line(self, x1: float, y1: float, x2: float, y2: float, colour: str) -> None:
        """Draws a line."""
        x1, y1, x2, y2 = _numbers(x1, y1, x2, y2)
        half = min(self.width, self.height) * _LINE / 2
        length = math.hypot(x2 - x1, y2 - y1) or 1.0
        dx, dy = half * (x2 - x1) / length, half * (y2 - y1) / length
        self.polygon([x1 - dy, y1 + dx, x2 - dy, y2 + dx, x2 + dy, y2 - dx, x1 + dy, y1 - dx], colour)

    def polygon(self, points: Sequence[float], colour: str) -> None:
        """Fills a polygon. `points` contains the numbers x, y of the first corner, x, y of the second corner, and so on."""
        numbers = _numbers(*points)
        if len(numbers) < 6 or len(numbers) % 2:
            raise ValueError(f"a polygon has x and y of at least three corners, but the list has {len(numbers)} numbers")
        xs, ys = numbers[::2], numbers[1::2]
        corners = list(zip(xs, ys))

        def inside(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            odd = np.zeros(x.shape, bool)
            for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]):
                if ay != by:
                    odd ^= ((ay > y) != (by > y)) & (x < ax + (y - ay) * ((bx - ax) / (by - ay)))
            return odd

        self._fill((min(xs), min(ys), max(xs), max(ys)), colour, inside)

    def text(self, x: float, y: float, what: Any, colour: str) -> None:
        """Writes a text or a number, with its middle at (x, y). Numbers have at most two decimals."""
        x, y = _numbers(x, y)
        if not isinstance(what, str):
            [number] = _numbers(what)
            what = f"{number:.2f}".rstrip("0").rstrip(".")
        dot = self.height * _TEXT / 5
        left, top = x - dot * (4 * len(what) - 1) / 2, y - dot * 2.5
        for i, character in enumerate(what.upper()):
            for row, bits in enumerate(_FONT.get(character, _UNKNOWN)):
                for column in range(3):
                    if int(bits) >> (2 - column) & 1:
                        self.rect(left + dot * (4 * i + column), top + dot * row, dot, dot, colour)

    def bytes(self) -> np.ndarray:
        """Returns the picture as an array (height, width, 3)."""
        height, width = self.shape
        fine = self._pixels.reshape(height, _FINE, width, _FINE, 3)
        return np.rint(fine.mean((1, 3), np.float32)).astype(np.uint8)


def painted(size: Sequence[float], shapes: Iterable[tuple[str, list[float], str | None, str]]) -> np.ndarray:
    """Draws shapes. Returns the picture as an array (height, width, 3)."""
    picture = Picture(size)
    for kind, numbers, what, colour in shapes:
        if kind == "polygon":
            picture.polygon(numbers, colour)
        elif what is not None:
            picture.text(*numbers, what, colour)
        else:
            getattr(picture, kind)(*numbers, colour)
    return picture.bytes()
