//! Opens the storage that an address names.

use super::Storage;
use super::address::{Address, Credentials};
use super::local::LocalStorage;
#[cfg(feature = "s3")]
use super::object::{Limits, ObjectStorage};
#[cfg(feature = "s3")]
use super::retry::Retry;
use super::retry::Told;
use crate::error::Result;
use crate::surroundings::Surroundings;
use disk::Disk;
use std::sync::Arc;
use std::time::Duration;

/// What is needed to open a storage, besides its address.
#[derive(Clone)]
pub struct StorageOptions {
    /// The disk that a directory is on.
    pub disk: Arc<dyn Disk>,
    /// For object stores.
    pub credentials: Credentials,
    /// How long an object store may stay silent before a request is repeated; usually
    /// [`IDLE_MAX`](super::address::IDLE_MAX).
    pub idle_max: Duration,
    /// Is told why there is a wait.
    pub told: Told,
}

/// Opens the storage at `address`. Sends no request yet.
///
/// # Errors
/// [`Error::Unsupported`](crate::Error::Unsupported) for an object store in a program that was built without
/// them; [`Error::NoKeys`](crate::Error::NoKeys) if credentials are missing.
pub fn open_storage(
    address: &Address,
    means: &StorageOptions,
    surroundings: &Surroundings,
) -> Result<Arc<dyn Storage>> {
    match address {
        Address::Local(root) => Ok(Arc::new(LocalStorage::new(Arc::clone(&means.disk), root.clone()))),
        #[cfg(feature = "s3")]
        Address::S3(place) => {
            let limits = Limits { idle_max: means.idle_max, ..Limits::default() };
            let storage = ObjectStorage::new(place, &means.credentials, limits)?;
            Ok(Arc::new(Retry::new(storage, surroundings, Arc::clone(&means.told))))
        }
        #[cfg(not(feature = "s3"))]
        Address::S3(_) => {
            let _ = surroundings;
            let what = "this program was built without object stores (feature s3)".to_owned();
            Err(crate::error::Error::Unsupported { file: address.to_string(), what })
        }
    }
}
