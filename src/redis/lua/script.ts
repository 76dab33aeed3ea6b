import { createHash } from 'node:crypto';
import { BUS_LUA } from './bus.ts';
import { PROBE_LUA } from './probe.ts';
import { RECAPS_LUA } from './recaps.ts';
import { BEATS_LUA, REGISTRY_LUA } from './registry.ts';
import { RESTORATION_LUA } from './restoration.ts';
import { SLOTS_LUA } from './slots.ts';
import { WINDOWS_LUA } from './windows.ts';

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

/** For calls with whatever stores ask for in one turn. */
export const script = scriptOf(
  RUN_LUA + WINDOWS_LUA + SLOTS_LUA + BEATS_LUA + REGISTRY_LUA + RESTORATION_LUA + BUS_LUA + RECAPS_LUA + PROBE_LUA,
);

/** For calls with nothing but `counted`, as heartbeats make them: a server creates the functions of a script again for each call. */
export const countedScript = scriptOf(WINDOWS_LUA + BEATS_LUA);
