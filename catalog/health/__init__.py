"""How channels fare: what answers and refusals say about a channel, its credentials and its models; what rests for
that, for whom and until when; and how it comes back."""
