//! A binary heap whose comparison may fail, because comparing reads files.
//!
//! Input: items, and a function that says which comes first. Output: the first item. Does not depend on the
//! meaning of items.

use crate::error::Result;

/// A heap that gives access to its first item.
#[derive(Clone, Debug)]
pub(crate) struct Heap<T> {
    items: Vec<T>,
}

impl<T> Heap<T> {
    pub(crate) fn new() -> Heap<T> {
        Heap { items: Vec::new() }
    }

    pub(crate) fn first(&self) -> Option<&T> {
        self.items.first()
    }

    pub(crate) fn push(&mut self, item: T, is_before: impl Fn(&T, &T) -> Result<bool>) -> Result<()> {
        self.items.push(item);
        let mut place = self.items.len() - 1;
        while place > 0 {
            let above = (place - 1) / 2;
            if !is_before(&self.items[place], &self.items[above])? {
                break;
            }
            self.items.swap(place, above);
            place = above;
        }
        Ok(())
    }

    /// Replaces the first item, or removes it if there is no new one.
    pub(crate) fn replace_first(
        &mut self,
        item: Option<T>,
        is_before: impl Fn(&T, &T) -> Result<bool>,
    ) -> Result<()> {
        match item {
            Some(item) => self.items[0] = item,
            None => drop(self.items.swap_remove(0)),
        }
        let mut place = 0;
        loop {
            let mut least = place;
            for below in [2 * place + 1, 2 * place + 2] {
                if below < self.items.len() && is_before(&self.items[below], &self.items[least])? {
                    least = below;
                }
            }
            if least == place {
                return Ok(());
            }
            self.items.swap(place, least);
            place = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_come_in_order(items in prop::collection::vec(0_u32..50, 0..40)) {
            let is_before = |left: &u32, right: &u32| Ok(left < right);
            let mut heap = Heap::new();
            for &item in &items {
                heap.push(item, is_before).unwrap();
            }
            let mut found = Vec::new();
            while let Some(&first) = heap.first() {
                found.push(first);
                // Every fifth goes back in, larger.
                let again = (first % 5 == 0).then_some(first + 51);
                heap.replace_first(again, is_before).unwrap();
            }
            let mut expected = items.clone();
            expected.extend(items.iter().filter(|&&item| item % 5 == 0).map(|&item| item + 51));
            // 51 more than a multiple of 5 is not a multiple of 5.
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
