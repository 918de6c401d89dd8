//! How costs grow: with the entries of a list, and with the objects that live in the simulated adapter.

use std::path::Path;

use crate::plot::Series;
use crate::programs::Program;

/// Lengths of lists.
const ENTRIES: [u32; 9] = [1, 4, 16, 64, 256, 1024, 2048, 8192, 16384];
/// Numbers of objects.
const OBJECTS: [u32; 7] = [1, 10, 100, 300, 1000, 3000, 10000];

/// A line through zero, by least squares.
///
/// # Panics
/// There are no points.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    let (xy, xx) = points.iter().fold((0.0, 0.0), |(xy, xx), (x, y)| (xy + x * y, xx + x * x));
    assert!(xx > 0.0, "a line needs points");
    xy / xx
}

/// The largest distance of a point from the line, as a part of what the line has there; of points from
/// `from` on, because what a command costs without a list is no growth.
pub fn deviation(points: &[(f64, f64)], slope: f64, from: f64) -> f64 {
    let part = |(x, y): &(f64, f64)| (y / (x * slope) - 1.0).abs();
    points.iter().filter(|(x, _)| *x >= from).map(part).fold(0.0, f64::max)
}

fn series(name: &str, points: Vec<(f64, f64)>) -> Series {
    let slope = Some(slope(&points));
    Series { name: name.to_owned(), points, slope }
}

/// Instructions against entries: of a case of ours, and of that in C.
pub fn lists(ours: &Program, c: &Program, scratch: &Path) -> Vec<(&'static str, [Series; 2])> {
    let counted: Vec<_> = ENTRIES
        .iter()
        .map(|entries| {
            let arguments = ["grow", &entries.to_string()];
            (f64::from(*entries), ours.count(&arguments, scratch), c.count(&arguments, scratch))
        })
        .collect();
    let cases = [
        ("MODIFY_RQT", "modify_rqt", "modify_rqt"),
        ("CREATE_MKEY", "create_mkey", "create_mkey"),
        ("QUERY_RQT", "query_rqt_bytes", "query_rqt"),
    ];
    cases
        .into_iter()
        .map(|(title, our_case, c_case)| {
            let ours = counted.iter().map(|(n, ours, _)| (*n, ours.cost(our_case) as f64));
            let c = counted.iter().map(|(n, _, c)| (*n, c.cost(c_case) as f64));
            (title, [series("ours", ours.collect()), series("C", c.collect())])
        })
        .collect()
}

/// Instructions of so many commands against objects that live in the simulated adapter.
pub fn objects(live: &Program, scratch: &Path) -> Vec<Series> {
    let counted: Vec<_> = OBJECTS
        .iter()
        .map(|n| (f64::from(*n), live.count_functions(&[&n.to_string()], scratch)))
        .collect();
    ["create_all", "modify_all", "query_all", "destroy_all"]
        .iter()
        .zip(["CREATE_CQ", "MODIFY_CQ", "QUERY_CQ", "DESTROY_CQ"])
        .map(|(function, name)| {
            series(name, counted.iter().map(|(n, costs)| (*n, costs[*function] as f64)).collect())
        })
        .collect()
}
