"""A bird that flaps to fly through the gaps between pipes. First, change `gap`, the height of each gap.

The bird falls between two flaps, and an episode ends when it hits a pipe, the ground or the sky.
"""

width, height = 12, 10
gap = 3.2
spacing = 6.0
pace = 0.2
gravity = 0.03
flap = 0.27
bird_x = 2.5


class World:
    actions = 2
    limit = 500
    solved = 12.0
    keys = {"ArrowUp": 1, " ": 1, "": 0}
    names = ["glide", "flap"]

    def reset(self):
        self.y = height / 2
        self.speed = 0.0
        self.passed = 0
        # Distance to the middle of the next pipe, and the middles of the gaps of the last pipe, the next one, and the one after it.
        self.distance = 7.5
        self.gaps = [uniform(3.0, 7.0), uniform(3.0, 7.0), uniform(3.0, 7.0)]

    def step(self, action):
        self.speed = -flap if action == 1 else min(self.speed + gravity, 0.6)
        self.y += self.speed
        self.distance -= pace
        inside = abs(self.distance) < 0.8
        if self.y < 0.0 or self.y > height or (inside and abs(self.y - self.gaps[1]) > gap / 2 - 0.3):
            return -1.0, True
        if self.distance > -0.8:
            return 0.0, False
        self.distance += spacing
        self.gaps[0], self.gaps[1] = self.gaps[1], self.gaps[2]
        self.gaps[2] = uniform(3.0, 7.0)
        self.passed += 1
        return 1.0, False

    def observe(self):
        middle = height / 2
        below, later = self.gaps[1] - self.y, self.gaps[2] - self.y
        return [self.y / middle - 1.0, self.speed / 0.3, self.distance / spacing, below / middle, later / middle]

    def draw(self):
        rect(0, 0, width, height, "lightblue")
        for i in range(3):
            x = bird_x + self.distance + spacing * (i - 1)
            top, bottom = self.gaps[i] - gap / 2, self.gaps[i] + gap / 2
            rect(x - 0.5, 0, 1.0, top, "green")
            rect(x - 0.6, top - 0.4, 1.2, 0.4, "darkgreen")
            rect(x - 0.5, bottom, 1.0, height - bottom, "green")
            rect(x - 0.6, bottom, 1.2, 0.4, "darkgreen")
        circle(bird_x, self.y, 0.35, "yellow")
        polygon([bird_x + 0.25, self.y - 0.1, bird_x + 0.6, self.y + 0.05, bird_x + 0.25, self.y + 0.2], "orange")
        polygon([bird_x, self.y, bird_x - 0.5, self.y, bird_x - 0.3, self.y + (0.3 if self.speed < 0.0 else -0.3)], "orange")
        circle(bird_x + 0.15, self.y - 0.12, 0.07, "black")
        text(width / 2, 0.7, self.passed, "black")
