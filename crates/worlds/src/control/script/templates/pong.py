"""Pong against a wall: hit the ball with the paddle, again and again. First, change `half`, half of the paddle's length.

Every hit makes the ball faster, and the place of the hit changes its direction.
"""

width, height = 12, 9
half = 1.0
paddle_speed = 0.3
first_speed, top_speed = 0.3, 0.5
steepest = 0.25  # largest vertical speed of the ball


class World:
    actions = 3
    limit = 600
    solved = 9.0
    keys = {"ArrowUp": 0, "": 1, "ArrowDown": 2}
    names = ["up", "stay", "down"]

    def reset(self):
        self.paddle = height / 2
        self.x = width / 2
        self.y = uniform(2.0, height - 2.0)
        self.dx = -first_speed
        self.dy = uniform(-steepest, steepest)
        self.hits = 0

    def step(self, action):
        self.paddle = clip(self.paddle + paddle_speed * (action - 1), half, height - half)
        self.x += self.dx
        self.y += self.dy
        if self.y < 0.2 or self.y > height - 0.2:
            self.dy = -self.dy
            self.y = clip(self.y, 0.2, height - 0.2)
        if self.x < 0.7:
            self.dx = -self.dx
            self.x = 0.7
        if self.x < width - 1.0:
            return 0.0, False
        offset = (self.y - self.paddle) / half
        if abs(offset) > 1.2:
            return -1.0, True
        self.x = width - 1.0
        self.dx = -min(self.dx * 1.03, top_speed)
        self.dy = clip(self.dy + 0.1 * offset, -steepest, steepest)
        self.hits += 1
        return 1.0, False

    def observe(self):
        middle = height / 2
        place = [self.x / 6 - 1.0, (self.y - middle) / middle, (self.paddle - middle) / middle]
        return place + [self.dx / top_speed, self.dy / steepest, (self.y - self.paddle) / middle]

    def draw(self):
        rect(0, 0, width, height, "darkblue")
        rect(0, 0, 0.5, height, "brown")
        for i in range(9):
            line(width / 2, i + 0.25, width / 2, i + 0.75, "blue")
        circle(self.x, self.y, 0.2, "yellow")
        rect(width - 0.8, self.paddle - half, 0.3, 2.0 * half, "white")
        text(width / 2, 0.7, self.hits, "lightblue")
