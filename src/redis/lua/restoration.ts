/**
 * The mark `{tag}whole` says that everything live of a tag was registered since this run of the server began, or since its last loss. A node that
 * restores a tag first leaves a token, and may set the mark only while its token is there: a loss in between removes the token too. Both name the
 * run, so that those that come back from a snapshot count for nothing.
 */
export const RESTORATION_LUA = `
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
