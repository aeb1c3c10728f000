"""Results of rolls and points of games from other software, for crates/worlds/tests/worlds/backgammon.rs.

    pip install open_spiel        # the rules and the points: OpenSpiel 2.0.2 made the committed file
    apt-get install gnubg         # the position ids: GNU Backgammon 1.07.001
    python tests/golden/worlds_backgammon.py        (ten minutes; writes worlds_backgammon.txt beside itself)

The positions are from OpenSpiel games between players with different habits, so that the bar, the bear-off and the end of games
are frequent. In every id, before and after the roll, the player who rolls is the player on roll. The lines of the file:

    id ID ROLLER OPPONENT    GNU Backgammon's position id; 25 numbers per side: points 1 to 24 as that side counts them,
                             then the bar
    kind NAME                start of the positions of this kind
    ID HASH                  the results of all 21 rolls from ID: the first 12 digits of the 64-bit FNV-1a of 21 lines
                             "D1D2 ID ID ...", D1 <= D2, in order, the ids of a line sorted
    set ID D1 D2 ID ID ...   the results of one roll from ID, sorted
    points ID N              a finished game, seen by its winner, and its points

OpenSpiel plays a double as two turns; a set contains the results of both together. `results` asserts that both orders of the dice
give the same results, and that all plays of a double are equally long.
"""

import base64
import json
import multiprocessing
import os
import random
import subprocess
import tempfile

import pyspiel

BAR = 100
ROLLS = [(a, b) for a in range(1, 7) for b in range(a, 7)]
# Number of positions of each kind.
QUOTAS = {"bar": 3200, "bars": 1600, "home": 4200, "contact": 1600, "end": 2600, "closed": 30, "open": 7800}


def side(state, player):
    """Returns the counts of points 1 to 24 as the player counts them, then the bar. X moves upwards, O downwards."""
    at = state.board
    points = range(23, -1, -1) if player == 0 else range(24)
    return tuple([at(player, p) for p in points] + [at(player, BAR)])


def seen_by(state, player):
    return side(state, player), side(state, 1 - player)


def encoded(mine, theirs):
    """Returns GNU Backgammon's position id: ones for checkers and a zero after each point, the opponent of the player on roll first."""
    bits = "".join("1" * count + "0" for count in theirs + mine)
    key = int(bits[::-1], 2).to_bytes(10, "little")
    return base64.b64encode(key).decode()[:14]


def pips(points):
    return sum((i + 1) * count for i, count in enumerate(points))


def play_on(state, player, found, halves):
    """Tries every action; keeps one state of each distinct OpenSpiel text. Undoing corrupts the count of turns, which is not used
    here, so do not continue a game from `state`."""
    before = str(state)
    for action in state.legal_actions():
        state.apply_action(action)
        after = str(state)
        # A finished game has no current player.
        if state.current_player() == player:
            if after not in halves:
                halves[after] = state.clone()
        elif after not in found:
            found[after] = seen_by(state, player)
        state.undo_action(player, action)
    assert str(state) == before


def ends(state, dice, player):
    """Returns every distinct position after this roll, seen by the player who rolled, by its OpenSpiel text."""
    rolled = state.clone()
    rolled.apply_action(ROLL_ACTION[dice])
    assert rolled.current_player() == player
    found, halves, none = {}, {}, {}
    play_on(rolled, player, found, halves)
    for half in halves.values():
        play_on(half, player, found, none)
    assert not none
    return found


def results(state, dice, player):
    """Returns the ids of every distinct position after this roll, sorted."""
    found = ends(state, dice, player)
    assert dice[0] == dice[1] or ends(state, dice[::-1], player) == found
    positions = set(found.values())
    if dice[0] == dice[1]:
        mine = side(state, player)
        used = {pips(mine) - pips(after) for after, _ in positions}
        # All plays have the same number of moves and, unless bearing off wastes pips, use the same pips.
        assert len(used) == 1 or any(sum(after) < sum(mine) for after, _ in positions), str(state)
    return sorted(encoded(*position) for position in positions)


def fnv(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:016x}"


def kind(mine, theirs):
    left, left_theirs = sum(mine), sum(theirs)
    if min(left, left_theirs) <= 3:
        return "end"
    if mine[24]:
        closed = all(count >= 2 for count in theirs[:6])
        return "closed" if closed else "bars" if mine[24] >= 2 else "bar"
    if sum(mine[6:]) == 0:
        rear, rear_theirs = (max(i for i, count in enumerate(points) if count) for points in (mine, theirs))
        return "contact" if rear + rear_theirs > 23 else "home"
    return "open"


def liking(habit, mine, theirs, rng):
    """Returns the preference of a player with this habit for a resulting position."""
    blots = sum(count == 1 for count in mine[:24])
    if habit == "random":
        return rng.random()
    if habit == "hits":
        return 10 * theirs[24] - blots + rng.random()
    if habit == "runs":
        return -sum((i + 1) ** 2 * count for i, count in enumerate(mine)) + rng.random()
    if habit == "builds":
        return 4 * sum(count >= 2 for count in mine[:8]) - 2 * blots + 3 * theirs[24] + rng.random()
    if habit == "loose":
        return blots + 2 * rng.random()
    if habit == "back":
        return sum(count for count in mine[18:]) + rng.random()
    raise ValueError(habit)


def play(game, rng, meet, finish):
    """Plays one game; calls `meet` for every position before a roll and `finish` for the last one."""
    habits = [rng.choice(["random", "hits", "runs", "builds", "loose", "back"]) for _ in range(2)]
    state = game.new_initial_state()
    state.apply_action(rng.randrange(30))
    for _ in range(400):
        player = state.current_player()
        choices = {str(choice): choice for choice in map(state.child, state.legal_actions())}
        state = max(choices.values(), key=lambda s: liking(habits[player], *seen_by(s, player), rng))
        if state.is_terminal():
            winner = 0 if state.returns()[0] > 0 else 1
            finish(encoded(*seen_by(state, winner)), int(state.returns()[winner]))
            return
        if state.is_chance_node():
            meet(state, 1 - player)
            state = state.clone()
            # Doubles are more frequent than with fair dice, since they lead to rare positions.
            doubles = rng.randrange(1, 7) if rng.random() < 0.2 else None
            dice = (doubles, doubles) if doubles else (rng.randrange(1, 7), rng.randrange(1, 7))
            state.apply_action(ROLL_ACTION[dice])


def from_gnubg(boards):
    """Returns GNU Backgammon's ids of boards, each given as (opponent, player on roll)."""
    with tempfile.TemporaryDirectory() as folder:
        asked, told = os.path.join(folder, "boards.json"), os.path.join(folder, "ids.json")
        with open(asked, "w") as file:
            json.dump(boards, file)
        script = os.path.join(folder, "ask.py")
        with open(script, "w") as file:
            file.write(
                "import gnubg, json\n"
                f"boards = json.load(open({asked!r}))\n"
                "ids = [gnubg.positionid(tuple(map(tuple, b))) for b in boards]\n"
                f"json.dump(ids, open({told!r}, 'w'))\n"
            )
        command = ["/usr/games/gnubg", "-t", "-q", "-r", "-p", script]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, check=True, timeout=600)
        with open(told) as file:
            return json.load(file)


def main():
    rng = random.Random(5)
    game = pyspiel.load_game("backgammon", {"scoring_type": "full_scoring"})
    # Maps dice to chance actions by the names of the actions.
    rolled = game.new_initial_state()
    rolled.apply_action(0)
    rolled.apply_action(rolled.legal_actions()[0])
    for action, _ in rolled.chance_outcomes():
        name = rolled.action_to_string(-1, action)
        digits = name.split("roll: ")[1][:2]
        ROLL_ACTION[(int(digits[0]), int(digits[1]))] = action
    assert len(ROLL_ACTION) == 36

    left, met, finished = dict(QUOTAS), {}, {1: [], 2: [], 3: []}

    def meet(state, roller):
        position = seen_by(state, roller)
        name = kind(*position)
        if left[name] and position not in met and (name == "closed" or rng.random() < 0.5):
            met[position] = (name, state, roller)
            left[name] -= 1

    def finish(final_id, points):
        if len(finished[points]) < 150 and final_id not in finished[points]:
            finished[points].append(final_id)

    while any(left.values()) or any(len(ids) < 150 for ids in finished.values()):
        play(game, rng, meet, finish)

    lines = []
    asked = rng.sample(list(met), 300)
    for (mine, theirs), told in zip(asked, from_gnubg([(theirs, mine) for mine, theirs in asked])):
        assert told == encoded(mine, theirs)
        lines.append(f"id {told} {','.join(map(str, mine))} {','.join(map(str, theirs))}")
    MET.extend(sorted(met.items(), key=lambda item: item[1][0]))
    sets, begun = [], None
    with multiprocessing.get_context("fork").Pool() as pool:
        for (_, (name, _, _)), (line, shown) in zip(MET, pool.imap(all_rolls, range(len(MET)), chunksize=20)):
            if name != begun:
                lines.append(f"kind {name}")
                begun = name
            lines.append(line)
            sets += shown
    lines += sets
    lines += [f"points {final} {points}" for points in finished for final in finished[points]]
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "worlds_backgammon.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")


def all_rolls(index):
    """Returns the line of a position and some `set` lines of this position. The whole file has about 360 `set` lines."""
    position, (name, state, roller) = MET[index]
    rng = random.Random(index)
    own, text, shown = encoded(*position), "", []
    for dice in ROLLS:
        after = results(state, dice, roller)
        text += f"{dice[0]}{dice[1]} {' '.join(after)}\n"
        if len(after) <= 40 and rng.random() < 360 / (len(QUOTAS) * 21 * QUOTAS[name]):
            shown.append(f"set {own} {dice[0]} {dice[1]} {' '.join(after)}")
    return f"{own} {fnv(text)[:12]}", shown


# Shared by all processes: the chance action of each roll, and the positions with their kinds.
ROLL_ACTION, MET = {}, []

if __name__ == "__main__":
    main()
