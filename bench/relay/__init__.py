"""Parts of the rows about relayed calls: an upstream, the LiteLLM proxy, and a client of streams."""
