/**
 * Slots: one sorted set for each subject, with its holders by the end of their leases. The member '~<epoch>', which never lapses, says that the set
 * is whole: it once had every live session of the subject, and has counted all of them since. Without it, and without the tag's mark (see
 * script.ts), Redis may have lost holders, so a take is answered -1 until they have been counted again from the history. An epoch names the run
 * of the server: a set that came back from a snapshot is not whole. A new epoch begins with every loss, so that a holder can see whether its slot was
 * held without a gap.
 *
 * Leases are lazy: a heartbeat writes the new end only into its record, so operations that find a lapsed holder here look there first.
 *
 * Sets expire after a constant time that every touch and every sweep of a live session renews: leases are in the callers' time, expiry in Redis'.
 */
export const SLOTS_LUA = `
local function lease(key, untilMs, holder, keepMs)
  call('ZADD', key, 'GT', untilMs, holder)
  call('PEXPIRE', key, keepMs)
end

-- The end of the lease that a holder's record tells; 0 when it tells none.
local function recordLease(key, holder)
  local moving = call('HGET', base(key) .. holder, 'd')
  return moving and match(moving, '^%d+ %S+ (%d+)') or '0'
end

-- Moves on the holders whose records say so, and drops the others that have lapsed.
local function dropLapsed(key, now)
  for _, holder in ipairs(call('ZRANGEBYSCORE', key, '-inf', now)) do
    local untilMs = recordLease(key, holder)
    if tonumber(untilMs) > tonumber(now) then call('ZADD', key, untilMs, holder) else call('ZREM', key, holder) end
  end
end

-- The epoch, and whether the set is one of another run.
local function epochOf(key)
  local epoch = call('ZRANGEBYSCORE', key, 'inf', 'inf')[1]
  if epoch and sub(epoch, 2, #run() + 1) ~= run() then return nil, true end
  return epoch, false
end

local function newEpoch(token)
  return '~' .. run() .. token
end

local function isWhole(key)
  return call('GET', base(key) .. 'whole') == run()
end

-- limit, holder, lease end, now, keep, token: the epoch when admitted, else 0
function op.slot(key, i)
  local limit, holder, untilMs, now, keepMs, token = unpack(ARGV, i, i + 5)
  local epoch, isOld = epochOf(key)
  if isOld or (not epoch and not isWhole(key)) then
    local rebuilding = key .. ':rebuilding'
    call('SADD', rebuilding, newEpoch(token))
    call('PEXPIRE', rebuilding, 10000)
    return -1, i + 6
  end
  dropLapsed(key, now)
  local held = call('ZCARD', key) - (epoch and 1 or 0)
  if held >= tonumber(limit) and not call('ZSCORE', key, holder) then return 0, i + 6 end
  lease(key, untilMs, holder, keepMs)
  if not epoch then
    epoch = newEpoch(token)
    call('ZADD', key, 'inf', epoch)
  end
  return epoch, i + 6
end

-- Whether the node of a holder 'node:<node>:<number>' is alive; true for every other holder.
local function hasNode(key, holder, now)
  local node = match(holder, '^(node:.+):')
  if not node then return true end
  local untilMs = call('GET', base(key) .. node)
  return untilMs and tonumber(untilMs) > tonumber(now)
end

-- limit, holder, lease end, now, keep: a slot of a set that need not be whole. Holders of nodes that are gone stay in, so that those
-- of a node that only stood still count again.
function op.lease(key, i)
  local limit, holder, untilMs, now, keepMs = unpack(ARGV, i, i + 4)
  dropLapsed(key, now)
  local others = 0
  for _, other in ipairs(call('ZRANGEBYSCORE', key, '-inf', '+inf')) do
    if other ~= holder and hasNode(key, other, now) then others = others + 1 end
  end
  if others >= tonumber(limit) and not call('ZSCORE', key, holder) then return 0, i + 5 end
  lease(key, untilMs, holder, keepMs)
  return 1, i + 5
end

-- until, keep: a node is alive
function op.alive(key, i)
  call('SET', key, ARGV[i], 'PX', ARGV[i + 1])
  return 1, i + 2
end

-- token, keep, number of holders, then holder and lease end of each: counts what the history knows, unless all was lost once more
function op.adopt(key, i)
  local token, keepMs, holders = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  local past, rebuilding = i + 3 + 2 * holders, key .. ':rebuilding'
  if call('SREM', rebuilding, newEpoch(token)) == 0 then return 0, past end
  local epoch, isOld = epochOf(key)
  -- Somebody else was first: this list is the older one.
  if epoch then return 1, past end
  if isOld then call('DEL', key) end
  for at = i + 3, past - 1, 2 do
    if call('SISMEMBER', rebuilding, 'freed:' .. ARGV[at]) == 0 then call('ZADD', key, 'GT', ARGV[at + 1], ARGV[at]) end
  end
  call('ZADD', key, 'inf', newEpoch(token))
  call('PEXPIRE', key, keepMs)
  return 1, past
end

-- holder, lease end, keep, epoch: a renewal that says whether the slot was held without a gap
function op.confirm(key, i)
  if epochOf(key) ~= ARGV[i + 3] or not call('ZSCORE', key, ARGV[i]) then return 0, i + 4 end
  lease(key, ARGV[i + 1], ARGV[i], ARGV[i + 2])
  return 1, i + 4
end

-- holder, lease end, keep
function op.renew(key, i)
  lease(key, ARGV[i + 1], ARGV[i], ARGV[i + 2])
  return 1, i + 3
end

-- holder
function op.free(key, i)
  local rebuilding = key .. ':rebuilding'
  -- Whoever counts the holders again may have read this one as live.
  if call('EXISTS', rebuilding) == 1 then call('SADD', rebuilding, 'freed:' .. ARGV[i]) end
  local freed = call('ZREM', key, ARGV[i])
  -- Nothing but the epoch is left, and the tag's mark says as much.
  if call('ZCARD', key) == 1 and epochOf(key) and isWhole(key) then call('DEL', key) end
  return freed, i + 1
end

-- now
function op.held(key, i)
  local held, now = call('ZCOUNT', key, '(' .. ARGV[i], '(inf'), tonumber(ARGV[i])
  for _, holder in ipairs(call('ZRANGEBYSCORE', key, '-inf', ARGV[i])) do
    if tonumber(recordLease(key, holder)) > now then held = held + 1 end
  end
  return held, i + 1
end
`;
