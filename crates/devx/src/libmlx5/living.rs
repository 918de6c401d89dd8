//! What libmlx5 may be called for, by address.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::{Errno, Handle};

/// Things of libmlx5 that are there, `K` being the kind of each. One that is used can't be ended
/// meanwhile, and the others don't wait for that.
pub(super) struct Living<K>(RwLock<BTreeMap<Handle, Arc<Life<K>>>>);

struct Life<K> {
    kind: K,
    /// Whether it is there still. Each call that uses it holds this to read, and the one that ends it
    /// to write.
    is_there: RwLock<bool>,
}

impl<K> Default for Living<K> {
    fn default() -> Self {
        Living(RwLock::default())
    }
}

impl<K: Copy + PartialEq> Living<K> {
    /// Adds what libmlx5 made just now. What had the same address is gone, though the call that ended
    /// it may not have come to take it out yet.
    pub(super) fn add(&self, handle: Handle, kind: K) {
        self.map_mut().insert(handle, Arc::new(Life { kind, is_there: RwLock::new(true) }));
    }

    /// Adds what was made elsewhere, and may have been added before.
    pub(super) fn adopt(&self, handle: Handle, kind: K) {
        let mut map = self.map_mut();
        // Where it is here, calls may be using it, for which its end must wait.
        if map.get(&handle).is_none_or(|life| life.kind != kind) {
            map.insert(handle, Arc::new(Life { kind, is_there: RwLock::new(true) }));
        }
    }

    pub(super) fn kind(&self, handle: Handle) -> Option<K> {
        self.map().get(&handle).map(|life| life.kind)
    }

    /// Does something with what has this address, and is of this kind.
    pub(super) fn with<T>(
        &self,
        handle: Handle,
        kind: K,
        call: impl FnOnce() -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let life = self.life(handle, kind)?;
        let is_there = life.is_there.read().unwrap_or_else(PoisonError::into_inner);
        if *is_there { call() } else { Err(Errno::NOENT) }
    }

    /// Ends it, once no call uses it any more; it stays when that fails.
    pub(super) fn end(
        &self,
        handle: Handle,
        kind: K,
        end: impl FnOnce() -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let life = self.life(handle, kind)?;
        let mut is_there = life.is_there.write().unwrap_or_else(PoisonError::into_inner);
        if !*is_there {
            return Err(Errno::NOENT);
        }
        end()?;
        *is_there = false;
        let mut map = self.map_mut();
        // Something new may have the address already.
        if map.get(&handle).is_some_and(|there| Arc::ptr_eq(there, &life)) {
            map.remove(&handle);
        }
        Ok(())
    }

    fn life(&self, handle: Handle, kind: K) -> Result<Arc<Life<K>>, Errno> {
        match self.map().get(&handle) {
            None => Err(Errno::NOENT),
            Some(life) if life.kind != kind => Err(Errno::INVAL),
            Some(life) => Ok(life.clone()),
        }
    }
}

impl<K> Living<K> {
    // The map is whole after a panic: each change is one call.
    fn map(&self) -> RwLockReadGuard<'_, BTreeMap<Handle, Arc<Life<K>>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn map_mut(&self) -> RwLockWriteGuard<'_, BTreeMap<Handle, Arc<Life<K>>>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: fmt::Debug> fmt::Debug for Living<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.map().iter().map(|(handle, life)| (handle, &life.kind))).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use super::*;

    const A: Handle = Handle(0x1000);
    const B: Handle = Handle(0x2000);

    #[test]
    fn what_is_not_there_or_of_another_kind_is_not_used() {
        let living = Living::default();
        living.add(A, 'q');
        assert_eq!(living.with(A, 'q', || Ok(7)), Ok(7));
        let never = || -> Result<(), Errno> { unreachable!("it is not called") };
        assert_eq!(living.with(A, 'c', never), Err(Errno::INVAL));
        assert_eq!(living.with(B, 'q', never), Err(Errno::NOENT));
        assert_eq!(living.end(A, 'c', never), Err(Errno::INVAL));
        assert_eq!(living.end(B, 'q', never), Err(Errno::NOENT));
        assert_eq!((living.kind(A), living.kind(B)), (Some('q'), None));
        assert_eq!(format!("{living:?}"), "{Handle(4096): 'q'}");

        assert_eq!(living.end(A, 'q', || Err(Errno::BUSY)), Err(Errno::BUSY));
        assert_eq!(living.with(A, 'q', || Ok(())), Ok(()), "it stays");
        assert_eq!(living.end(A, 'q', || Ok(())), Ok(()));
        assert_eq!(living.with(A, 'q', never), Err(Errno::NOENT));
    }

    #[test]
    fn while_one_is_ended_others_are_used_and_made() {
        let living = Living::default();
        living.add(A, ());
        living.add(B, ());
        let ended = living.end(A, (), || {
            // As another thread does.
            living.with(B, (), || Ok(()))?;
            living.add(Handle(0x3000), ());
            living.end(B, (), || Ok(()))
        });
        assert_eq!(ended, Ok(()));
        assert_eq!((living.kind(A), living.kind(B)), (None, None));
        assert_eq!(living.kind(Handle(0x3000)), Some(()));
    }

    #[test]
    fn what_is_new_at_an_address_stays() {
        let living = Living::default();
        living.add(A, ());
        // libmlx5 freed it, and gave its address to another thread before this one goes on.
        let ended = living.end(A, (), || {
            living.add(A, ());
            Ok(())
        });
        assert_eq!(ended, Ok(()));
        assert_eq!(living.with(A, (), || Ok(())), Ok(()));
    }

    /// Ends `A` while a call uses it: the end comes after the call.
    fn ends_after_its_call(living: &Living<()>, in_between: impl FnOnce()) {
        let (begun, in_use) = (Barrier::new(2), AtomicBool::new(true));
        thread::scope(|scope| {
            scope.spawn(|| {
                let used = living.with(A, (), || {
                    begun.wait();
                    thread::sleep(Duration::from_millis(50));
                    in_use.store(false, Ordering::SeqCst);
                    Ok(())
                });
                assert_eq!(used, Ok(()));
            });
            begun.wait();
            in_between();
            let end = living.end(A, (), || {
                assert!(!in_use.load(Ordering::SeqCst), "it is ended while it is used");
                Ok(())
            });
            assert_eq!(end, Ok(()));
        });
        assert_eq!(living.kind(A), None);
    }

    #[test]
    fn what_is_used_is_not_ended() {
        let living = Living::default();
        living.add(A, ());
        ends_after_its_call(&living, || {});
    }

    #[test]
    fn what_is_adopted_again_is_not_ended_while_it_is_used() {
        let living = Living::default();
        living.adopt(A, ());
        ends_after_its_call(&living, || living.adopt(A, ()));
    }

    #[test]
    fn what_is_adopted_takes_the_place_of_what_is_gone() {
        let living = Living::default();
        living.add(A, 'd');
        let ended = living.end(A, 'd', || {
            living.adopt(A, 'q');
            Ok(())
        });
        assert_eq!((ended, living.kind(A)), (Ok(()), Some('q')));
    }
}
