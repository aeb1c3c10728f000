//! Grids of binary cells: rules of a cell and its eight neighbours, pictures to grow, drawings from text, and damage. The cells of a 3x3
//! neighbourhood are numbered row by row: north-west is 0, the cell itself is 4, and south-east is 8.

use math::rng::Sequence;

/// Grid of cells with one or more channels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    pub channels: usize,
    pub width: usize,
    pub height: usize,
    /// Bytes 0 or 1, `[channel][row][column]`.
    pub cells: Vec<u8>,
}

/// Error of a drawing, a rule or damage. The text is the problem, a semicolon and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GridError {
    #[error("the drawing is empty; draw rows of . and # separated by /, as in .#./###/.#.")]
    Empty,
    #[error("row {row} of the drawing has {width} cells, the first row {first}; make all rows equally long")]
    Ragged { row: usize, width: usize, first: usize },
    #[error("row {row} of the drawing has the invalid cell '{character}'; use {usable}")]
    Character { row: usize, character: char, usable: &'static str },
    #[error("'{text}' is not a rule; {next}")]
    Rule { text: String, next: &'static str },
    #[error("({x}, {y}) is outside the grid of {width}x{height}; choose a column below {width} and a row below {height}")]
    Outside { x: usize, y: usize, width: usize, height: usize },
}

const ONE_BIT: &str = ". (or 0) for off and # (or 1) for on";
const COLOURS: &str = ". (or 0) for black, 1 red, 2 green, 3 yellow, 4 blue, 5 magenta, 6 cyan and 7 (or #) for white";

impl Grid {
    pub fn blank(channels: usize, width: usize, height: usize) -> Grid {
        Grid { channels, width, height, cells: vec![0; channels * width * height] }
    }

    /// Creates a grid of random bits.
    pub fn random(channels: usize, width: usize, height: usize, random: &mut Sequence) -> Grid {
        let mut grid = Grid::blank(channels, width, height);
        grid.cells.iter_mut().for_each(|cell| *cell = (random.word() >> 31) as u8);
        grid
    }

    /// Creates a grid that is blank except for the middle cell, whose channels are all on.
    pub fn seed(channels: usize, width: usize, height: usize) -> Grid {
        let mut grid = Grid::blank(channels, width, height);
        for channel in 0..channels {
            let middle = grid.index(channel, width / 2, height / 2);
            grid.cells[middle] = 1;
        }
        grid
    }

    pub fn index(&self, channel: usize, x: usize, y: usize) -> usize {
        (channel * self.height + y) * self.width + x
    }

    /// Returns the first `shown` channels of each cell as one number, in which bit k is channel k. If three channels are a colour, 1 is
    /// red, 2 green and 4 blue.
    pub fn values(&self, shown: usize) -> Vec<u8> {
        let size = self.width * self.height;
        let value = |i| (0..shown.min(self.channels)).map(|channel| self.cells[channel * size + i] << channel).sum();
        (0..size).map(value).collect()
    }

    /// Parses a drawing, whose rows are separated by `/` or line ends. With one channel, a cell is `.` or `#`, or 0 or 1. With several
    /// channels, a cell is `.`, `#` or a digit of [`Grid::values`]. A drawing determines at most the first three channels, and `#` turns
    /// all of these on. Further channels are off.
    pub fn draw(text: &str, channels: usize) -> Result<Grid, GridError> {
        let text = text.trim().trim_matches('/').trim();
        let rows: Vec<Vec<char>> = text.split(['/', '\n']).map(|row| row.trim().chars().collect()).collect();
        let (width, height) = (rows[0].len(), rows.len());
        if rows.iter().all(|row| row.is_empty()) {
            return Err(GridError::Empty);
        }
        // Equal widths ensure that a short text cannot allocate a large grid.
        if let Some(y) = rows.iter().position(|row| row.len() != width) {
            return Err(GridError::Ragged { row: y + 1, width: rows[y].len(), first: width });
        }
        let most = (1u32 << channels.min(3)) - 1;
        let mut grid = Grid::blank(channels, width, height);
        for (y, row) in rows.iter().enumerate() {
            for (x, &character) in row.iter().enumerate() {
                let value = match character {
                    '.' => Some(0),
                    '#' => Some(most),
                    _ => character.to_digit(10).filter(|&value| value <= most),
                };
                let Some(value) = value else {
                    let usable = if channels == 1 { ONE_BIT } else { COLOURS };
                    return Err(GridError::Character { row: y + 1, character, usable });
                };
                for channel in 0..channels.min(3) {
                    let cell = grid.index(channel, x, y);
                    grid.cells[cell] = (value >> channel & 1) as u8;
                }
            }
        }
        Ok(grid)
    }

    /// Writes the first `shown` channels as a drawing. A cell is `.` or `#` for one channel, and `.` or a digit of [`Grid::values`] for
    /// several channels.
    pub fn text(&self, shown: usize) -> String {
        let values = self.values(shown);
        let digit = |&value: &u8| match (value, shown) {
            (0, _) => '.',
            (_, 1) => '#',
            _ => char::from(b'0' + value),
        };
        let rows: Vec<String> = values.chunks(self.width.max(1)).map(|row| row.iter().map(digit).collect()).collect();
        rows.join("/")
    }

    /// Damages all channels of the cells in an area. The method ignores parts of the area outside the grid. Returns an error if the area's
    /// point (x, y) is outside the grid.
    pub fn damage(&mut self, area: Area, how: Damage, random: &mut Sequence) -> Result<(), GridError> {
        let (Area::Disc { x, y, .. } | Area::Block { x, y, .. }) = area;
        let (width, height) = (self.width, self.height);
        if x >= width || y >= height {
            return Err(GridError::Outside { x, y, width, height });
        }
        for channel in 0..self.channels {
            for row in 0..height {
                for column in area.columns(row, width) {
                    let i = self.index(channel, column, row);
                    let cell = &mut self.cells[i];
                    *cell = match how {
                        Damage::Blank => 0,
                        Damage::Noise => (random.word() >> 31) as u8,
                        Damage::Flip => 1 - *cell,
                    };
                }
            }
        }
        Ok(())
    }
}

/// Area to damage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Area {
    /// Cells within the distance `radius` of (x, y).
    Disc { x: usize, y: usize, radius: usize },
    /// A rectangle; (x, y) is its north-west corner.
    Block { x: usize, y: usize, width: usize, height: usize },
}

impl Area {
    /// Returns the columns of the row `row` that are in the area. `width` is the width of the grid.
    pub fn columns(self, row: usize, width: usize) -> impl Iterator<Item = usize> {
        (0..width).filter(move |&column| self.holds(column, row))
    }

    fn holds(self, column: usize, row: usize) -> bool {
        match self {
            Area::Disc { x, y, radius } => {
                let (across, down) = (column.abs_diff(x) as u128, row.abs_diff(y) as u128);
                across * across + down * down <= (radius as u128).pow(2)
            }
            Area::Block { x, y, width, height } => column >= x && column - x < width && row >= y && row - y < height,
        }
    }
}

/// Effect of damage on a bit: turned off, set at random, or inverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    Blank,
    Noise,
    Flip,
}

/// Rule of an automaton with one channel: the next value of a cell for every state of the cell's 3x3 neighbourhood. Bit k of a state is the
/// cell with number k.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Next value of the cell for each state, one bit per state.
    table: [u64; Rule::STATES / 64],
}

impl Rule {
    pub const STATES: usize = 512;

    /// Returns Conway's Game of Life.
    pub fn life() -> Rule {
        Rule::counted(1 << 3, 1 << 2 | 1 << 3)
    }

    fn new(next: impl Fn(usize) -> bool) -> Rule {
        let bits = |word: usize| (0..64).fold(0, |bits, bit| bits | u64::from(next(64 * word + bit)) << bit);
        Rule { table: std::array::from_fn(bits) }
    }

    /// Creates a rule that counts the active neighbours of a cell. With n active neighbours, an inactive cell turns on if bit n of `born`
    /// is set, and an active cell stays on if bit n of `stays` is set.
    fn counted(born: u32, stays: u32) -> Rule {
        Rule::new(|state| {
            let neighbours = (state & !(1 << 4)).count_ones();
            (if state >> 4 & 1 == 1 { stays } else { born }) >> neighbours & 1 == 1
        })
    }

    /// Parses a rule such as `B3/S23`, or a table of 128 hexadecimal digits. The first digit contains the next values for states 0 to 3,
    /// with state 0 in its lowest bit.
    pub fn parse(text: &str) -> Result<Rule, GridError> {
        let text = text.trim();
        let refused = |next| Err(GridError::Rule { text: text.chars().take(40).collect(), next });
        if text.len() == Rule::STATES / 4
            && let Some(digits) = text.chars().map(|digit| digit.to_digit(16)).collect::<Option<Vec<u32>>>()
        {
            return Ok(Rule::new(|state| digits[state / 4] >> (state % 4) & 1 == 1));
        }
        let Some((born, stays)) = text.split_once('/') else {
            return refused("enter births and survivals as in B3/S23, or a table of 512 bits as 128 hexadecimal digits");
        };
        let counts = |part: &str, letter: char| {
            let digits = part.strip_prefix([letter, letter.to_ascii_lowercase()])?;
            digits.chars().try_fold(0u32, |counts, digit| digit.to_digit(10).filter(|&count| count <= 8).map(|count| counts | 1 << count))
        };
        match (counts(born, 'B'), counts(stays, 'S')) {
            (Some(born), Some(stays)) => Ok(Rule::counted(born, stays)),
            (None, _) => refused("begin with B and the neighbour counts for births, 0 to 8, as in B3/S23"),
            (_, None) => refused("after the slash, enter S and the neighbour counts for survival, 0 to 8, as in B3/S23"),
        }
    }

    /// Returns the next value of a cell whose neighbourhood has the state `state`.
    pub fn next(&self, state: usize) -> bool {
        self.table[state / 64] >> (state % 64) & 1 == 1
    }

    /// Returns the grid after one step. `grid` must have one channel. Cells outside the grid are off, unless the grid is periodic.
    pub fn step(&self, grid: &Grid, periodic: bool) -> Grid {
        let mut next = grid.clone();
        for y in 0..grid.height {
            for x in 0..grid.width {
                let bit = |k: usize| usize::from(neighbour(grid, periodic, 0, x, y, k)) << k;
                next.cells[grid.index(0, x, y)] = u8::from(self.next((0..9).map(bit).sum()));
            }
        }
        next
    }
}

/// Returns the column and the row of one neighbour of the cell (x, y). `neighbour` is a number from 0 to 8. Returns `None` if the neighbour
/// is outside a grid that is not periodic.
pub fn beside((width, height): (usize, usize), periodic: bool, (x, y): (usize, usize), neighbour: usize) -> Option<(usize, usize)> {
    let along = |at: usize, step: usize, size: usize| match (at + step).checked_sub(1) {
        Some(to) if to < size => Some(to),
        _ if periodic => Some((at + step + size - 1) % size),
        _ => None,
    };
    along(x, neighbour % 3, width).zip(along(y, neighbour / 3, height))
}

/// Returns the bit of one neighbour of the cell (x, y). `neighbour` is a number from 0 to 8. Returns 0 if the neighbour is outside a grid
/// that is not periodic.
pub fn neighbour(grid: &Grid, periodic: bool, channel: usize, x: usize, y: usize, neighbour: usize) -> u8 {
    let place = beside((grid.width, grid.height), periodic, (x, y), neighbour);
    place.map_or(0, |(x, y)| grid.cells[grid.index(channel, x, y)])
}

/// Returns a checkerboard of squares with `square` cells per side. The square in the north-west corner is off.
pub fn checkerboard(width: usize, height: usize, square: usize) -> Grid {
    let mut grid = Grid::blank(1, width, height);
    for (i, cell) in grid.cells.iter_mut().enumerate() {
        *cell = ((i % width / square + i / width / square) % 2) as u8;
    }
    grid
}

/// Returns a lizard of 20x20 cells with one channel.
pub fn lizard() -> Grid {
    Grid::draw(LIZARD, 1).expect("the drawing is valid")
}

/// Returns a coloured letter G of 16x16 cells with three channels.
pub fn colour_g() -> Grid {
    Grid::draw(COLOUR_G, 3).expect("the drawing is valid")
}

/// Lizard from above.
const LIZARD: &str = "
....................
........##..........
.......####.........
.......####.........
..##....##....#.....
...#...####...##....
...##.######..#.....
....#########.#.....
......#####.###.....
.......####..#......
.......####.........
.......#####........
....########........
...##.#######.......
..##..#.#####.#.....
...#...####.###.....
......###...#.##....
.....##.............
.....#....##........
......#####.........
";

/// Letter G with a bow from red over yellow to green and a bar from white over cyan to blue.
const COLOUR_G: &str = "
................
.....111111.....
...1111111111...
..111155551111..
..1155....5511..
.1135.......5...
.133............
.333............
.333....777777..
.332....766666..
.322......6664..
.1222.....6644..
..2222...66444..
..222222444444..
...2222244444...
.....224444.....
";
