/**
 * Which nodes follow a session: a set of node ids in the session's own tag, so that one call finds them and tells them. Each node listens to a
 * channel of its own, `<prefix>:bus:<node>`. A set that no node renews expires; a node that died stays in it until then, with nobody listening to its
 * channel.
 */
export const BUS_LUA = `
-- node, keep: the node hears of the session from now on
function op.follow(key, i)
  call('SADD', key, ARGV[i])
  call('PEXPIRE', key, ARGV[i + 1])
  return 1, i + 2
end

-- node
function op.unfollow(key, i)
  call('SREM', key, ARGV[i])
  return 1, i + 1
end

-- node, text: tells the nodes that follow the session, except the one that tells it; answers how many
function op.tell(key, i)
  local me, text, told = ARGV[i], ARGV[i + 1], 0
  local channel = sub(key, 1, find(key, '{', 1, true) - 1) .. 'bus:'
  for _, node in ipairs(call('SMEMBERS', key)) do
    if node ~= me then
      -- A refusal must not undo what else this call does.
      redis.pcall('PUBLISH', channel .. node, text)
      told = told + 1
    end
  end
  return told, i + 2
end
`;
