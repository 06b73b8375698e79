"""Creates a month of plausible history in a fresh installation, so that every page has something to show."""
