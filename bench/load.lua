-- Reads what to send from the file that it is given: method, body, "unique" or "", a random prefix, the number of
-- paths, the paths, the Authorizations. Prints what came back as JSON.

local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

function init(arguments)
  local lines = io.lines(arguments[1])
  method, body, unique, prefix = lines(), lines(), lines() == "unique", lines()
  paths, authorizations = {}, {}
  for n = 1, tonumber(lines()) do paths[n] = lines() end
  for line in lines do authorizations[#authorizations + 1] = line end
  sent = number * 7919
  if body == "" then body = nil end
end

function request()
  sent = sent + 1
  local headers = {["Authorization"] = authorizations[sent % #authorizations + 1]}
  if body then headers["Content-Type"] = "application/json" end
  if unique then headers["Idempotency-Key"] = prefix .. "-" .. number .. "-" .. sent end
  return wrk.format(method, paths[sent % #paths + 1], headers, body)
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'JSON:{"requests":%d,"refused":%d,"errors":%d,"microseconds":%d,"p50":%.0f,"p99":%.0f}',
    summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    summary.duration, latency:percentile(50), latency:percentile(99)))
end
