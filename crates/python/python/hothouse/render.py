"""Images of environments. They are drawn from the environment's state with NumPy, as flat shapes with antialiased edges."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

WIDTH, HEIGHT = 600, 400

_PAPER = (250, 250, 247)
_INK = (46, 52, 60)
_FAINT = (196, 200, 204)
_WARM = (214, 122, 62)
_COOL = (64, 118, 164)
_GREEN = (74, 140, 90)
_NIGHT = (24, 28, 38)
_FLAME = (242, 178, 74)

Point = tuple[float, float]
Colour = tuple[int, int, int]


class Canvas:
    """A canvas. Points are in metres, and y points up. `scale` and `origin` convert points to pixels."""

    def __init__(self, scale: float, origin: Point, paper: Colour = _PAPER) -> None:
        self.pixels = np.empty((HEIGHT, WIDTH, 3), np.float32)
        self.pixels[:] = paper
        self.scale, self.origin = scale, origin

    def _place(self, point: Point) -> Point:
        return self.origin[0] + point[0] * self.scale, HEIGHT - self.origin[1] - point[1] * self.scale

    def _blend(self, left: float, top: float, right: float, bottom: float, colour: Colour, inside: Callable) -> None:
        """Draws a shape within a box. `inside` returns the distance of each pixel's centre from the edge, in pixels, positive inside."""
        x0, x1 = max(math.floor(left) - 1, 0), min(math.ceil(right) + 2, WIDTH)
        y0, y1 = max(math.floor(top) - 1, 0), min(math.ceil(bottom) + 2, HEIGHT)
        if x0 >= x1 or y0 >= y1:
            return
        y, x = np.mgrid[y0:y1, x0:x1].astype(np.float32) + 0.5
        share = np.clip(inside(x, y) + 0.5, 0, 1)[..., None]
        part = self.pixels[y0:y1, x0:x1]
        part += share * (np.asarray(colour, np.float32) - part)

    def polygon(self, points: Sequence[Point], colour: Colour) -> None:
        """Draws a convex polygon."""
        corners = [self._place(point) for point in points]
        area = sum(a[0] * b[1] - b[0] * a[1] for a, b in zip(corners, corners[1:] + corners[:1]))
        if area < 0:
            corners.reverse()

        def inside(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            least = np.full(x.shape, np.inf, np.float32)
            for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]):
                length = math.hypot(bx - ax, by - ay)
                if length > 0:
                    np.minimum(least, ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / length, out=least)
            return least

        xs, ys = zip(*corners)
        self._blend(min(xs), min(ys), max(xs), max(ys), colour, inside)

    def disc(self, middle: Point, radius: float, colour: Colour) -> None:
        (x0, y0), r = self._place(middle), radius * self.scale
        self._blend(x0 - r, y0 - r, x0 + r, y0 + r, colour, lambda x, y: r - np.hypot(x - x0, y - y0))

    def line(self, a: Point, b: Point, width: float, colour: Colour) -> None:
        """Draws a line with round ends; `width` is in pixels."""
        (ax, ay), (bx, by), r = self._place(a), self._place(b), width / 2
        dx, dy = bx - ax, by - ay
        square = dx * dx + dy * dy or 1.0

        def inside(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            along = np.clip(((x - ax) * dx + (y - ay) * dy) / square, 0, 1)
            return r - np.hypot(x - ax - along * dx, y - ay - along * dy)

        self._blend(min(ax, bx) - r, min(ay, by) - r, max(ax, bx) + r, max(ay, by) + r, colour, inside)

    def path(self, points: Sequence[Point], width: float, colour: Colour) -> None:
        for a, b in zip(points, points[1:]):
            self.line(a, b, width, colour)

    def below(self, heights: np.ndarray, colour: Colour) -> None:
        """Fills the area below a curve, with one height per pixel column."""
        tops = HEIGHT - self.origin[1] - heights * self.scale
        share = np.clip(np.arange(HEIGHT)[:, None] + 0.5 - tops[None] + 0.5, 0, 1)[..., None].astype(np.float32)
        self.pixels += share * (np.asarray(colour, np.float32) - self.pixels)

    def columns(self) -> np.ndarray:
        """x of the centre of each pixel column, in metres."""
        return (np.arange(WIDTH) + 0.5 - self.origin[0]) / self.scale

    def bytes(self) -> np.ndarray:
        return np.rint(self.pixels).astype(np.uint8)


def _turned(points: Sequence[Point], angle: float, at: Point) -> list[Point]:
    cos, sin = math.cos(angle), math.sin(angle)
    return [(at[0] + x * cos - y * sin, at[1] + x * sin + y * cos) for x, y in points]


def _box(left: float, bottom: float, right: float, top: float) -> list[Point]:
    return [(left, bottom), (right, bottom), (right, top), (left, top)]


def _cart_pole(state: np.ndarray, action: float | None) -> Canvas:
    x, _, angle, _ = map(float, state)
    canvas = Canvas(WIDTH / 5.2, (WIDTH / 2, 110))
    canvas.line((-9, 0), (9, 0), 2, _FAINT)
    for end in (-2.4, 2.4):
        canvas.line((end, -0.08), (end, 0.08), 3, _WARM)
    canvas.polygon(_box(x - 0.2, -0.12, x + 0.2, 0.12), _INK)
    if action is not None:
        side = 1 if action == 1 else -1
        canvas.polygon([(x + side * 0.26, -0.06), (x + side * 0.38, 0), (x + side * 0.26, 0.06)], _COOL)
    # The pole is 1 m long. With a positive angle, it leans to the right.
    canvas.line((x, 0.06), (x + math.sin(angle), 0.06 + math.cos(angle)), 9, _WARM)
    canvas.disc((x, 0.06), 0.04, _FAINT)
    return canvas


def _mountain_car(state: np.ndarray, action: float | None, flag: float) -> Canvas:
    x = float(state[0])
    canvas = Canvas(WIDTH / 1.8, (1.2 / 1.8 * WIDTH, 70))

    def height(at: float | np.ndarray) -> float | np.ndarray:
        return (np.sin(3 * at) * 0.45 + 0.55) * 0.62

    canvas.below(height(canvas.columns()), (214, 220, 214))
    foot = float(height(flag))
    canvas.line((flag, foot), (flag, foot + 0.16), 2, _INK)
    canvas.polygon([(flag, foot + 0.16), (flag, foot + 0.1), (flag + 0.07, foot + 0.13)], _GREEN)
    lean = math.atan(3 * 0.45 * 0.62 * math.cos(3 * x))
    at = (x, float(height(x)))
    canvas.polygon(_turned(_box(-0.06, 0.025, 0.06, 0.07), lean, at), _COOL)
    for wheel in _turned([(-0.035, 0.02), (0.035, 0.02)], lean, at):
        canvas.disc(wheel, 0.02, _INK)
    if action:
        side = math.copysign(1, action)
        arrow = [(side * 0.075, 0.03), (side * 0.075, 0.065), (side * (0.08 + 0.04 * min(abs(action), 1)), 0.0475)]
        canvas.polygon(_turned(arrow, lean, at), _WARM)
    return canvas


def _pendulum(state: np.ndarray, action: float | None) -> Canvas:
    angle = float(state[0])
    canvas = Canvas(150, (WIDTH / 2, HEIGHT / 2))
    # Angle 0 is upright. Positive angles are to the left.
    canvas.line((0, 0), (-math.sin(angle), math.cos(angle)), 26, _WARM)
    canvas.disc((0, 0), 0.05, _INK)
    if action:
        torque = max(-2.0, min(2.0, float(action)))
        turn = np.linspace(0, torque / 2 * 1.2 * math.pi, 24)
        canvas.path([(0.32 * math.cos(a), 0.32 * math.sin(a)) for a in turn], 3, _COOL)
        end, side = float(turn[-1]), math.copysign(1, torque)
        tip = [(0.32, side * 0.09), (0.27, 0), (0.37, 0)]
        canvas.polygon(_turned(tip, end, (0, 0)), _COOL)
    return canvas


def _acrobot(state: np.ndarray, action: float | None) -> Canvas:
    first, second = float(state[0]), float(state[1])
    canvas = Canvas(HEIGHT / 4.6, (WIDTH / 2, HEIGHT / 2))
    canvas.line((-9, 1), (9, 1), 2, _FAINT)
    # The first angle is 0 if the first link hangs down. The second angle is relative to the first link.
    elbow = (math.sin(first), -math.cos(first))
    hand = (elbow[0] + math.sin(first + second), elbow[1] - math.cos(first + second))
    canvas.line((0, 0), elbow, 15, _COOL)
    canvas.line(elbow, hand, 15, _WARM)
    canvas.disc((0, 0), 0.07, _INK)
    canvas.disc(elbow, 0.09 if action else 0.07, _GREEN if action else _INK)
    return canvas


_HULL = [(17, -10), (17, 0), (14, 17), (-14, 17), (-17, 0), (-17, -10)]
_LEG = [(-2, -8), (2, -8), (2, 8), (-2, 8)]
#: Index of the first engine value and of the first ground height in a lander's state, and number of ground points.
_ENGINES, _GROUND, _BENDS = 30, 32, 11
#: Height of the hull's centre above the origin of its outline, in units of 1/30 m. The centre is the hull's position in the state.
_HULL_CENTRE_Y = 3.035398230088496


def _lunar_lander(state: np.ndarray, _: float | None) -> Canvas:
    canvas = Canvas(WIDTH / 20, (0, 0), _NIGHT)
    for i in range(40):
        canvas.disc(((i * 7.31) % 20, (i * 4.17) % 13.3), 0.02 + 0.015 * (i % 3), (150, 156, 170))
    ground = np.asarray(state[_GROUND : _GROUND + _BENDS], np.float64)
    bends = np.linspace(0, 20, _BENDS)
    canvas.below(np.interp(canvas.columns(), bends, ground), (206, 208, 204))
    for flag in (bends[_BENDS // 2 - 1], bends[_BENDS // 2 + 1]):
        foot = float(ground[_BENDS // 2])
        canvas.line((flag, foot), (flag, foot + 1.6), 2, _FAINT)
        canvas.polygon([(flag, foot + 1.6), (flag, foot + 1.0), (flag + 0.8, foot + 1.3)], _FLAME)
    x, y, angle = map(float, state[:3])
    main, side = map(float, state[_ENGINES : _ENGINES + 2])
    outline = [(px / 30, (py - _HULL_CENTRE_Y) / 30) for px, py in _HULL]
    if main:
        canvas.polygon(_turned([(-0.25, -0.4), (0.25, -0.4), (0, -1.3)], angle, (x, y)), _FLAME)
    if side:
        canvas.polygon(_turned([(side * 0.55, 0.2), (side * 0.55, 0.4), (side * 1.0, 0.3)], angle, (x, y)), _FLAME)
    for leg in (6, 12):
        leg_x, leg_y, leg_angle = map(float, state[leg : leg + 3])
        canvas.polygon(_turned([(px / 30, py / 30) for px, py in _LEG], leg_angle, (leg_x, leg_y)), (120, 112, 190))
    canvas.polygon(_turned(outline, angle, (x, y)), (150, 140, 220))
    return canvas


def draw(id: str, state: np.ndarray, action: float | None = None) -> np.ndarray:
    """Image of an environment's state and last action, as an array `(400, 600, 3)` of bytes."""
    if id == "CartPole-v1":
        canvas = _cart_pole(state, action)
    elif id == "MountainCar-v0":
        canvas = _mountain_car(state, None if action is None else action - 1, 0.5)
    elif id == "MountainCarContinuous-v0":
        canvas = _mountain_car(state, action, 0.45)
    elif id == "Pendulum-v1":
        canvas = _pendulum(state, action)
    elif id == "Acrobot-v1":
        canvas = _acrobot(state, None if action is None else action - 1)
    elif id == "LunarLander-v3":
        canvas = _lunar_lander(state, action)
    else:
        raise ValueError(f"{id} cannot be rendered")
    return canvas.bytes()
