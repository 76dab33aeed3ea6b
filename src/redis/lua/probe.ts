/**
 * Tries every command that the operations use, on keys of its own. It answers the first refusal, with the name of the command, which the server's own
 * words leave out; or an empty text. This detects a server that is full, takes no writes, or denies its user something.
 */
export const PROBE_LUA = `
local trials = {
  { 'SET', 'text', '1', 'PX', 60000 }, { 'GET', 'text' }, { 'EXISTS', 'text' }, { 'PEXPIRE', 'text', 60000 },
  { 'INCR', 'text' },
  { 'HSET', 'hash', 'a', '1' }, { 'HGET', 'hash', 'a' }, { 'HMGET', 'hash', 'a' }, { 'HDEL', 'hash', 'a' },
  { 'SADD', 'set', 'a' }, { 'SISMEMBER', 'set', 'a' }, { 'SMEMBERS', 'set' }, { 'SREM', 'set', 'a' },
  { 'ZADD', 'sorted', 1, 'a' }, { 'ZSCORE', 'sorted', 'a' }, { 'ZCARD', 'sorted' }, { 'ZCOUNT', 'sorted', 0, 1 },
  { 'ZRANGEBYSCORE', 'sorted', 0, 1 }, { 'ZREM', 'sorted', 'a' },
  { 'DEL', 'text' },
}

function op.probe(key, i)
  for _, trial in ipairs(trials) do
    local reply = redis.pcall(trial[1], key .. ':' .. trial[2], unpack(trial, 3))
    if type(reply) == 'table' and reply.err then
      -- A replica fails as with any other write: then its connection is given up, and the next one finds the new primary.
      if find(reply.err, 'READONLY', 1, true) then call(trial[1], key .. ':' .. trial[2], unpack(trial, 3)) end
      return trial[1] .. ': ' .. reply.err, i
    end
  end
  return '', i
end
`;
