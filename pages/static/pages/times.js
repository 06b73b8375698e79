// Shows times in the viewer's zone and keeps relative ones up to date. Without it they stay as rendered.
const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];

function ago(at) {
  const seconds = (Date.now() - at) / 1000;
  if (Math.abs(seconds) < 5) return "now";
  const [unit, size] = UNITS.find(([, size]) => Math.abs(seconds) >= size);
  const count = `${Math.floor(Math.abs(seconds) / size)} ${unit}`;
  return seconds > 0 ? `${count} ago` : `in ${count}`;
}

function show(time) {
  const at = new Date(time.dateTime);
  const local = at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
  if (time.title) {
    time.title = `${local} (${at.toISOString().slice(0, 19).replace("T", " ")} UTC)`;
    const text = ago(at);
    if (time.textContent !== text) time.textContent = text;
  } else {
    time.title = local;
  }
}

export function showAll(root = document) {
  root.querySelectorAll("time[datetime]").forEach(show);
}

showAll();
setInterval(() => { if (!document.hidden) showAll(); }, 10000);
document.addEventListener("live", (event) => showAll(event.target));
