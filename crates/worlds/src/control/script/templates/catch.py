"""Catch ten falling fruits with a basket. First, change `reach` to 0: the basket becomes one cell wide.

A fruit drifts to the left, to the right, or falls straight, and returns from the sides.
"""

width, height = 10, 12
reach = 1  # cells that the basket covers on each side of its middle
fruits = 10


class World:
    actions = 3
    limit = 200
    solved = 9.0
    keys = {"ArrowLeft": 0, "": 1, "ArrowRight": 2}
    names = ["left", "stay", "right"]

    def reset(self):
        self.basket = width // 2
        self.fallen = 0
        self.caught = 0
        self.drop()

    def drop(self):
        self.x = randint(0, width)
        self.y = 0
        self.drift = randint(-1, 2)

    def step(self, action):
        self.basket = clip(self.basket + action - 1, 0, width - 1)
        self.x += self.drift
        self.y += 1
        if self.x < 0 or self.x >= width:
            self.drift = -self.drift
            self.x += 2 * self.drift
        if self.y < height - 1:
            return 0.0, False
        hit = abs(self.basket - self.x) <= reach
        self.caught += int(hit)
        self.fallen += 1
        self.drop()
        return (1.0 if hit else -1.0), self.fallen == fruits

    def observe(self):
        across = (width - 1) / 2
        down = (height - 1) / 2
        return [self.x / across - 1.0, self.y / down - 1.0, float(self.drift), self.basket / across - 1.0, (self.x - self.basket) / across]

    def draw(self):
        rect(0, 0, width, height, "lightblue")
        rect(0, height - 0.3, width, 0.3, "green")
        circle(self.x + 0.5, self.y + 0.5, 0.4, "red")
        line(self.x + 0.5, self.y + 0.15, self.x + 0.7, self.y - 0.1, "darkgreen")
        x = self.basket - reach
        polygon([x, height - 1.0, x + 2 * reach + 1, height - 1.0, x + 2 * reach + 0.7, height - 0.2, x + 0.3, height - 0.2], "brown")
        text(0.9, 0.7, self.caught, "black")
