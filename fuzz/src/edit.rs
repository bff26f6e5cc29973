//! Changes to a file, read from fuzz input.
//!
//! Input: a file, and fuzz input. Output: the changed file. Does not know the file's format.

/// Applies the changes that `input` describes to `base`, or takes `input` itself as the file.
///
/// The first byte selects one of these. A change has five bytes (kind, place, length), and the bytes to write
/// or insert.
pub fn edited(base: &[u8], input: &[u8]) -> Vec<u8> {
    let Some((&kind, mut rest)) = input.split_first() else { return base.to_vec() };
    if kind % 4 == 0 {
        return rest.to_vec();
    }
    let mut file = base.to_vec();
    while let Some((head, after)) = rest.split_first_chunk::<5>() {
        rest = after;
        if file.is_empty() {
            break;
        }
        let place =
            (usize::from(head[1]) | usize::from(head[2]) << 8 | usize::from(head[3]) << 16) % file.len();
        let length = usize::from(head[4]);
        match head[0] % 4 {
            0 => overwrite(&mut file, place, take(&mut rest, length)),
            1 => drop(file.splice(place..place, take(&mut rest, length).iter().copied())),
            2 => drop(file.drain(place..(place + length).min(file.len()))),
            _ => file.truncate(place),
        }
    }
    file
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> &'a [u8] {
    let (taken, after) = rest.split_at(length.min(rest.len()));
    *rest = after;
    taken
}

fn overwrite(file: &mut [u8], place: usize, bytes: &[u8]) {
    for (old, &new) in file[place..].iter_mut().zip(bytes) {
        *old = new;
    }
}
