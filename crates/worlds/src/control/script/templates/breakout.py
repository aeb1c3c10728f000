"""Breakout on a board of 12 x 10 cells: keep the ball in play until all bricks are gone. First, change `rows`, the rows of bricks.

The ball moves one cell per step along a diagonal. A hit with an end of the paddle sends the ball to that side.
"""

width, height = 12, 10
rows, top = 3, 1


class World:
    actions = 3
    limit = 1000
    solved = 30.0
    keys = {"ArrowLeft": 0, "": 1, "ArrowRight": 2}
    names = ["left", "stay", "right"]

    def reset(self):
        self.bricks = [True] * (rows * width)
        self.left = rows * width
        self.paddle = width // 2
        self.x, self.y = randint(3, width - 3), top + rows
        self.dx, self.dy = 2 * randint(0, 2) - 1, 1

    def step(self, action):
        self.paddle = clip(self.paddle + action - 1, 1, width - 2)
        x, y = self.x + self.dx, self.y + self.dy
        if x < 0 or x >= width:
            self.dx = -self.dx
            x = self.x
        if y < 0:
            self.dy = 1
            y = 0
        row = y - top
        hit = 0 <= row < rows and self.bricks[row * width + x]
        if hit:
            self.bricks[row * width + x] = False
            self.left -= 1
            self.dy = -self.dy
            y = self.y
        if y == height - 1:
            offset = x - self.paddle
            if abs(offset) > 1:
                return -1.0, True
            if offset != 0:
                self.dx = offset
            self.dy = -1
            y = height - 2
        self.x, self.y = x, y
        return float(hit), self.left == 0

    def observe(self):
        across, down = (width - 1) / 2, (height - 1) / 2
        ball = [self.x / across - 1.0, self.y / down - 1.0, float(self.dx), float(self.dy)]
        paddle = [self.paddle / across - 1.0, (self.x - self.paddle) / across]
        return ball + paddle + [float(brick) for brick in self.bricks]

    def draw(self):
        rect(0, 0, width, height, "darkblue")
        for row in range(rows):
            for x in range(width):
                if not self.bricks[row * width + x]:
                    continue
                if row % 2 == 0:
                    rect(x + 0.05, row + top + 0.1, 0.9, 0.8, "red")
                else:
                    rect(x + 0.05, row + top + 0.1, 0.9, 0.8, "orange")
        circle(self.x + 0.5, self.y + 0.5, 0.35, "white")
        rect(self.paddle - 1, height - 0.7, 3, 0.4, "lightblue")
