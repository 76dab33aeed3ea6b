/** Recaps: one text for each session, which expires by itself. */
export const RECAPS_LUA = `
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
