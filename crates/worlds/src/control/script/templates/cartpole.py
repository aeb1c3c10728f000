"""A pole on a cart: push the cart left or right so that the pole stays upright. First, change `half_length`: a shorter pole falls sooner.

The equations and numbers are those of Gymnasium's CartPole-v1.
"""

gravity = 9.8
cart_mass, pole_mass = 1.0, 0.1
half_length = 0.5
force = 10.0
seconds = 0.02
mass = cart_mass + pole_mass
moment = pole_mass * half_length
track_end = 2.4
largest_angle = 12.0 * tau / 360.0


class World:
    actions = 2
    limit = 500
    solved = 475.0
    keys = {"ArrowLeft": 0, "ArrowRight": 1}
    names = ["push left", "push right"]
    size = (6.0, 4.0)

    def reset(self):
        self.x = uniform(-0.05, 0.05)
        self.speed = uniform(-0.05, 0.05)
        self.angle = uniform(-0.05, 0.05)
        self.spin = uniform(-0.05, 0.05)

    def step(self, action):
        pushed = force if action == 1 else -force
        sine, cosine = sin(self.angle), cos(self.angle)
        push = (pushed + moment * (self.spin * self.spin) * sine) / mass
        inertia = half_length * (4.0 / 3.0 - pole_mass * (cosine * cosine) / mass)
        turn = (gravity * sine - cosine * push) / inertia
        gain = push - moment * turn * cosine / mass
        self.x += seconds * self.speed
        self.speed += seconds * gain
        self.angle += seconds * self.spin
        self.spin += seconds * turn
        inside = abs(self.x) <= track_end and abs(self.angle) <= largest_angle
        return 1.0, not inside

    def observe(self):
        return [self.x, self.speed, self.angle, self.spin]

    def draw(self):
        x, y = self.x + 3.0, 3.0
        line(0.0, y, 6.0, y, "lightgray")
        line(3.0 - track_end, y - 0.1, 3.0 - track_end, y + 0.1, "red")
        line(3.0 + track_end, y - 0.1, 3.0 + track_end, y + 0.1, "red")
        rect(x - 0.3, y - 0.15, 0.6, 0.3, "black")
        along_x, along_y = sin(self.angle), -cos(self.angle)
        tip_x, tip_y = x + 4.0 * half_length * along_x, y + 4.0 * half_length * along_y
        side_x, side_y = -0.06 * along_y, 0.06 * along_x
        polygon([x - side_x, y - side_y, x + side_x, y + side_y, tip_x + side_x, tip_y + side_y, tip_x - side_x, tip_y - side_y], "orange")
        circle(tip_x, tip_y, 0.06, "orange")
        circle(x, y, 0.08, "gray")
