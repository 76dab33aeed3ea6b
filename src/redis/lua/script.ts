import { createHash } from 'node:crypto';
import { BEATS_LUA, REGISTRY_LUA } from './registry.ts';
import { SLOTS_LUA } from './slots.ts';

/**
 * All operations are in one script, so that what different stores ask for in one tick is one call. KEYS holds one key for each operation, the one
 * that it is about; all other keys that it touches have the same hash tag. ARGV holds the name and arguments of each operation, one operation after
 * the other. Each operation returns its result and the position after its arguments.
 */
function scriptOf(operations: string): { readonly text: string; readonly sha: string } {
  const text = `
local call, sub, find, match, unpack = redis.call, string.sub, string.find, string.match, unpack
local KEYS, ARGV = KEYS, ARGV
local op = {}

-- A key is "<prefix>:{tag}name": what stands before the name, and the name.
local function base(key)
  return sub(key, 1, find(key, '}', 1, true))
end

local function nameOf(key)
  return sub(key, find(key, '}', 1, true) + 1)
end

${operations}
local results, at = {}, 1
for n = 1, #KEYS do
  results[n], at = op[ARGV[at]](KEYS[n], at + 1)
end
return results
`;
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}

const RUN_LUA = `
-- The run of this server, empty where its user may not ask. What is marked with another one comes from a snapshot, a log or a primary
-- that this server copied, and may be older than what nodes were told.
local thisRun
local function run()
  if not thisRun then
    local info = redis.pcall('INFO', 'server')
    thisRun = (type(info) == 'string' and match(info, 'run_id:(%w+)') or '') .. ':'
  end
  return thisRun
end
`;

/** Edge windows: one counter per scope and minute. It expires five minutes later, so that setting Redis' clock drops none that still counts. */
const WINDOWS_LUA = `
local function take(key)
  local count = call('INCR', key)
  if count == 1 then call('PEXPIRE', key, 300000) end
  return count
end

function op.take(key, i)
  return take(key), i
end
`;

/**
 * The mark `{tag}whole` says that everything live of a tag was registered since this run of the server began, or since its last loss. A node that
 * restores a tag first leaves a token, and may set the mark only while its token is there: a loss in between removes the token too. Both name the
 * run, so that those that come back from a snapshot count for nothing.
 */
const RESTORATION_LUA = `
-- token, milliseconds: 0 when whole, 1 when the caller is to restore, 2 when somebody else does
function op.lost(key, i)
  if call('GET', key) == run() then return 0, i + 2 end
  local token = run() .. ARGV[i]
  local present = call('GET', key .. ':restoring')
  if not present or sub(present, 1, #run()) ~= run() then
    call('SET', key .. ':restoring', token, 'PX', ARGV[i + 1])
    return 1, i + 2
  end
  return present == token and 1 or 2, i + 2
end

-- token, milliseconds: the caller restores on
function op.restoring(key, i)
  if call('GET', key .. ':restoring') == run() .. ARGV[i] then call('PEXPIRE', key .. ':restoring', ARGV[i + 1]) end
  return 1, i + 2
end

-- Whether what is here is no older than what was saved here.
function op.intact(key, i)
  return call('GET', key) == run() and 1 or 0, i
end

-- token
function op.whole(key, i)
  if call('GET', key .. ':restoring') ~= run() .. ARGV[i] then return 0, i + 1 end
  call('SET', key, run())
  call('DEL', key .. ':restoring')
  return 1, i + 1
end

-- token: gives up, so that another try need not wait
function op.abandon(key, i)
  if call('GET', key .. ':restoring') == run() .. ARGV[i] then call('DEL', key .. ':restoring') end
  return 1, i + 1
end
`;

/**
 * Which nodes follow a session: a set of node ids in the session's own tag, so that one call finds them and tells them. Each node listens to a
 * channel of its own, `<prefix>:bus:<node>`. A set that no node renews expires; a node that died stays in it until then, with nobody listening to its
 * channel.
 */
const BUS_LUA = `
-- node, keep: the node hears of the session from now on
function op.follow(key, i)
  call('SADD', key, ARGV[i])
  call('PEXPIRE', key, ARGV[i + 1])
  return 1, i + 2
end

-- node
function op.unfollow(key, i)
  call('SREM', key, ARGV[i])
  return 1, i + 1
end

-- node, text: tells the nodes that follow the session, except the one that tells it; answers how many
function op.tell(key, i)
  local me, text, told = ARGV[i], ARGV[i + 1], 0
  local channel = sub(key, 1, find(key, '{', 1, true) - 1) .. 'bus:'
  for _, node in ipairs(call('SMEMBERS', key)) do
    if node ~= me then
      -- A refusal must not undo what else this call does.
      redis.pcall('PUBLISH', channel .. node, text)
      told = told + 1
    end
  end
  return told, i + 2
end
`;

/** Recaps: one text for each session, which expires by itself. */
const RECAPS_LUA = `
-- text, milliseconds
function op.keepRecap(key, i)
  call('SET', key, ARGV[i], 'PX', ARGV[i + 1])
  return 1, i + 2
end

function op.recap(key, i)
  return call('GET', key), i
end

function op.forgetRecap(key, i)
  return call('DEL', key), i
end
`;

/**
 * Tries every command that the operations use, on keys of its own. It answers the first refusal, with the name of the command, which the server's own
 * words leave out; or an empty text. This detects a server that is full, takes no writes, or denies its user something.
 */
const PROBE_LUA = `
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

/** For calls with whatever stores ask for in one turn. */
export const script = scriptOf(
  RUN_LUA + WINDOWS_LUA + SLOTS_LUA + BEATS_LUA + REGISTRY_LUA + RESTORATION_LUA + BUS_LUA + RECAPS_LUA + PROBE_LUA,
);

/** For calls with nothing but `counted`, as heartbeats make them: a server creates the functions of a script again for each call. */
export const countedScript = scriptOf(WINDOWS_LUA + BEATS_LUA);
