/** Edge windows: one counter a scope and minute, which expires five minutes later: a clock of Redis that is set forgets none that counts. */
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
