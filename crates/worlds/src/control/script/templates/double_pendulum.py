"""Two rods in a row hang from a motor that is too weak to lift them: swing them up. First, change `strength`, the motor's largest torque.

Every step costs more the lower the tip is. The episode ends when the tip is almost as high as it can be.
"""

gravity = 9.8
strength = 12.0
friction = 0.1
seconds = 0.01
goal = 1.7  # height of the tip above the motor; at most 2


class World:
    actions = Box(1, -1.0, 1.0)
    limit = 300
    solved = -80.0
    keys = {"ArrowLeft": -1.0, "ArrowRight": 1.0, "": 0.0}
    size = (5.0, 5.0)

    def reset(self):
        # Angles from straight down, and their speeds.
        self.first = uniform(-0.1, 0.1)
        self.second = uniform(-0.1, 0.1)
        self.first_speed = 0.0
        self.second_speed = 0.0

    def step(self, action):
        for i in range(5):
            between = self.first - self.second
            c, s = cos(between), sin(between)
            rub = friction * (self.first_speed - self.second_speed)
            a = strength * action - s * self.second_speed * self.second_speed - 2.0 * gravity * sin(self.first) - rub
            b = s * self.first_speed * self.first_speed - gravity * sin(self.second) + rub
            share = 1.0 / (2.0 - c * c)
            self.first_speed = clip(self.first_speed + seconds * share * (a - c * b), -15.0, 15.0)
            self.second_speed = clip(self.second_speed + seconds * share * (2.0 * b - c * a), -15.0, 15.0)
            self.first += seconds * self.first_speed
            self.second += seconds * self.second_speed
        height = -cos(self.first) - cos(self.second)
        return (height - 2.0) / 4.0, height > goal

    def observe(self):
        first = [sin(self.first), cos(self.first), self.first_speed / 5.0]
        second = [sin(self.second), cos(self.second), self.second_speed / 8.0]
        return first + second

    def draw(self):
        line(0.0, 2.5 - goal, 5.0, 2.5 - goal, "green")
        x, y = 2.5 + sin(self.first), 2.5 + cos(self.first)
        tip_x, tip_y = x + sin(self.second), y + cos(self.second)
        c, s = 0.07 * cos(self.first), 0.07 * sin(self.first)
        polygon([2.5 - c, 2.5 + s, 2.5 + c, 2.5 - s, x + c, y - s, x - c, y + s], "blue")
        c, s = 0.07 * cos(self.second), 0.07 * sin(self.second)
        polygon([x - c, y + s, x + c, y - s, tip_x + c, tip_y - s, tip_x - c, tip_y + s], "orange")
        circle(2.5, 2.5, 0.14, "black")
        circle(x, y, 0.1, "black")
        circle(tip_x, tip_y, 0.16, "red")
