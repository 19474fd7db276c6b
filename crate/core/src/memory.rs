//! Memory that is asked for before it is used, so that a size nobody can have is an error and not an abort.

use crate::error::Error;
use alloc::{string::ToString, vec::Vec};
use core::mem::size_of;

/// From this many bytes on, an allocation leaves a margin for the small ones that follow, which are not refused one
/// by one.
const LARGE: f64 = 65536.0;
const MARGIN: usize = 1 << 19;

/// An empty list with room for `cells` values.
///
/// # Errors
/// [`Error::OutOfMemory`], with what the memory was for.
pub(crate) fn reserved<T>(what: &str, cells: f64) -> Result<Vec<T>, Error> {
    let bytes = cells * size_of::<T>() as f64;
    let refused = || Error::OutOfMemory { what: what.to_string(), bytes };
    // From 2^53 on the count is not exact any more; far below that nothing can be allocated anyway.
    if bytes >= (isize::MAX as f64).min(9e15) {
        return Err(refused());
    }
    let mut out = Vec::new();
    out.try_reserve_exact(cells as usize).map_err(|_| refused())?;
    if bytes >= LARGE {
        // Gone again at once: it only has to be there.
        Vec::<u8>::new().try_reserve_exact(MARGIN).map_err(|_| refused())?;
    }
    Ok(out)
}

/// `cells` default values.
///
/// # Errors
/// As [`reserved`].
pub(crate) fn zeroed<T: Clone + Default>(what: &str, cells: f64) -> Result<Vec<T>, Error> {
    let mut out = reserved(what, cells)?;
    out.resize(cells as usize, T::default());
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_past_every_integer_is_refused() {
        assert_eq!(zeroed::<f64>("x", 1e30).unwrap_err().code(), "out_of_memory");
        assert_eq!(zeroed::<f64>("x", 3.0).unwrap(), [0.0; 3]);
    }
}
