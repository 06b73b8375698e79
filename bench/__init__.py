"""`make bench`: measures the service, mostly as ratios to references that run in turn with it. See
docs/performance.md."""
