/**
 * The live registry. A record is a hash at `{tag}<id>`: `s` what never changes, `d` what does ("version due …"), `k` the name of its
 * widget key's set. Indexes, each in the record's own tag: `due` (ids by a time not after their deadline), a set a subject, a set a key.
 *
 * Deadlines are lazy: a heartbeat only moves its deadline later, so the index keeps the earlier one and the sweep, when it comes to
 * the record, reads the true one and moves it on. The index is never later than the truth, except for a claim that is under way.
 */
export const registryLua = `
local function subjectSet(key)
  return sub(key, 1, 4) .. 'subject:' .. (match(key, '^{..}s:(.*):') or sub(key, 5))
end

local function keySet(key, name)
  return sub(key, 1, 4) .. 'key:' .. name
end

local function unindex(key)
  local id, name = sub(key, 5), call('HGET', key, 'k')
  call('SREM', subjectSet(key), id)
  if name and name ~= '' then call('SREM', keySet(key, name), id) end
end

-- true when saved; else the present value, or false when there is none
local function put(key, expected, value, due)
  local present = call('HGET', key, 'd')
  if not present or sub(present, 1, #expected) ~= expected then return present end
  call('HSET', key, 'd', value)
  call('ZADD', sub(key, 1, 4) .. 'due', 'LT', due, sub(key, 5))
  return true
end

-- what a save that lost answers: the present record, so that the next try needs no load
local function lost(key, present)
  if not present then return 0 end
  return { call('HGET', key, 's'), present }
end

-- expected version, value, due
function op.save(key, i)
  local present = put(key, ARGV[i], ARGV[i + 1], ARGV[i + 2])
  if present ~= true then return lost(key, present), i + 3 end
  return 1, i + 3
end

-- expected version, value, due, lease end, keep: a save that renews the session's slot when it succeeds
function op.beat(key, i)
  local present = put(key, ARGV[i], ARGV[i + 1], ARGV[i + 2])
  if present ~= true then return lost(key, present), i + 5 end
  lease(sub(key, 1, 4) .. 'slots:' .. match(key, '^{..}s:(.*):'), ARGV[i + 3], sub(key, 5), ARGV[i + 4])
  return 1, i + 5
end

-- expected version, value, due, keep: a save that ends the session
function op.finish(key, i)
  local present = put(key, ARGV[i], ARGV[i + 1], ARGV[i + 2])
  if present ~= true then return lost(key, present), i + 4 end
  unindex(key)
  call('PEXPIRE', key, ARGV[i + 3])
  return 1, i + 4
end

-- fixed part, value, due, name of the key's set, '1' while it is live, keep
function op.insert(key, i)
  local fixed, value, due, name, live, keepMs = unpack(ARGV, i, i + 5)
  if call('EXISTS', key) == 1 then return 0, i + 6 end
  local id = sub(key, 5)
  call('HSET', key, 's', fixed, 'd', value, 'k', name)
  call('PEXPIRE', key, keepMs)
  call('ZADD', sub(key, 1, 4) .. 'due', due, id)
  if live == '1' then
    call('SADD', subjectSet(key), id)
    call('PEXPIRE', subjectSet(key), keepMs)
    if name ~= '' then
      call('SADD', keySet(key, name), id)
      call('PEXPIRE', keySet(key, name), keepMs)
    end
  end
  return 1, i + 6
end

function op.load(key, i)
  return call('HMGET', key, 's', 'd'), i
end

function op.remove(key, i)
  unindex(key)
  call('DEL', key)
  call('ZREM', sub(key, 1, 4) .. 'due', sub(key, 5))
  return 1, i
end

-- now: how many may be due
function op.due(key, i)
  return call('ZCOUNT', key, '-inf', ARGV[i]), i + 1
end

-- now, lease end, limit, keep: claims at most so many, and moves on what is not due yet
function op.claim(key, i)
  local at, untilMs, limit, keepMs = unpack(ARGV, i, i + 3)
  local now, most, claimed = tonumber(at), tonumber(limit), {}
  -- Bounded, because no other call is served meanwhile; what is left over is the next sweep's.
  for _ = 1, 20 do
    local ids = call('ZRANGEBYSCORE', key, '-inf', at, 'LIMIT', 0, 100)
    for _, id in ipairs(ids) do
      if #claimed == most then return claimed, i + 4 end
      local record = sub(key, 1, 4) .. id
      local present = call('HMGET', record, 'd', 'k')
      local due = present[1] and match(present[1], '^%d+ (%S+)')
      if due and tonumber(due) > now then
        call('ZADD', key, due, id)
        -- What lives long is kept alive here, far from the hot path.
        if call('SISMEMBER', subjectSet(record), id) == 1 then
          call('PEXPIRE', record, keepMs)
          call('PEXPIRE', subjectSet(record), keepMs)
          if present[2] ~= '' then call('PEXPIRE', keySet(record, present[2]), keepMs) end
        end
      else
        -- A record that Redis has lost is claimed as well: whoever claims it finds it in the history.
        call('ZADD', key, untilMs, id)
        claimed[#claimed + 1] = id
      end
    end
    if #ids < 100 then return claimed, i + 4 end
  end
  return claimed, i + 4
end

-- Members whose record is lost are answered once more: whoever acts on them finds them in the history.
function op.members(key, i)
  local ids = call('SMEMBERS', key)
  for _, id in ipairs(ids) do
    if call('EXISTS', sub(key, 1, 4) .. id) == 0 then call('SREM', key, id) end
  end
  return ids, i
end

function op.size(key, i)
  return call('ZCARD', key), i
end
`;
