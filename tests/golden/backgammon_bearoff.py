"""Rolls that a side needs to bear off, and to bear off its first checker, by GNU Backgammon's one-sided bear-off database, for
crates/learn/tests/backgammon_bearoff.rs.

    apt-get install gnubg         # GNU Backgammon 1.07.001 made the committed file
    python tests/golden/backgammon_bearoff.py > tests/golden/backgammon_bearoff.txt

A line: position id (of a board where only the player who does not roll has checkers on), then the mean number of rolls, then
that until the first is off (0 where one is already), then the chance in percent to be done with each roll, from the first on.
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
