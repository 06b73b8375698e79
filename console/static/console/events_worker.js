// One event stream for all tabs of a session. A tab joins by {after}, the cursor of its page or null, and leaves by
// {leaves: true}.
import { EventLine } from "./event_line.js";

const tabs = new Set();
let standing = { kind: "open" };

const line = new EventLine("/console/events", (told) => {
  if (told.kind === "open" || told.kind === "lost") standing = told;
  for (const tab of tabs) tab.postMessage(told);
});

function join(tab, after) {
  tabs.add(tab);
  const isBehind = line.cursor !== null && (after === null || after < line.cursor);
  if (isBehind) tab.postMessage({ kind: "missed" });
  if (line.isOpen) tab.postMessage(standing);
  else line.begin(after);
}

function leave(tab) {
  tabs.delete(tab);
  if (!tabs.size) line.end();
}

addEventListener("connect", ({ ports: [tab] }) => {
  tab.onmessage = ({ data }) => (data.leaves ? leave(tab) : join(tab, data.after));
});
