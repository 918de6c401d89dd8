//! The handles that are given out, and what is found by them: at a cost that does not grow with what
//! lives.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::BuildHasherDefault;

use mlx5_devx::Handle;

/// A map by numbers that the adapter gives out. It hashes them the same in every run.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// What handles stand for. The lowest that is free is given out, as the kernel does; the kernel begins
/// with 0, and this with 1.
#[derive(Debug)]
pub(crate) struct Handles<T> {
    /// That of handle 1 first.
    slots: Vec<Option<T>>,
    /// Places of `slots` that are empty.
    free: BTreeSet<usize>,
}

impl<T> Default for Handles<T> {
    fn default() -> Self {
        Handles { slots: Vec::new(), free: BTreeSet::new() }
    }
}

impl<T> Handles<T> {
    /// The lowest handle that is free.
    #[cfg(any(feature = "uverbs", test))]
    pub(crate) fn next(&self) -> Handle {
        handle(self.free.first().copied().unwrap_or(self.slots.len()))
    }

    /// Gives out the lowest handle that is free.
    pub(crate) fn insert(&mut self, object: T) -> Handle {
        let at = self.free.pop_first().unwrap_or(self.slots.len());
        match self.slots.get_mut(at) {
            Some(slot) => *slot = Some(object),
            None => self.slots.push(Some(object)),
        }
        handle(at)
    }

    pub(crate) fn get(&self, handle: Handle) -> Option<&T> {
        self.slots.get(place(handle)?)?.as_ref()
    }

    pub(crate) fn remove(&mut self, handle: Handle) -> Option<T> {
        let at = place(handle)?;
        let object = self.slots.get_mut(at)?.take()?;
        self.free.insert(at);
        Some(object)
    }

    /// All, by handle.
    #[cfg(feature = "uverbs")]
    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = (Handle, &T)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(at, slot)| slot.as_ref().map(|object| (handle(at), object)))
    }
}

fn handle(place: usize) -> Handle {
    Handle(place as u64 + 1)
}

fn place(handle: Handle) -> Option<usize> {
    usize::try_from(handle.0.checked_sub(1)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_handle_is_given_out() {
        let mut handles = Handles::default();
        assert_eq!(handles.next(), Handle(1));
        for n in 1..=4 {
            assert_eq!(handles.insert(n), Handle(n));
        }
        assert_eq!(handles.remove(Handle(3)), Some(3));
        assert_eq!(handles.remove(Handle(3)), None, "it is gone");
        assert_eq!(handles.remove(Handle(1)), Some(1));
        assert_eq!((handles.get(Handle(1)), handles.get(Handle(2))), (None, Some(&2)));
        assert_eq!(handles.next(), Handle(1));
        let again: Vec<_> = (5..8).map(|n| handles.insert(n)).collect();
        assert_eq!(again, [Handle(1), Handle(3), Handle(5)]);
    }

    #[test]
    fn what_was_never_given_out_stands_for_nothing() {
        let mut handles = Handles::default();
        handles.insert(());
        for stray in [0, 2, u64::MAX] {
            assert_eq!(handles.get(Handle(stray)), None);
            assert_eq!(handles.remove(Handle(stray)), None);
        }
        assert_eq!(handles.next(), Handle(2));
    }
}
