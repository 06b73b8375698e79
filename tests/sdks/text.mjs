// What programs do with the three vendors' packages of npm and a general key: one function for each call, which fails
// where it goes wrong. `node text.mjs` makes every call. Addresses and keys stand in PLACE.
import assert from "node:assert/strict";
import Anthropic from "@anthropic-ai/sdk";
import { ApiError, GoogleGenAI } from "@google/genai";
import OpenAI from "openai";

const { url, sandbox_url, keys } = JSON.parse(process.env.PLACE);
const TEXT = "aurora-text";
const FOX = "a fox in the snow";

const chats = (key = "openai") => new OpenAI({ baseURL: `${url}/v1`, apiKey: keys[key] ?? key });
const claude = (key = "anthropic") => new Anthropic({ baseURL: url, apiKey: keys[key] ?? key });
const gemini = (key = "gemini", more = {}) =>
  new GoogleGenAI({ apiKey: keys[key] ?? key, httpOptions: { baseUrl: url, ...more } });

const asked = (content = FOX) => ({ model: TEXT, messages: [{ role: "user", content }] });
const told = (content = FOX) => ({ ...asked(content), max_tokens: 100 });

async function all(stream) {
  const items = [];
  for await (const item of await stream) items.push(item);
  return items;
}

async function refused(kind, status, ask) {
  const error = await ask().then(
    (answer) => assert.fail(`no ${kind.name} but ${JSON.stringify(answer).slice(0, 200)}`),
    (raised) => raised,
  );
  assert.ok(error instanceof kind, error);
  if (status) assert.equal(error.status, status, error);
  return error;
}

async function bought(prompt) {
  const audit = await (await fetch(`${sandbox_url}/audit`)).json();
  return audit.by_prompt[prompt] ?? 0;
}

const calls = {
  async "openai: a chat is answered and streamed"() {
    const answer = await chats().chat.completions.create(asked());
    assert.deepEqual([answer.choices[0].message.content, answer.usage.total_tokens, answer.model], [FOX, 10, TEXT]);
    const chunks = await all(chats().chat.completions.create({ ...asked(), stream: true }));
    assert.equal(chunks.map((chunk) => chunk.choices[0].delta.content ?? "").join(""), FOX);
    const whole = await chats().chat.completions.stream(asked()).finalChatCompletion();
    assert.equal(whole.choices[0].message.content, FOX);
  },

  async "openai: a response is answered and streamed"() {
    const answer = await chats().responses.create({ model: TEXT, input: FOX });
    assert.equal(answer.output_text, FOX);
    const whole = await chats().responses.stream({ model: TEXT, input: FOX }).finalResponse();
    assert.deepEqual([whole.output_text, whole.usage.total_tokens], [FOX, 10]);
  },

  async "openai: models are listed and pictures are made"() {
    assert.ok((await all(chats().models.list())).some((model) => model.id === TEXT));
    const { data } = await chats().images.generate({ model: "gpt-image-2", prompt: FOX, n: 2 });
    assert.equal(data.length, 2);
  },

  async "openai: errors have their classes"() {
    const ask = (key, more) => () => chats(key).chat.completions.create({ ...asked(), ...more });
    await refused(OpenAI.AuthenticationError, 401, ask("dr-gen-of-nobody"));
    await refused(OpenAI.PermissionDeniedError, 403, ask("task"));
    await refused(OpenAI.NotFoundError, 404, ask("openai", { model: "nothing-1" }));
    const lost = `a lost ${Date.now()} [reset]`;
    await refused(OpenAI.InternalServerError, 0, ask("openai", asked(lost)));
    assert.equal(await bought(lost), 1);
    await refused(OpenAI.APIError, 0, () => all(ask("openai", { ...asked(`${FOX} [cut]`), stream: true })()));
  },

  async "anthropic: a message is answered and streamed"() {
    const answer = await claude().messages.create(told());
    assert.deepEqual([answer.content[0].text, answer.model, answer.usage.output_tokens], [FOX, TEXT, 5]);
    const whole = await claude().messages.stream(told()).finalMessage();
    assert.deepEqual([whole.content[0].text, whole.usage.input_tokens], [FOX, 5]);
    assert.equal((await claude().messages.countTokens(asked())).input_tokens, 5);
    assert.ok((await all(claude().models.list())).some((model) => model.id === TEXT));
  },

  async "anthropic: errors have their classes"() {
    const ask = (key, more) => () => claude(key).messages.create({ ...told(), ...more });
    await refused(Anthropic.AuthenticationError, 401, ask("dr-gen-of-nobody"));
    await refused(Anthropic.PermissionDeniedError, 403, ask("task"));
    await refused(Anthropic.NotFoundError, 404, ask("anthropic", { model: "nothing-1" }));
    await refused(Anthropic.APIError, 0, () => all(ask("anthropic", { ...told(`${FOX} [cut]`), stream: true })()));
  },

  async "google: a content is answered and streamed, in both versions"() {
    for (const more of [{}, { apiVersion: "v1beta" }]) {
      const { models } = gemini("gemini", more);
      const answer = await models.generateContent({ model: TEXT, contents: FOX });
      assert.deepEqual([answer.text, answer.usageMetadata.totalTokenCount], [FOX, 10]);
      const pieces = await all(models.generateContentStream({ model: TEXT, contents: FOX }));
      assert.equal(pieces.map((piece) => piece.text ?? "").join(""), FOX);
      assert.equal((await models.countTokens({ model: TEXT, contents: FOX })).totalTokens, 5);
      assert.ok((await all(models.list())).some((model) => model.name === `models/${TEXT}`));
    }
  },

  async "google: errors have their class"() {
    const ask = (key, model = TEXT) => () => gemini(key).models.generateContent({ model, contents: FOX });
    await refused(ApiError, 401, ask("dr-gen-of-nobody"));
    await refused(ApiError, 403, ask("task"));
    await refused(ApiError, 404, ask("gemini", "nothing-1"));
    const cut = { model: TEXT, contents: `${FOX} [cut]` };
    await refused(Error, 0, () => all(gemini().models.generateContentStream(cut)));
  },
};

for (const [name, call] of Object.entries(calls)) {
  await call();
  console.log(`npm: ${name}`);
}
