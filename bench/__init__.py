"""`make bench`: how fast the service is, as ratios to references that run in turn with it. See docs/performance.md."""
