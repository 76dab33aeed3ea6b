/**
 * Slots: one sorted set a subject, holders by the end of their leases. The member '~', which never lapses, says that the set is whole:
 * it has counted since every live session of the subject was in it. Without it, and without the tag's mark (see restoration.ts),
 * Redis may have lost holders, so a take is answered -1 until somebody has counted them again from the history.
 *
 * Sets expire by a constant that every touch renews and that is longer than any lease: leases are in the callers' time, expiry in Redis'.
 */
export const slotsLua = `
local function lease(key, untilMs, holder, keepMs)
  call('ZADD', key, 'GT', untilMs, holder)
  call('PEXPIRE', key, keepMs)
end

-- limit, holder, lease end, now, keep, token
function op.slot(key, i)
  local limit, holder, untilMs, now, keepMs, token = unpack(ARGV, i, i + 5)
  call('ZREMRANGEBYSCORE', key, '-inf', now)
  local whole = call('ZSCORE', key, '~')
  if not whole and call('EXISTS', sub(key, 1, 4) .. 'whole') == 0 then
    local tokens = key .. ':rebuilding'
    call('SADD', tokens, token)
    call('PEXPIRE', tokens, 10000)
    return -1, i + 6
  end
  local held = call('ZCARD', key) - (whole and 1 or 0)
  if held >= tonumber(limit) and not call('ZSCORE', key, holder) then return 0, i + 6 end
  lease(key, untilMs, holder, keepMs)
  if not whole then call('ZADD', key, 'inf', '~') end
  return 1, i + 6
end

-- token, keep, number of holders, then holder and lease end of each: counts what the history knows, unless all was lost once more
function op.adopt(key, i)
  local token, keepMs, holders = ARGV[i], ARGV[i + 1], tonumber(ARGV[i + 2])
  local past = i + 3 + 2 * holders
  if call('SREM', key .. ':rebuilding', token) == 0 then return 0, past end
  for at = i + 3, past - 1, 2 do call('ZADD', key, 'GT', ARGV[at + 1], ARGV[at]) end
  call('ZADD', key, 'inf', '~')
  call('PEXPIRE', key, keepMs)
  return 1, past
end

-- holder, lease end, keep
function op.renew(key, i)
  lease(key, ARGV[i + 1], ARGV[i], ARGV[i + 2])
  return 1, i + 3
end

-- holder
function op.free(key, i)
  return call('ZREM', key, ARGV[i]), i + 1
end

-- now
function op.held(key, i)
  return call('ZCOUNT', key, '(' .. ARGV[i], '(inf'), i + 1
end
`;
