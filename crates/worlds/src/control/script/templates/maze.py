"""A maze with a locked door: fetch the key, then leave through the door. First, change `maze`: open a wall (1) for a shorter way.

The key is at one of four places, and the start is anywhere.
"""

n = 9
maze = [
    [1, 1, 1, 1, 1, 1, 1, 1, 1],
    [1, 0, 0, 0, 1, 0, 0, 0, 1],
    [1, 0, 1, 0, 1, 0, 1, 0, 1],
    [1, 0, 1, 0, 0, 0, 1, 0, 1],
    [1, 0, 1, 1, 1, 1, 1, 0, 1],
    [1, 0, 0, 0, 0, 0, 1, 0, 1],
    [1, 1, 1, 1, 1, 0, 1, 0, 1],
    [1, 0, 0, 0, 0, 0, 0, 0, 0],
    [1, 1, 1, 1, 1, 1, 1, 1, 1],
]
key_x = [1, 3, 7, 1]
key_y = [5, 1, 1, 7]
door_x, door_y = 8, 7
move_x = [0, 1, 0, -1]
move_y = [-1, 0, 1, 0]


class World:
    actions = 4
    limit = 200
    solved = 1.2
    keys = {"ArrowUp": 0, "ArrowRight": 1, "ArrowDown": 2, "ArrowLeft": 3}
    names = ["up", "right", "down", "left"]
    size = (9.0, 9.0)

    def reset(self):
        self.key = randint(0, 4)
        self.has_key = False
        self.x, self.y = randint(1, n - 1), randint(1, n - 1)
        while maze[self.y][self.x] == 1:
            self.x, self.y = randint(1, n - 1), randint(1, n - 1)

    def step(self, action):
        x, y = self.x + move_x[action], self.y + move_y[action]
        at_door = x == door_x and y == door_y
        if maze[y][x] == 1 or (at_door and not self.has_key):
            return -0.01, False
        self.x, self.y = x, y
        if at_door:
            return 1.0, True
        if not self.has_key and x == key_x[self.key] and y == key_y[self.key]:
            self.has_key = True
            return 0.5, False
        return -0.01, False

    def observe(self):
        place = [0.0] * (n * n)
        place[self.y * n + self.x] = 1.0
        key = [0.0] * 4
        if not self.has_key:
            key[self.key] = 1.0
        return place + key

    def draw(self):
        for y in range(n):
            for x in range(n):
                if maze[y][x] == 1:
                    rect(x, y, 1, 1, "darkblue")
        if self.has_key:
            rect(door_x, door_y, 1, 1, "lightgreen")
        else:
            rect(door_x, door_y, 1, 1, "brown")
            left, top = key_x[self.key], key_y[self.key]
            circle(left + 0.35, top + 0.5, 0.18, "yellow")
            rect(left + 0.4, top + 0.45, 0.45, 0.1, "yellow")
            rect(left + 0.7, top + 0.5, 0.1, 0.2, "yellow")
        circle(self.x + 0.5, self.y + 0.5, 0.35, "orange")
