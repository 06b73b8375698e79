"""What the rows about relayed calls need: an upstream, the proxy that we are compared with, and a client of streams."""
