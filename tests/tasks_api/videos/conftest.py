"""Films in a storage of each kind."""

from tests.storage.conftest import any_storage, folder, s3, s3_backends, s3_endpoint, stored

__all__ = ["any_storage", "folder", "s3", "s3_backends", "s3_endpoint", "stored"]
