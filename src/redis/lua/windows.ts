/** Edge windows: one counter a scope and minute, which expires two minutes later. */
export const WINDOWS_LUA = `
function op.take(key, i)
  local count = call('INCR', key)
  if count == 1 then call('PEXPIRE', key, 120000) end
  return count, i
end
`;
