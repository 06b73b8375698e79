"""Text in the protocols of OpenAI, Anthropic and Google: one answer and one bill, told in their ways.

The answer echoes the last text of the user, or the result of a tool if that came last, without the words in brackets.
A stream has a frame for each word of it. With `[words=N]` it is repeated or cut to N words. It ends where the limit of
the request is reached, thoughts included. Each of several answers to one call says the same.

Where tools were given, `[tool]` or a `tool_choice` that demands it makes a call of the first one, or of the one that is
named. Its arguments have each property of its schema: the echo for a string, 1 for a number.

A token is a word: what stands between white space, words in brackets too. All texts of the instructions and messages go
in, a picture or another file is 258 tokens, tools and results of tools are none but for their texts. Out come the words
of all answers and the tokens of thought. A tool call is one token for its name and one for each word of its arguments.
"""
