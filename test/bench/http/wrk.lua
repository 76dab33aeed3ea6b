-- Sends the requests of a file in turn, and prints as JSON what came of them.
local requests = {}
local turn = 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  local all = file:read("*a")
  file:close()
  for bytes in all:gmatch("%Z+") do requests[#requests + 1] = bytes end
end

function request()
  turn = turn % #requests + 1
  return requests[turn]
end

function done(summary, latency)
  local e = summary.errors
  io.write(string.format('{"answered":%d,"seconds":%f,"p50Us":%d,"p99Us":%d,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50), latency:percentile(99),
    e.connect + e.read + e.write + e.status + e.timeout))
end
