"""A rocket that lands on a pad, upright and slowly. First, change `gravity`: the engine's largest thrust is 2.

The actions are the engine, from off (-1) to full (1), and the turn to the left or to the right.
"""

gravity = 1.0
thrust = 2.0
seconds = 0.1
pad = 1.0  # half of the pad's width
top = 12.0


class World:
    actions = Box(2, -1.0, 1.0)
    limit = 300
    solved = 12.0
    keys = {"ArrowUp": [1.0, 0.0], "ArrowLeft": [0.0, -1.0], "ArrowRight": [0.0, 1.0], "": [-1.0, 0.0]}
    size = (12.0, 12.5)

    def reset(self):
        self.x, self.y = uniform(-3.0, 3.0), 9.0
        self.dx, self.dy = uniform(-0.5, 0.5), -1.0
        self.angle = uniform(-0.2, 0.2)
        self.spin = 0.0
        self.engine = 0.0

    def danger(self):
        """Distance, speed and tilt. Rewards are its decrease."""
        distance = sqrt(self.x * self.x + self.y * self.y)
        return 0.5 * distance + 0.5 * sqrt(self.dx * self.dx + self.dy * self.dy) + abs(self.angle)

    def step(self, action):
        before = self.danger()
        self.engine = (action[0] + 1.0) / 2.0
        self.spin = 0.95 * self.spin + 2.0 * seconds * action[1]
        self.angle += seconds * self.spin
        self.dx += seconds * thrust * self.engine * sin(self.angle)
        self.dy += seconds * (thrust * self.engine * cos(self.angle) - gravity)
        self.x += seconds * self.dx
        self.y += seconds * self.dy
        gained = before - self.danger()
        if self.y <= 0.0:
            soft = abs(self.dx) < 0.6 and self.dy > -1.0 and abs(self.angle) < 0.3
            return gained + (10.0 if soft and abs(self.x) <= pad else -5.0), True
        if abs(self.x) > 6.0 or self.y > top or abs(self.angle) > 2.0:
            return -10.0, True
        return gained, False

    def observe(self):
        return [self.x / 5.0, self.y / 6.0 - 1.0, self.dx / 2.0, self.dy / 2.0, self.angle, self.spin]

    def draw(self):
        rect(0, 0, 12, 12.5, "darkblue")
        for i in range(24):
            circle(i * 7.31 % 12.0, i * i * 1.37 % 11.0, 0.04, "lightgray")
        rect(0, top, 12, 0.5, "gray")
        rect(6.0 - pad, top, 2.0 * pad, 0.15, "yellow")
        c, s = cos(self.angle), sin(self.angle)
        x, y = self.x + 6.0 + 0.6 * s, top - self.y - 0.6 * c
        flame = 0.6 + self.engine
        if self.engine > 0.05:
            polygon([x - 0.15 * c - 0.55 * s, y - 0.15 * s + 0.55 * c,
                     x + 0.15 * c - 0.55 * s, y + 0.15 * s + 0.55 * c, x - flame * s, y + flame * c], "orange")
        polygon([x - 0.4 * c - 0.6 * s, y - 0.4 * s + 0.6 * c, x + 0.4 * c - 0.6 * s, y + 0.4 * s + 0.6 * c, x, y], "red")
        polygon([x - 0.2 * c - 0.5 * s, y - 0.2 * s + 0.5 * c, x + 0.2 * c - 0.5 * s, y + 0.2 * s + 0.5 * c,
                 x + 0.2 * c + 0.4 * s, y + 0.2 * s - 0.4 * c, x + 0.9 * s, y - 0.9 * c,
                 x - 0.2 * c + 0.4 * s, y - 0.2 * s - 0.4 * c], "white")
        circle(x + 0.25 * s, y - 0.25 * c, 0.12, "blue")
