/**
 * The live registry. A record is a hash at `{tag}<id>`: `s` is the part that never changes, `d` the part that does ("version due lease …"), `k` the
 * name of its widget key's set, and `c` is there while a sweep has claimed the record. Indexes, each in the record's own tag: `due` (ids by a time
 * that is not after their deadline), a set for each subject, a set for each key.
 *
 * Deadlines are lazy: a heartbeat only moves its deadline later, so the index keeps the earlier one. When a sweep comes to the record it reads the
 * true deadline and corrects the index. The index is never later than the truth, except while a claim is under way; a save ends the claim.
 */
export const REGISTRY_LUA = `
local function subjectSet(key)
  return base(key) .. 'subject:' .. (match(key, '}s:(.*):') or nameOf(key))
end

local function slotsOf(key)
  return base(key) .. 'slots:' .. (match(key, '}s:(.*):') or nameOf(key))
end

local function keySet(key, name)
  return base(key) .. 'key:' .. name
end

local function unindex(key)
  local id, name = nameOf(key), call('HGET', key, 'k')
  call('SREM', subjectSet(key), id)
  if name and name ~= '' then call('SREM', keySet(key, name), id) end
end

-- what a save answers; one that lost the present record, so that the next try needs no load
local function answer(key, present)
  if present == true then return 1 end
  if not present then return 0 end
  return { call('HGET', key, 's'), present }
end

-- change: a save that moves the deadline later, or not at all
function op.beat(key, i)
  return answer(key, put(key, ARGV[i], false)), i + 1
end

-- change: any other save
function op.save(key, i)
  return answer(key, put(key, ARGV[i], true)), i + 1
end

-- change, keep: a save that ends the session
function op.finish(key, i)
  local present = put(key, ARGV[i], true)
  if present == true then
    unindex(key)
    call('PEXPIRE', key, ARGV[i + 1])
  end
  return answer(key, present), i + 2
end

-- fixed part, value, due, name of the key's set, '1' while it is live, keep
function op.insert(key, i)
  local fixed, value, due, name, live, keepMs = unpack(ARGV, i, i + 5)
  if call('EXISTS', key) == 1 then return 0, i + 6 end
  local id = nameOf(key)
  call('HSET', key, 's', fixed, 'd', value, 'k', name)
  call('PEXPIRE', key, keepMs)
  call('ZADD', base(key) .. 'due', due, id)
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
  call('ZREM', base(key) .. 'due', nameOf(key))
  return 1, i
end

-- now: how many may be due; none while what is here may be older than the truth: its sessions were heard since
function op.due(key, i)
  if not isWhole(key) then return 0, i + 1 end
  return call('ZCOUNT', key, '-inf', ARGV[i]), i + 1
end

-- What lives long is kept alive by the sweep that comes by, far from the hot path.
local function keepLive(record, id, name, keepMs)
  if call('SISMEMBER', subjectSet(record), id) == 0 then return end
  call('PEXPIRE', record, keepMs)
  call('PEXPIRE', subjectSet(record), keepMs)
  call('PEXPIRE', slotsOf(record), keepMs)
  if name ~= '' then call('PEXPIRE', keySet(record, name), keepMs) end
end

-- now, lease end, limit, keep: claims at most so many, and moves on what is not due yet
function op.claim(key, i)
  local at, untilMs, limit, keepMs = unpack(ARGV, i, i + 3)
  if not isWhole(key) then return {}, i + 4 end
  local now, most, claimed = tonumber(at), tonumber(limit), {}
  -- Bounded, because no other call is served meanwhile; what is left over is the next sweep's.
  for _ = 1, 20 do
    local ids = call('ZRANGEBYSCORE', key, '-inf', at, 'LIMIT', 0, 100)
    for _, id in ipairs(ids) do
      if #claimed == most then return claimed, i + 4 end
      local record = base(key) .. id
      local present = call('HMGET', record, 'd', 'k')
      local due = present[1] and match(present[1], '^%d+ (%S+)')
      if present[1] then keepLive(record, id, present[2], keepMs) end
      if due and tonumber(due) > now then
        call('ZADD', key, due, id)
      else
        -- A record that Redis has lost is claimed as well: whoever claims it finds it in the history.
        call('ZADD', key, untilMs, id)
        if present[1] then call('HSET', record, 'c', '1') end
        claimed[#claimed + 1] = id
      end
    end
    if #ids < 100 then return claimed, i + 4 end
  end
  return claimed, i + 4
end

-- due
function op.postpone(key, i)
  call('ZADD', base(key) .. 'due', 'XX', ARGV[i], nameOf(key))
  call('HDEL', key, 'c')
  return 1, i + 1
end

-- Members whose record is lost are answered once more: whoever acts on them finds them in the history.
function op.members(key, i)
  local ids = call('SMEMBERS', key)
  for _, id in ipairs(ids) do
    if call('EXISTS', base(key) .. id) == 0 then call('SREM', key, id) end
  end
  return ids, i
end

function op.size(key, i)
  return call('ZCARD', key), i
end
`;

/** How a record is saved, and the one operation that most calls consist of: it counts a request and, with it, saves a heartbeat. */
export const BEATS_LUA = `
-- change is "<expected version> <value>": true when saved; else the present value, or false when there is none
local function put(key, change, mayBeEarlier)
  local space = find(change, ' ', 1, true)
  local present = call('HMGET', key, 'd', 'c')
  if not present[1] or sub(present[1], 1, space) ~= sub(change, 1, space) then return present[1] end
  local value = sub(change, space + 1)
  call('HSET', key, 'd', value)
  if present[2] then call('HDEL', key, 'c') end
  if present[2] or mayBeEarlier then
    call('ZADD', base(key) .. 'due', 'LT', match(value, '^%d+ (%S+)'), nameOf(key))
  end
  return true
end

-- window, limit, change: counts in the window, whose key is whole; what it lets through makes a save as that of op.beat. The count,
-- below zero when it saved.
function op.counted(key, i)
  local taken = take(ARGV[i])
  if taken <= tonumber(ARGV[i + 1]) and put(key, ARGV[i + 2], false) == true then return -taken, i + 3 end
  return taken, i + 3
end
`;
