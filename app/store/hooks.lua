-- Hooks and their deliveries, all under one hash tag (hooks.py).

local HOOK = '{hooks}h:'
local QUEUE = '{hooks}q:'
local EVERYBODY = {'{hooks}all:table_opened', '{hooks}all:game_finished'}

local function clear_queue(due, records, hook)
  for _, id in ipairs(redis.call('ZRANGE', QUEUE .. hook, 0, -1)) do
    redis.call('HDEL', records, hook .. ' ' .. id)
  end
  redis.call('DEL', QUEUE .. hook)
  redis.call('ZREM', due, hook)
end

local function unsubscribe(hook)
  for _, key in ipairs(EVERYBODY) do
    redis.call('SREM', key, hook)
  end
end

-- It is looked at again when its first delivery is due, but not before `free`.
local function look_again(due, hook, free)
  local first = redis.call('ZRANGE', QUEUE .. hook, 0, 0, 'WITHSCORES')
  if #first == 0 then
    redis.call('ZREM', due, hook)
  else
    redis.call('ZADD', due, whole(math.max(tonumber(first[2]), free)), hook)
  end
end

local function enqueue(due, records, hook, id, record)
  redis.call('HSET', records, hook .. ' ' .. id, record)
  redis.call('ZADD', QUEUE .. hook, whole(now_ms()), id)
  look_again(due, hook, tonumber(redis.call('HGET', HOOK .. hook, 'free') or 0))
end

local function give_up(records, dead, name, most)
  redis.call('ZADD', dead, whole(now_ms()), name)
  for _, old in ipairs(redis.call('ZRANGE', dead, 0, -most - 1)) do
    redis.call('HDEL', records, old)
    redis.call('ZREM', dead, old)
  end
end

-- keys: the owner's hooks, then the sets of hooks that are sent everybody's events. args: id, how many one may have, seconds
-- kept, fields. Returns when it was made, or nothing.
local function add_hook(keys, args)
  for _, id in ipairs(redis.call('SMEMBERS', keys[1])) do
    if redis.call('EXISTS', HOOK .. id) == 0 then
      redis.call('SREM', keys[1], id)
    end
  end
  if redis.call('SCARD', keys[1]) >= tonumber(args[2]) then
    return nil
  end
  local now = whole(now_ms())
  redis.call('HSET', HOOK .. args[1], 'created', now, unpack(args, 4))
  redis.call('EXPIRE', HOOK .. args[1], args[3])
  for _, key in ipairs(keys) do
    redis.call('SADD', key, args[1])
  end
  redis.call('EXPIRE', keys[1], args[3])
  return now
end

-- keys: due, records, dead, the owner's hooks. args: id. Returns whether the owner had it.
local function remove_hook(keys, args)
  local due, records, dead, mine = unpack(keys)
  if redis.call('SREM', mine, args[1]) == 0 then
    return 0
  end
  clear_queue(due, records, args[1])
  for _, name in ipairs(redis.call('ZRANGE', dead, 0, -1)) do
    if string.sub(name, 1, #args[1] + 1) == args[1] .. ' ' then
      redis.call('ZREM', dead, name)
      redis.call('HDEL', records, name)
    end
  end
  redis.call('DEL', HOOK .. args[1])
  unsubscribe(args[1])
  return 1
end

-- keys: hooks of owners, then perhaps the set of hooks that are sent everybody's events. args: event, how many owners. Returns
-- the ids of the hooks that subscribe to it, some perhaps twice.
local function subscribers(keys, args)
  local found = {}
  for place, key in ipairs(keys) do
    for _, id in ipairs(redis.call('SMEMBERS', key)) do
      local of = redis.call('HMGET', HOOK .. id, 'events', 'scope')
      local is_wanted = of[1] and string.find(' ' .. of[1] .. ' ', ' ' .. args[1] .. ' ', 1, true)
      if is_wanted and (place <= tonumber(args[2]) or of[2] == 'all') then
        found[#found + 1] = id
      end
    end
  end
  return found
end

local function waiting_of(owner)
  local sum = 0
  for _, id in ipairs(redis.call('SMEMBERS', '{hooks}of:' .. owner)) do
    sum = sum + redis.call('ZCARD', QUEUE .. id)
  end
  return sum
end

-- keys: due, records, known, dead. args: when it happened, ms it is known what was enqueued, how many are known, how many may wait
-- in all, how many for one owner; then for each delivery: hook, id, record. Returns how many were dropped for want of room.
local function enqueue_deliveries(keys, args)
  local due, records, known, dead = unpack(keys)
  local now, dropped, of_owner = now_ms(), 0, {}
  local most, most_of_owner = tonumber(args[4]), tonumber(args[5])
  local free = most - redis.call('HLEN', records) + redis.call('ZCARD', dead)
  redis.call('ZREMRANGEBYSCORE', known, '-inf', now - tonumber(args[2]))
  redis.call('ZREMRANGEBYRANK', known, 0, -1 - tonumber(args[3]))
  for place = 6, #args, 3 do
    local hook, id, record = args[place], args[place + 1], args[place + 2]
    local of = redis.call('HMGET', HOOK .. hook, 'created', 'off', 'owner')
    if not of[1] then
      unsubscribe(hook)
    elseif not of[2] and tonumber(of[1]) <= tonumber(args[1])
      and redis.call('ZADD', known, 'NX', now, hook .. ' ' .. id) == 1 then
      local owner = of[3]
      of_owner[owner] = of_owner[owner] or waiting_of(owner)
      local room = most_of_owner * (free / most) ^ 3 - of_owner[owner]
      if redis.call('ZCARD', QUEUE .. hook) < room then
        enqueue(due, records, hook, id, record)
        of_owner[owner], free = of_owner[owner] + 1, free - 1
      else
        redis.call('HINCRBY', HOOK .. hook, 'dropped', 1)
        dropped = dropped + 1
      end
    end
  end
  return dropped
end

-- keys: due, records. args: lease in ms, how many. Returns one delivery of each hook that is due: hook, id, record, url, secret.
local function claim_deliveries(keys, args)
  local due, records = keys[1], keys[2]
  local now, claimed = now_ms(), {}
  for _, hook in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, args[2])) do
    local of = redis.call('HMGET', HOOK .. hook, 'url', 'secret', 'off')
    local first = redis.call('ZRANGE', QUEUE .. hook, 0, 0, 'WITHSCORES')
    if not of[1] or of[3] then
      clear_queue(due, records, hook)
    elseif #first == 0 or tonumber(first[2]) > now then
      look_again(due, hook, 0)
    else
      local free = whole(now + tonumber(args[1]))
      redis.call('HSET', HOOK .. hook, 'free', free)
      redis.call('ZADD', due, free, hook)
      claimed[#claimed + 1] = {hook, first[1], redis.call('HGET', records, hook .. ' ' .. first[1]), of[1], of[2]}
    end
  end
  return claimed
end

-- keys: due, records, dead. args: hook, id, outcome, record, ms until it is tried again, ms in which the hook is left alone,
-- event, result, seconds a hook is kept, deliveries that are kept dead.
local function settle_delivery(keys, args)
  local due, records, dead = unpack(keys)
  local hook, id, outcome, record, wait, rest, event, result, kept, most = unpack(args)
  local of, name, now = HOOK .. hook, hook .. ' ' .. id, now_ms()
  if redis.call('EXISTS', of) == 0 then
    clear_queue(due, records, hook)
    return 0
  end
  if outcome == 'gone' then
    clear_queue(due, records, hook)
    redis.call('HSET', of, 'off', '1')
  end
  local free = now + tonumber(rest)
  redis.call('HSET', of, 'last_at', whole(now), 'last_event', event, 'last_result', result, 'free', whole(free))
  if outcome == 'delivered' then
    redis.call('HSET', of, 'failures', '0')
    redis.call('EXPIRE', of, kept)
    redis.call('EXPIRE', '{hooks}of:' .. redis.call('HGET', of, 'owner'), kept)
    redis.call('ZREM', QUEUE .. hook, id)
    redis.call('HDEL', records, name)
  else
    redis.call('HINCRBY', of, 'failures', 1)
    if redis.call('ZSCORE', QUEUE .. hook, id) then
      redis.call('HSET', records, name, record)
      if outcome == 'failed' then
        redis.call('ZADD', QUEUE .. hook, whole(now + tonumber(wait)), id)
      else
        redis.call('ZREM', QUEUE .. hook, id)
        give_up(records, dead, name, tonumber(most))
      end
    end
  end
  look_again(due, hook, free)
  return 1
end

-- keys: due, records, dead. args: hook, id, record. Returns whether a dead delivery is in the queue again.
local function redeliver(keys, args)
  local due, records, dead = unpack(keys)
  local hook, id, record = unpack(args)
  local name = hook .. ' ' .. id
  local of = redis.call('HMGET', HOOK .. hook, 'url', 'off')
  if not of[1] or of[2] or redis.call('ZREM', dead, name) == 0 then
    return 0
  end
  enqueue(due, records, hook, id, record)
  return 1
end

redis.register_function('coinche_VERSION_add_hook', add_hook)
redis.register_function('coinche_VERSION_remove_hook', remove_hook)
redis.register_function('coinche_VERSION_subscribers', subscribers)
redis.register_function('coinche_VERSION_enqueue_deliveries', enqueue_deliveries)
redis.register_function('coinche_VERSION_claim_deliveries', claim_deliveries)
redis.register_function('coinche_VERSION_settle_delivery', settle_delivery)
redis.register_function('coinche_VERSION_redeliver', redeliver)
