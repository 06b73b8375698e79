// What programs do with the package openai of npm: one function for each call, which fails where it goes wrong.
// `node calls.mjs` makes every call. Address and key stand in OPENAI_BASE_URL and OPENAI_API_KEY.
import assert from "node:assert/strict";
import OpenAI, { toFile } from "openai";
import { VERSION } from "openai/version";

const IMAGE = "aurora-image";
const FILM = "comet-video";
const FOX = "a fox in the snow";
const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

let attempts = 0;
const counting = (...request) => {
  attempts += 1;
  return fetch(...request);
};
const client = new OpenAI({ fetch: counting });

const dot = () => toFile(DOT, "dot.png", { type: "image/png" });
const decoded = (item) => Buffer.from(item.b64_json, "base64");

async function bytesOf(answer) {
  assert.equal(answer.status, 200);
  return Buffer.from(await answer.arrayBuffer());
}

function sizeOf(png) {
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  return [png.readUInt32BE(16), png.readUInt32BE(20)];
}

async function refused(kind, ask) {
  attempts = 0;
  const error = await ask().then(
    (answer) => assert.fail(`no ${kind.name} but ${JSON.stringify(answer).slice(0, 200)}`),
    (raised) => raised,
  );
  assert.equal(error.constructor, kind, error);
  assert.equal(attempts, 1); // a repeat might have been bought once more
  assert.ok(error.requestID);
  return error;
}

const calls = {
  async "a picture comes as bytes and as a link"() {
    const { created, data } = await client.images.generate({ model: IMAGE, prompt: FOX });
    assert.ok(Math.abs(created - Date.now() / 1000) < 3600);
    assert.deepEqual(await bytesOf(await fetch(data[0].url)), decoded(data[0]));
  },

  async "a picture comes in the form that is asked for"() {
    const link = await client.images.generate({ model: IMAGE, prompt: FOX, response_format: "url" });
    assert.equal(link.data[0].b64_json ?? null, null);
    sizeOf(await bytesOf(await fetch(link.data[0].url)));
    const inline = await client.images.generate({ model: IMAGE, prompt: FOX, response_format: "b64_json" });
    assert.equal(inline.data[0].url ?? null, null);
    sizeOf(decoded(inline.data[0]));
  },

  async "several pictures have the shape that is asked for"() {
    const { data, size } = await client.images.generate({ model: IMAGE, prompt: FOX, n: 2, size: "1536x1024" });
    for (const [width, height] of data.map(decoded).map(sizeOf)) {
      assert.equal(size, `${width}x${height}`);
      assert.ok(width >= 1536 && Math.abs(width / height - 1.5) < 0.01);
    }
    assert.equal(data.length, 2);
  },

  async "pictures are edited however they are given"() {
    const seen = [];
    for (const image of [await dot(), [await dot()], [await dot(), await dot()]]) {
      const { data } = await client.images.edit({ model: IMAGE, prompt: FOX, image, n: 1 });
      seen.push(decoded(data[0]));
    }
    assert.deepEqual(seen[0], seen[1]); // the sandbox writes on a picture how many it was made of
    assert.notDeepEqual(seen[0], seen[2]);
  },

  async "a picture is edited where a mask says"() {
    const { data } = await client.images.edit({ model: IMAGE, prompt: FOX, image: await dot(), mask: await dot() });
    sizeOf(decoded(data[0]));
  },

  async "a film is made, fetched, listed and deleted"() {
    let film = await client.videos.create({ model: FILM, prompt: "waves roll in", seconds: "2" });
    while (["queued", "in_progress"].includes(film.status)) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      film = await client.videos.retrieve(film.id);
    }
    assert.equal(film.status, "completed");
    const content = await bytesOf(await client.videos.downloadContent(film.id));
    assert.equal(content.subarray(4, 8).toString(), "ftyp");
    const other = await client.videos.create({ model: FILM, prompt: FOX, seconds: "2", input_reference: await dot() });
    const listed = [];
    for await (const one of client.videos.list({ limit: 1 })) listed.push(one.id);
    assert.deepEqual(listed.slice(0, 2), [other.id, film.id]);
    assert.equal(new Set(listed).size, listed.length);
    const gone = await client.videos.delete(film.id);
    assert.deepEqual([gone.id, gone.deleted], [film.id, true]);
  },

  async "a wrong field is named"() {
    for (const [name, value] of Object.entries({ n: 99, size: "1000x10", model: "nobody", stream: true })) {
      const error = await refused(OpenAI.BadRequestError, () =>
        client.images.generate({ model: IMAGE, prompt: FOX, [name]: value }),
      );
      assert.equal(error.param, name);
    }
  },

  async "a wrong key is refused"() {
    const stranger = new OpenAI({ fetch: counting, apiKey: "dr-task-of-nobody" });
    await refused(OpenAI.AuthenticationError, () => stranger.images.generate({ model: IMAGE, prompt: FOX }));
  },

  async "what may have been bought is not asked for again"() {
    const refusal = { model: IMAGE, prompt: "a fox [moderated]" };
    const error = await refused(OpenAI.BadRequestError, () => client.images.generate(refusal));
    assert.equal(error.type, "TASK_CONTENT_REJECTED");
    const lost = { model: IMAGE, prompt: "a lost fox [reset]" };
    const unknown = await refused(OpenAI.InternalServerError, () => client.images.generate(lost));
    assert.equal(unknown.type, "TASK_OUTCOME_UNKNOWN");
  },
};

for (const [name, call] of Object.entries(calls)) {
  await call();
  console.log(`npm ${VERSION}: ${name}`);
}
