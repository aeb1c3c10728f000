"""A snake that grows with every apple and must not hit the walls or its own body. First, change `n`, the width of the board.

For each cell, `free_at` has the time at which the snake leaves the cell. Time stops while the snake eats, so that it grows by one cell.
"""

n = 10
patience = 100  # steps without an apple until the episode ends
move_x = [0, 1, 0, -1]
move_y = [-1, 0, 1, 0]


class World:
    actions = 3
    limit = 2000
    solved = 16.0
    keys = {"ArrowLeft": 0, "": 1, "ArrowRight": 2}
    names = ["turn left", "straight on", "turn right"]
    size = (10.0, 10.0)

    def reset(self):
        self.x, self.y = n // 2, n // 2
        self.heading, self.length = 1, 3
        self.time, self.hunger = 0, 0
        self.free_at = [0] * (n * n)
        for i in range(3):
            self.free_at[self.y * n + self.x - i] = 3 - i
        self.place_apple()

    def place_apple(self):
        self.apple_x, self.apple_y = randint(0, n), randint(0, n)
        while self.blocked(self.apple_x, self.apple_y):
            self.apple_x, self.apple_y = randint(0, n), randint(0, n)

    def blocked(self, x, y):
        if 0 <= x < n and 0 <= y < n:
            return self.free_at[y * n + x] > self.time
        return True

    def step(self, action):
        self.heading = (self.heading + action - 1) % 4
        x, y = self.x + move_x[self.heading], self.y + move_y[self.heading]
        eats = x == self.apple_x and y == self.apple_y
        if not eats:
            self.time += 1
        if self.blocked(x, y):
            return -1.0, True
        self.x, self.y = x, y
        self.hunger += 1
        if eats:
            self.length += 1
            self.hunger = 0
        self.free_at[y * n + x] = self.time + self.length
        if not eats:
            return 0.0, self.hunger >= patience
        full = self.length == n * n
        if not full:
            self.place_apple()
        return 1.0, full

    def observe(self):
        ahead_x, ahead_y = move_x[self.heading], move_y[self.heading]
        side_x, side_y = -ahead_y, ahead_x
        around = [
            float(self.blocked(self.x + a * ahead_x + b * side_x, self.y + a * ahead_y + b * side_y))
            for a in range(-2, 4) for b in range(-3, 4)
        ]
        dx, dy = self.apple_x - self.x, self.apple_y - self.y
        ahead, side = dx * ahead_x + dy * ahead_y, dx * side_x + dy * side_y
        way = [float(ahead > 0), float(ahead < 0), float(side > 0), float(side < 0)]
        return around + way + [ahead / n, side / n, self.length / 50, self.hunger / patience]

    def draw(self):
        rect(0, 0, n, n, "lightgreen")
        for y in range(n):
            for x in range(n):
                if self.blocked(x, y):
                    rect(x + 0.05, y + 0.05, 0.9, 0.9, "green")
        circle(self.apple_x + 0.5, self.apple_y + 0.5, 0.4, "red")
        rect(self.x + 0.05, self.y + 0.05, 0.9, 0.9, "darkgreen")
        circle(self.x + 0.5 + 0.25 * move_x[self.heading], self.y + 0.5 + 0.25 * move_y[self.heading], 0.12, "white")
