"""Requests of the relay's clients, the same for all contenders: paths and bodies of chats, streams and pictures."""

import json

from bench.relay.upstream import CHAT_MODEL, IMAGE_MODEL

CHAT_PATH = "/v1/chat/completions"
IMAGES_PATH = "/v1/images/generations"
QUESTION = "Write two sentences about a fox before a mountain. " + "Keep to what can be seen from the hut. " * 16
MESSAGES = [{"role": "system", "content": "You are a helpful assistant."}, {"role": "user", "content": QUESTION}]
CHAT = {"model": CHAT_MODEL, "messages": MESSAGES, "max_tokens": 64, "temperature": 0.7}
CHAT_BODY = json.dumps(CHAT)
STREAM_BODY = json.dumps({**CHAT, "stream": True})
IMAGE_BODY = json.dumps({"model": IMAGE_MODEL, "prompt": QUESTION, "n": 1, "size": "1024x1024"})
