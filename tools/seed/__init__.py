"""A month of plausible history for a fresh installation, so that every page has something to show."""
