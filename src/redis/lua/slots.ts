/**
 * Slots: one sorted set a subject, holders by the end of their leases. The member '~<epoch>', which never lapses, says that the set is
 * whole: it has counted since every live session of the subject was in it. Without it, and without the tag's mark (see restoration.ts),
 * Redis may have lost holders, so a take is answered -1 until somebody has counted them again from the history. A new epoch begins
 * with every loss, so that a holder can see whether its slot was held without a gap.
 *
 * Sets expire by a constant that every touch renews and that is longer than any lease: leases are in the callers' time, expiry in Redis'.
 */
export const slotsLua = `
local function lease(key, untilMs, holder, keepMs)
  call('ZADD', key, 'GT', untilMs, holder)
  call('PEXPIRE', key, keepMs)
end

local function epochOf(key)
  return call('ZRANGEBYSCORE', key, 'inf', 'inf')[1]
end

-- limit, holder, lease end, now, keep, token: the epoch when admitted, else 0
function op.slot(key, i)
  local limit, holder, untilMs, now, keepMs, token = unpack(ARGV, i, i + 5)
  local epoch = epochOf(key)
  if not epoch and call('EXISTS', sub(key, 1, 4) .. 'whole') == 0 then
    local rebuilding = key .. ':rebuilding'
    call('SADD', rebuilding, token)
    call('PEXPIRE', rebuilding, 10000)
    return -1, i + 6
  end
  call('ZREMRANGEBYSCORE', key, '-inf', now)
  local held = call('ZCARD', key) - (epoch and 1 or 0)
  if held >= tonumber(limit) and not call('ZSCORE', key, holder) then return 0, i + 6 end
  lease(key, untilMs, holder, keepMs)
  if not epoch then
    epoch = '~' .. token
    call('ZADD', key, 'inf', epoch)
  end
  return epoch, i + 6
end

-- token, keep, number of holders, then holder and lease end of each: counts what the history knows, unless all was lost once more
function op.adopt(key, i)
  local token, keepMs, holders = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  local past, rebuilding = i + 3 + 2 * holders, key .. ':rebuilding'
  if call('SREM', rebuilding, token) == 0 then return 0, past end
  -- Somebody else was first: this list is the older one.
  if epochOf(key) then return 1, past end
  for at = i + 3, past - 1, 2 do
    if call('SISMEMBER', rebuilding, 'freed:' .. ARGV[at]) == 0 then call('ZADD', key, 'GT', ARGV[at + 1], ARGV[at]) end
  end
  call('ZADD', key, 'inf', '~' .. token)
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
  return call('ZREM', key, ARGV[i]), i + 1
end

-- now
function op.held(key, i)
  return call('ZCOUNT', key, '(' .. ARGV[i], '(inf'), i + 1
end
`;
