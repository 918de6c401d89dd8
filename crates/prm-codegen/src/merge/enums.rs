//! Enumerations: enumerators of several sources, each once.

use std::collections::HashMap;

use super::{Merged, add_source};
use crate::model::*;

impl Merged {
    /// Takes the enumerations of one source. An enumerator that is known joins what is known;
    /// the others of its enumeration go where the most known ones are.
    pub(super) fn enums(&mut self, source: &str, enums: Vec<Enumeration>) {
        for mut theirs in enums {
            for value in &mut theirs.values {
                if let Some(name) = value.name.strip_prefix("UCT_IB_MLX5_") {
                    value.name = format!("MLX5_{name}");
                }
            }
            let places: Vec<Option<(usize, usize)>> =
                theirs.values.iter().map(|v| self.find_value(&v.name)).collect();
            let home = self.home(&theirs, &places);
            for (value, place) in theirs.values.into_iter().zip(places) {
                let Some((e, v)) = place else {
                    let from = vec![source.to_owned()];
                    self.enums[home].values.push(EnumValue { from, ..value });
                    continue;
                };
                let ours = &mut self.enums[e].values[v];
                if ours.value == value.value {
                    add_source(&mut ours.from, source);
                    continue;
                }
                let (ours, theirs) = (number(ours.value), number(value.value));
                self.conflict(source, &value.origin, value.name, ours, theirs, "another number");
            }
            add_source(&mut self.enums[home].from, source);
        }
        self.enums.retain(|e| !e.values.is_empty());
    }

    fn find_value(&self, name: &str) -> Option<(usize, usize)> {
        self.enums
            .iter()
            .enumerate()
            .find_map(|(i, e)| e.values.iter().position(|v| v.name == name).map(|v| (i, v)))
    }

    /// The enumeration that new enumerators of `theirs` go to; made where there is none.
    fn home(&mut self, theirs: &Enumeration, places: &[Option<(usize, usize)>]) -> usize {
        let mut known: HashMap<usize, usize> = HashMap::new();
        for (e, _) in places.iter().flatten() {
            *known.entry(*e).or_default() += 1;
        }
        if let Some((home, _)) = known.into_iter().max_by_key(|(e, n)| (*n, usize::MAX - e)) {
            return home;
        }
        let base = theirs.name.replacen("uct_ib_mlx5", "mlx5", 1);
        let mut name = base.clone();
        let mut n = 1;
        while self.enums.iter().any(|e| e.name == name) {
            n += 1;
            name = format!("{base}_{n}");
        }
        self.enums.push(Enumeration {
            name,
            values: Vec::new(),
            from: Vec::new(),
            origin: theirs.origin.clone(),
        });
        self.enums.len() - 1
    }
}

fn number(value: i64) -> String {
    if value < 0 { value.to_string() } else { format!("0x{value:x}") }
}
