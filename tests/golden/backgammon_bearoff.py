"""Number of rolls until a side has borne off all checkers and its first checker, from GNU Backgammon's one-sided bear-off database,
for crates/learn/tests/learn/backgammon/bearoff.rs.

    apt-get install gnubg         # GNU Backgammon 1.07.001 made the committed file
    python tests/golden/backgammon_bearoff.py > tests/golden/backgammon_bearoff.txt

A line contains, in order: the position id of a board on which only the player who is not on roll has checkers; the mean number of
rolls; the mean number of rolls until the first checker is off (0 if one is off already); the chance in percent to finish with
each roll, from the first on.
"""

import random
import re
import subprocess

DUMP = ["/usr/games/bearoffdump", "/usr/share/gnubg/gnubg_os0.bd", "-n"]
POSITIONS = 54264
WITH_ALL = 38760

random.seed(5)
few = random.sample(range(1, WITH_ALL), 80)
all_on = random.sample(range(WITH_ALL, POSITIONS), 40)
for index in [1, 2, 6, POSITIONS - 1] + sorted(few + all_on):
    text = subprocess.run(DUMP + [str(index)], capture_output=True, text=True, check=True).stdout
    name = re.search(r"Position ID: (\S+)", text)[1]
    mean, first = re.search(r"^Mean\s+\S+\s+(\S+)\s+\S+\s+(\S+)", text, re.M).groups()
    table = text[text.index("Bearing at least") : text.index("Average rolls")]
    chances = re.findall(r"^ +\d+\t *\S+\t *(\S+)", table, re.M)
    print(name, mean, first, *chances[1:])
