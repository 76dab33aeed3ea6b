import { createHash } from 'node:crypto';
import { registryLua } from './registry.ts';
import { restorationLua } from './restoration.ts';
import { slotsLua } from './slots.ts';
import { windowsLua } from './windows.ts';

/**
 * All operations are one script, so that what different stores ask for in one tick is one call. KEYS holds one key an operation, the
 * one that it is about; what else it touches has the same hash tag. ARGV holds each operation's name and arguments one after the
 * other. `if <n> <number of arguments>` before a name lets the operation happen only when the n-th of this call did not refuse.
 * Each operation answers its result, the place after its arguments, and whether it refuses.
 */
const text = `
local call, sub, match, unpack = redis.call, string.sub, string.match, unpack
local KEYS, ARGV = KEYS, ARGV
local op = {}
${windowsLua}${slotsLua}${registryLua}${restorationLua}
local results, refused, at = {}, {}, 1
for n = 1, #KEYS do
  local name = ARGV[at]
  if name == 'if' then
    if refused[tonumber(ARGV[at + 1])] then
      results[n], refused[n], at = false, true, at + 4 + tonumber(ARGV[at + 2])
      name = nil
    else
      at = at + 3
      name = ARGV[at]
    end
  end
  if name then results[n], at, refused[n] = op[name](KEYS[n], at + 1) end
end
return results
`;

export const script = { text, sha: createHash('sha1').update(text).digest('hex') } as const;
