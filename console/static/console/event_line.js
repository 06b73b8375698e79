// Connection to the console's event stream, for a shared worker or one page. It reconnects with back-off and resumes after
// the last event. A connection without heartbeats is dead.
//
// `tell` receives {kind}: "open"; "task" with its `detail`; "missed" if events may have been lost; "lost" with `since`;
// "out" after a sign-out, which ends the connection.
const SHORTEST = 500;
const LONGEST = 10000;
const PATIENCE = 45000;
const QUIET = 3000; // a shorter reconnect is not reported

export class EventLine {
  constructor(url, tell) {
    Object.assign(this, { url, tell, cursor: null, wait: SHORTEST, patience: PATIENCE, abort: null, lostAt: 0 });
  }

  get isOpen() {
    return this.abort !== null;
  }

  // `after` is the cursor of a page that was just rendered, or null.
  begin(after) {
    this.cursor ??= after;
    this.connect();
  }

  end() {
    clearTimeout(this.again);
    clearTimeout(this.saying);
    clearTimeout(this.watch);
    this.abort?.abort();
    this.abort = null;
  }

  async connect() {
    const abort = new AbortController();
    this.abort = abort;
    let asked = 0;
    this.live();
    try {
      const query = this.cursor === null ? "" : `?after=${this.cursor}`;
      const headers = { Accept: "text/event-stream" };
      const answer = await fetch(this.url + query, { headers, cache: "no-store", signal: abort.signal });
      if (answer.status === 401 || answer.status === 403) return this.rest(abort);
      if (answer.ok) await this.read(answer.body.pipeThrough(new TextDecoderStream()).getReader());
      else asked = Number(answer.headers.get("Retry-After")) * 1000;
    } catch { /* the connection was cut */ }
    clearTimeout(this.watch);
    if (abort === this.abort) this.retry(asked || 0);
  }

  rest(abort) {
    if (abort !== this.abort) return;
    this.end();
    this.tell({ kind: "out" });
  }

  retry(asked) {
    if (!this.lostAt) {
      this.lostAt = Date.now();
      this.saying = setTimeout(() => this.tell({ kind: "lost", since: this.lostAt }), QUIET);
    }
    this.again = setTimeout(() => this.connect(), Math.max(asked, this.wait * (0.5 + Math.random())));
    this.wait = Math.min(this.wait * 2, LONGEST);
  }

  async read(reader) {
    this.opened();
    for (let text = ""; ;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.live();
      const frames = (text + value).split("\n\n");
      text = frames.pop();
      frames.forEach((frame) => this.take(frame));
    }
  }

  opened() {
    clearTimeout(this.saying);
    this.lostAt = 0;
    this.tell({ kind: "open" });
  }

  live() {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => this.abort?.abort(), this.patience);
  }

  take(frame) {
    const fields = Object.fromEntries(frame.split("\n").map((line) => line.split(/: (.*)/s)));
    if (fields.event === "heartbeat") this.patience = (2 * JSON.parse(fields.data).seconds + 5) * 1000;
    if (!fields.id) return;
    this.wait = SHORTEST;
    const isMissing = this.cursor === null || fields.event === "stream.reset";
    this.cursor = Number(fields.id);
    if (isMissing) this.tell({ kind: "missed" });
    if (fields.event === "task.updated") this.tell({ kind: "task", detail: JSON.parse(fields.data) });
  }
}
