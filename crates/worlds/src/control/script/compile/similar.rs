//! Names that are similar to a name that does not exist.

/// Returns the name that is most similar to `name`, if the two differ by at most two letters. The limit is one letter if `name` has fewer
/// than six letters. Names of one letter are never returned.
pub fn similar<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let most = if name.len() < 6 { 1 } else { 2 };
    let near = names.filter(|other| other.len() > 1 && name.len().abs_diff(other.len()) <= most);
    let mut rows = Default::default();
    near.map(|other| (distance(name, other, &mut rows), other)).filter(|(distance, _)| *distance <= most).min().map(|(_, name)| name)
}

/// Returns the number of letters that must be inserted, deleted or replaced to change one name into another. Two swapped neighbours count
/// as one letter. `rows` contains rows of numbers of earlier calls.
fn distance(a: &str, b: &str, rows: &mut [Vec<usize>; 3]) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let [earlier, before, row] = rows;
    for i in 0..=a.len() {
        row.clear();
        for j in 0..=b.len() {
            let next = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = before[j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                let swapped = if is_swap { earlier[j - 2] + 1 } else { replaced };
                replaced.min(swapped).min(before[j] + 1).min(row[j - 1] + 1)
            };
            row.push(next);
        }
        std::mem::swap(earlier, before);
        std::mem::swap(before, row);
    }
    before[b.len()]
}
