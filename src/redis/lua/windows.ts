/** Edge windows: one counter per scope and minute. It expires five minutes later, so that setting Redis' clock drops none that still counts. */
export const WINDOWS_LUA = `
local function take(key)
  local count = call('INCR', key)
  if count == 1 then call('PEXPIRE', key, 300000) end
  return count
end

function op.take(key, i)
  return take(key), i
end
`;
