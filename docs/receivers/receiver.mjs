// A complete receiver of callbacks: Node 18 or newer, no packages.
//
//     TASK_API_KEY=dr-task-… PORT=9000 node receiver.mjs

import { createHmac, timingSafeEqual } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { createServer } from "node:http";

const KEY = process.env.TASK_API_KEY;
const SEEN_FILE = process.env.SEEN_FILE ?? "received.txt";
const MOST_BYTES = 1_000_000;
if (!KEY) throw new Error("TASK_API_KEY is not set");

// Whether this callback is genuine and fresh; `body` is the raw request body, a Buffer.
function verify(key, headers, body, window = 300) {
  const delivery = headers["x-service-delivery"] ?? "";
  const timestamp = headers["x-service-timestamp"] ?? "";
  const signature = Buffer.from(headers["x-service-signature"] ?? "");
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > window) return false;
  const mac = createHmac("sha256", key).update(`${delivery}.${timestamp}.`).update(body).digest("hex");
  const expected = Buffer.from(`v1=${mac}`);
  return signature.length === expected.length && timingSafeEqual(signature, expected);
}

// Act on a callback, once. With a database, commit the id together with what follows from it.
const seen = new Set(existsSync(SEEN_FILE) ? readFileSync(SEEN_FILE, "utf8").split("\n") : []);
function take(payload) {
  const isNew = !seen.has(payload.id);
  if (isNew) {
    appendFileSync(SEEN_FILE, `${payload.id}\n`);
    seen.add(payload.id);
  }
  console.log(isNew ? "new" : "again", payload.id, payload.type);
}

async function receive(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > MOST_BYTES) return 413;
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  if (request.method !== "POST") return 405;
  if (!verify(KEY, request.headers, body)) return 401;
  take(JSON.parse(body));
  return 204; // only now: the callback is sent again until it sees a 2xx
}

const server = createServer((request, response) => {
  receive(request)
    .catch(() => 500)
    .then((status) => response.writeHead(status).end());
});
server.listen(Number(process.env.PORT ?? 9000), "127.0.0.1", () => {
  console.log(`listening on http://127.0.0.1:${server.address().port}/`);
});
