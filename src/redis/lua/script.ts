import { createHash } from 'node:crypto';
import { probeLua } from './probe.ts';
import { registryLua } from './registry.ts';
import { restorationLua } from './restoration.ts';
import { slotsLua } from './slots.ts';
import { windowsLua } from './windows.ts';

/** The number of arguments of each operation that may stand right behind the one that it depends on. */
export const guardable: Readonly<Record<string, number>> = { take: 1, load: 0, beat: 1, save: 1, finish: 2 };

/**
 * All operations are one script, so that what different stores ask for in one tick is one call. KEYS holds one key an operation, the
 * one that it is about; what else it touches has the same hash tag. ARGV holds each operation's name and arguments one after the
 * other. A name that begins with `?` happens only when the operation before it did not refuse; `if <n> <number of arguments>` before
 * a name says the same of the n-th. Each operation answers its result, the place after its arguments, and whether it refuses.
 */
const text = `
local call, sub, byte, find, match, unpack = redis.call, string.sub, string.byte, string.find, string.match, unpack
local KEYS, ARGV = KEYS, ARGV
local arity = { ${Object.entries(guardable)
  .map(([name, count]) => `${name} = ${count}`)
  .join(', ')} }
local op = {}

-- A key is "<prefix>:{tag}name": what stands before the name, and the name.
local function base(key)
  return sub(key, 1, find(key, '}', 1, true))
end

local function nameOf(key)
  return sub(key, find(key, '}', 1, true) + 1)
end

-- The run of the server, which its connections tell. What is marked with another one comes from a snapshot, a log or a primary that
-- this server copied, and may be older than what nodes were told.
local run = ARGV[#ARGV] .. ':'
${windowsLua}${slotsLua}${registryLua}${restorationLua}${probeLua}
local results, refused, at = {}, {}, 1
for n = 1, #KEYS do
  local name = ARGV[at]
  local skip = 0
  if byte(name) == 63 then
    name = sub(name, 2)
    if refused[n - 1] then skip = 1 + arity[name] end
  elseif name == 'if' then
    at = at + 3
    name = ARGV[at]
    if refused[tonumber(ARGV[at - 2])] then skip = 1 + tonumber(ARGV[at - 1]) end
  end
  if skip > 0 then
    results[n], at, refused[n] = false, at + skip, true
  else
    results[n], at, refused[n] = op[name](KEYS[n], at + 1)
  end
end
return results
`;

export const script = { text, sha: createHash('sha1').update(text).digest('hex') } as const;
