"""A car that is too weak for its hill must swing to climb it. First, change `power`: a stronger car needs fewer swings.

The equations and numbers are those of Gymnasium's MountainCar-v0.
"""

left, right, flag = -1.2, 0.6, 0.5
power = 0.001
gravity = 0.0025
top_speed = 0.07


def ground(x):
    return 1.1 - 0.35 * (sin(3.0 * x) + 1.2)


class World:
    actions = 3
    limit = 200
    solved = -110.0
    keys = {"ArrowLeft": 0, "": 1, "ArrowRight": 2}
    names = ["back", "coast", "forward"]
    size = (1.8, 1.2)

    def reset(self):
        self.position = uniform(-0.6, -0.4)
        self.velocity = 0.0

    def step(self, action):
        self.velocity += (action - 1) * power - gravity * cos(3.0 * self.position)
        self.velocity = clip(self.velocity, -top_speed, top_speed)
        self.position = clip(self.position + self.velocity, left, right)
        if self.position == left and self.velocity < 0.0:
            self.velocity = 0.0
        return -1.0, self.position >= flag and self.velocity >= 0.0

    def observe(self):
        return [self.position, self.velocity]

    def draw(self):
        rect(0.0, 0.0, 1.8, 1.2, "lightblue")
        for i in range(36):
            x = left + 0.05 * i
            polygon([0.05 * i, ground(x), 0.05 * (i + 1), ground(x + 0.05), 0.05 * (i + 1), 1.2, 0.05 * i, 1.2], "green")
        x, y = flag - left, ground(flag)
        line(x, y, x, y - 0.16, "black")
        polygon([x, y - 0.16, x, y - 0.09, x + 0.08, y - 0.125], "red")
        x, y = self.position - left, ground(self.position)
        slope = -1.05 * cos(3.0 * self.position)
        length = sqrt(1.0 + slope * slope)
        c, s = 1.0 / length, slope / length
        polygon([x - 0.06 * c + 0.03 * s, y - 0.06 * s - 0.03 * c, x + 0.06 * c + 0.03 * s, y + 0.06 * s - 0.03 * c,
                 x + 0.06 * c + 0.08 * s, y + 0.06 * s - 0.08 * c, x - 0.06 * c + 0.08 * s, y - 0.06 * s - 0.08 * c], "darkblue")
        circle(x - 0.035 * c + 0.022 * s, y - 0.035 * s - 0.022 * c, 0.022, "black")
        circle(x + 0.035 * c + 0.022 * s, y + 0.035 * s - 0.022 * c, 0.022, "black")
