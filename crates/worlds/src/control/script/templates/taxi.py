"""A taxi that fetches a passenger at one stop and sets the passenger down at another. First, change `wall`: add a wall (1) in the way.

The map is that of Gymnasium's Taxi. A step has a reward of -1, and the arrival 20. The method `mask` permits only actions with an effect.
"""

n = 5
# The right side of a cell has a wall where its number is 1.
wall = [
    [0, 1, 0, 0, 0],
    [0, 1, 0, 0, 0],
    [0, 0, 0, 0, 0],
    [1, 0, 1, 0, 0],
    [1, 0, 1, 0, 0],
]
aboard = 4  # the passenger's place in the taxi; other places are stops
stop_x = [0, 4, 0, 3]
stop_y = [0, 0, 4, 4]
move_x = [0, 0, 1, -1]
move_y = [1, -1, 0, 0]


class World:
    actions = 6
    limit = 200
    solved = 7.0
    keys = {"ArrowDown": 0, "ArrowUp": 1, "ArrowRight": 2, "ArrowLeft": 3, " ": 4, "Enter": 5}
    names = ["down", "up", "right", "left", "pick up", "set down"]
    size = (5.0, 5.0)

    def reset(self):
        self.x, self.y = randint(0, n), randint(0, n)
        self.passenger = randint(0, 4)
        self.goal = (self.passenger + randint(1, 4)) % 4

    def possible(self):
        down, up = self.y < n - 1, self.y > 0
        right = self.x < n - 1 and wall[self.y][self.x] == 0
        left = self.x > 0 and wall[self.y][self.x - 1] == 0
        pick = self.passenger != aboard and self.x == stop_x[self.passenger] and self.y == stop_y[self.passenger]
        put = self.passenger == aboard and self.x == stop_x[self.goal] and self.y == stop_y[self.goal]
        return [down, up, right, left, pick, put]

    def step(self, action):
        possible = self.possible()
        if not possible[action]:
            return -1.0, False
        if action < 4:
            self.x += move_x[action]
            self.y += move_y[action]
            return -1.0, False
        if action == 4:
            self.passenger = aboard
            return -1.0, False
        return 20.0, True

    def mask(self):
        return self.possible()

    def observe(self):
        cell = [0.0] * (n * n)
        cell[self.y * n + self.x] = 1.0
        return cell + [float(self.passenger == i) for i in range(5)] + [float(self.goal == i) for i in range(4)]

    def draw(self):
        rect(0, 0, n, n, "lightgray")
        for i in range(4):
            rect(stop_x[i] + 0.05, stop_y[i] + 0.05, 0.9, 0.9, "white")
        rect(stop_x[self.goal] + 0.05, stop_y[self.goal] + 0.05, 0.9, 0.9, "lightgreen")
        for y in range(n):
            for x in range(n):
                if wall[y][x] == 1:
                    rect(x + 0.95, y, 0.1, 1, "black")
        rect(self.x + 0.15, self.y + 0.35, 0.7, 0.35, "yellow")
        rect(self.x + 0.3, self.y + 0.18, 0.4, 0.2, "yellow")
        circle(self.x + 0.3, self.y + 0.7, 0.1, "black")
        circle(self.x + 0.7, self.y + 0.7, 0.1, "black")
        if self.passenger == aboard:
            circle(self.x + 0.5, self.y + 0.32, 0.12, "purple")
        else:
            circle(stop_x[self.passenger] + 0.5, stop_y[self.passenger] + 0.5, 0.2, "purple")
