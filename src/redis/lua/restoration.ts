/**
 * The mark `{tag}whole` says that everything live of a tag was registered since Redis lost it last. Whoever restores a tag first leaves
 * a token; it may set the mark only while its token is there: what Redis lost meanwhile took the token along.
 */
export const restorationLua = `
-- token, milliseconds: 0 when whole, 1 when the caller is to restore, 2 when somebody else does
function op.lost(key, i)
  if call('EXISTS', key) == 1 then return 0, i + 2 end
  if call('SET', key .. ':restoring', ARGV[i], 'NX', 'PX', ARGV[i + 1]) then return 1, i + 2 end
  return call('GET', key .. ':restoring') == ARGV[i] and 1 or 2, i + 2
end

-- token
function op.whole(key, i)
  if call('GET', key .. ':restoring') ~= ARGV[i] then return 0, i + 1 end
  call('SET', key, '1')
  call('DEL', key .. ':restoring')
  return 1, i + 1
end

-- token: gives up, so that another try need not wait
function op.abandon(key, i)
  if call('GET', key .. ':restoring') == ARGV[i] then call('DEL', key .. ':restoring') end
  return 1, i + 1
end
`;
