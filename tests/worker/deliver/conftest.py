"""Results in a bucket, too."""

from tests.storage.conftest import s3, s3_backends, s3_endpoint

__all__ = ["s3", "s3_backends", "s3_endpoint"]
