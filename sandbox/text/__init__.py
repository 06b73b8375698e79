"""Text in the protocols of OpenAI, Anthropic and Google: one answer and one bill, in each protocol's format.

The answer echoes the last text of the user, or the tool result if that came last, without the words in brackets. A
stream has a frame for each word. With `[words=N]` the answer is repeated or cut to N words. It ends at the request's
limit, thoughts included. Several answers to one call are all the same.

With tools, `[tool]` or a `tool_choice` that demands it calls the first tool, or the named one. Its arguments have each
property of its schema: the echo for a string, 1 for a number.

A token is a word: anything between white space, including words in brackets. The input counts all texts of instructions
and messages, 258 tokens for a picture or another file, and only the texts of tools and tool results. The output counts
the words of all answers and the tokens of thought. A tool call counts one token for its name and one for each word of
its arguments.
"""
