/** Edge windows: one counter a scope and minute, gone two minutes later. */
export const windowsLua = `
function op.take(key, i)
  local count = call('INCR', key)
  if count == 1 then call('PEXPIRE', key, 120000) end
  return count, i
end
`;
