"""A car on a closed track: drive as many laps as possible without leaving the road. First, change `half_width` of the road.

The wheel turns the car by the same angle at any speed, so that sharp bends need the brake. A lap has a reward of 10.
"""

half_width = 0.8
top_speed = 0.5
steering = 0.12  # largest turn of a step, in rad


def radius(angle):
    """Distance of the road's middle from the centre of the map."""
    return 4.2 + 0.6 * sin(2.0 * angle) + 0.5 * cos(3.0 * angle)


class World:
    actions = Box(2, -1.0, 1.0)  # wheel and pedal
    limit = 400
    solved = 35.0
    keys = {"ArrowUp": [0.0, 1.0], "ArrowDown": [0.0, -1.0], "ArrowLeft": [-1.0, 0.0], "ArrowRight": [1.0, 0.0], "": [0.0, 0.0]}
    size = (12.0, 12.0)

    def reset(self):
        angle = uniform(-pi, pi)
        self.x, self.y = radius(angle) * cos(angle), radius(angle) * sin(angle)
        self.heading = angle + pi / 2
        self.speed = 0.1

    def step(self, action):
        self.heading += steering * action[0]
        self.speed = clip(self.speed + 0.01 * action[1], 0.0, top_speed)
        dx, dy = self.speed * cos(self.heading), self.speed * sin(self.heading)
        turned = (self.x * dy - self.y * dx) / (self.x * self.x + self.y * self.y)
        self.x += dx
        self.y += dy
        away = sqrt(self.x * self.x + self.y * self.y) - radius(atan2(self.y, self.x))
        return 10.0 * turned / tau, abs(away) > half_width

    def observe(self):
        angle = atan2(self.y, self.x)
        here = radius(angle)
        away = sqrt(self.x * self.x + self.y * self.y) - here
        lean = self.heading - angle
        return [away / half_width, self.speed / top_speed, sin(lean), cos(lean)] + [radius(angle + 0.2 * (i + 1)) - here for i in range(4)]

    def draw(self):
        rect(0, 0, 12, 12, "lightgreen")
        for i in range(60):
            a, b = tau * i / 60, tau * (i + 1.1) / 60
            far_a, far_b = radius(a) + half_width, radius(b) + half_width
            near_a, near_b = radius(a) - half_width, radius(b) - half_width
            polygon([6.0 + far_a * cos(a), 6.0 + far_a * sin(a), 6.0 + far_b * cos(b), 6.0 + far_b * sin(b),
                     6.0 + near_b * cos(b), 6.0 + near_b * sin(b), 6.0 + near_a * cos(a), 6.0 + near_a * sin(a)], "gray")
            if i % 2 == 0:
                line(6.0 + radius(a) * cos(a), 6.0 + radius(a) * sin(a), 6.0 + radius(b) * cos(b), 6.0 + radius(b) * sin(b), "white")
        x, y, c, s = self.x + 6.0, self.y + 6.0, 0.35 * cos(self.heading), 0.35 * sin(self.heading)
        polygon([x + c - s / 2, y + s + c / 2, x + c + s / 2, y + s - c / 2,
                 x - c + s / 2, y - s - c / 2, x - c - s / 2, y - s + c / 2], "red")
        circle(x + c / 3, y + s / 3, 0.13, "black")
