"""A predator hunts a prey that flees from it and from the walls. First, change `prey_speed`: above 0.3, the prey is faster.

The prey follows a script. Each catch has a reward of 1, and the next prey appears far away.
"""

side = 10
predator_speed, prey_speed = 0.3, 0.22
sight = 4.0  # distance at which the prey sees the predator
near = 0.6  # distance of a catch


class World:
    actions = 8
    limit = 300
    solved = 8.0
    keys = {"ArrowRight": 0, "ArrowDown": 2, "ArrowLeft": 4, "ArrowUp": 6}
    names = ["right", "right down", "down", "left down", "left", "left up", "up", "right up"]
    size = (10.0, 10.0)

    def reset(self):
        self.x, self.y = uniform(1.0, side - 1.0), uniform(1.0, side - 1.0)
        self.caught = 0
        self.appear()

    def appear(self):
        self.prey_x, self.prey_y = uniform(0.5, side - 0.5), uniform(0.5, side - 0.5)
        while self.distance() < sight:
            self.prey_x, self.prey_y = uniform(0.5, side - 0.5), uniform(0.5, side - 0.5)

    def distance(self):
        dx, dy = self.prey_x - self.x, self.prey_y - self.y
        return sqrt(dx * dx + dy * dy)

    def flee(self):
        away = self.distance() + 0.01
        fear = 2.0 / away if away < sight else 0.0
        dx = fear * (self.prey_x - self.x) / away + normal(0.0, 0.3)
        dy = fear * (self.prey_y - self.y) / away + normal(0.0, 0.3)
        dx += 0.5 / (self.prey_x + 0.3) - 0.5 / (side - self.prey_x + 0.3)
        dy += 0.5 / (self.prey_y + 0.3) - 0.5 / (side - self.prey_y + 0.3)
        pace = prey_speed / (sqrt(dx * dx + dy * dy) + 0.01)
        self.prey_x = clip(self.prey_x + pace * dx, 0.3, side - 0.3)
        self.prey_y = clip(self.prey_y + pace * dy, 0.3, side - 0.3)

    def step(self, action):
        before = self.distance()
        angle = action * pi / 4
        self.x = clip(self.x + predator_speed * cos(angle), 0.3, side - 0.3)
        self.y = clip(self.y + predator_speed * sin(angle), 0.3, side - 0.3)
        self.flee()
        after = self.distance()
        if after > near:
            return 0.05 * (before - after), False
        self.caught += 1
        self.appear()
        return 1.0, False

    def observe(self):
        dx, dy = self.prey_x - self.x, self.prey_y - self.y
        place = [self.x / 5 - 1.0, self.y / 5 - 1.0, self.prey_x / 5 - 1.0, self.prey_y / 5 - 1.0]
        return place + [dx / 5, dy / 5, self.distance() / 5 - 1.0]

    def draw(self):
        rect(0, 0, side, side, "lightgreen")
        circle(self.prey_x, self.prey_y, 0.25, "white")
        circle(self.prey_x - 0.1, self.prey_y - 0.3, 0.1, "pink")
        circle(self.prey_x + 0.1, self.prey_y - 0.3, 0.1, "pink")
        circle(self.x, self.y, 0.4, "orange")
        polygon([self.x - 0.4, self.y - 0.1, self.x - 0.35, self.y - 0.6, self.x - 0.05, self.y - 0.35], "brown")
        polygon([self.x + 0.4, self.y - 0.1, self.x + 0.35, self.y - 0.6, self.x + 0.05, self.y - 0.35], "brown")
        text(side / 2, 0.6, self.caught, "black")
