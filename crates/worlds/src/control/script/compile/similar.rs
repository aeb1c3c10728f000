//! Names that are similar to a name that does not exist.

/// Returns the name that is most similar to `name`, if the two differ by at most two letters. The limit is one letter if `name` has fewer
/// than six letters. Names of one letter are never returned.
pub fn similar<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let most = if name.len() < 6 { 1 } else { 2 };
    names.map(|other| (distance(name, other), other)).filter(|(distance, other)| *distance <= most && other.len() > 1).min().map(|(_, n)| n)
}

/// Returns the number of letters that must be inserted, deleted or replaced to change one name into another. Two swapped neighbours count
/// as one letter.
fn distance(a: &str, b: &str) -> usize {
    let [a, b] = [a, b].map(|name| name.chars().collect::<Vec<_>>());
    let mut table = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            table[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = table[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let swapped = if is_swap { table[i - 2][j - 2] + 1 } else { replaced };
                replaced.min(swapped).min(table[i - 1][j] + 1).min(table[i][j - 1] + 1)
            };
        }
    }
    table[a.len()][b.len()]
}
