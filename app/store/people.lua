-- People: where they sit, guests, tokens, bots, and how often they may ask.

-- When a token was last used is told as exactly as this.
local USED_EVERY_MS = 60 * 1000

-- keys: a person's tables. args: table, how many are kept, seconds kept unused. The oldest make room.
local function seat(keys, args)
  redis.call('ZADD', keys[1], now_ms(), args[1])
  redis.call('ZREMRANGEBYRANK', keys[1], 0, -tonumber(args[2]) - 1)
  return redis.call('EXPIRE', keys[1], args[3])
end

-- keys: guest. args: id, name, seconds kept unused.
local function keep_guest(keys, args)
  redis.call('HSET', keys[1], 'id', args[1], 'name', args[2])
  redis.call('EXPIRE', keys[1], args[3])
  return 1
end

-- keys: guest. args: seconds kept unused, which begin anew with each day of use. Id and name, or nothing.
local function guest(keys, args)
  local found = redis.call('HMGET', keys[1], 'id', 'name')
  if not found[1] then
    return {}
  end
  if redis.call('TTL', keys[1]) < tonumber(args[1]) - DAY_SECONDS then
    redis.call('EXPIRE', keys[1], args[1])
  end
  return found
end

-- keys: a person's tokens, when they were last used, who the person is; all of one hash tag.
-- args: id, record, how many one may have, seconds kept unused, name, '1' if the person has to be there already or ''.
-- Those that have expired make room.
local function keep_token(keys, args)
  if args[6] ~= '' and redis.call('EXISTS', keys[3]) == 0 then
    return 0
  end
  local now = now_ms()
  local all = redis.call('HGETALL', keys[1])
  local left = #all / 2
  for place = 1, #all, 2 do
    local expires = cjson.decode(all[place + 1]).expires
    if type(expires) == 'number' and expires <= now then
      redis.call('HDEL', keys[1], all[place])
      redis.call('HDEL', keys[2], all[place])
      left = left - 1
    end
  end
  if left >= tonumber(args[3]) then
    return 0
  end
  redis.call('HSET', keys[1], args[1], args[2])
  redis.call('HSET', keys[3], 'name', args[5])
  redis.call('EXPIRE', keys[1], args[4])
  redis.call('EXPIRE', keys[3], args[4])
  return 1
end

-- keys: a person's tokens, when they were last used, who the person is; all of one hash tag.
-- args: id, hash of the secret, seconds kept unused.
-- The token's record, the person's name, whose bot that is or '', and 1 if it was not used just before; or nothing.
local function use_token(keys, args)
  local record = redis.call('HGET', keys[1], args[1])
  local who = redis.call('HMGET', keys[3], 'name', 'owner')
  if not record or not who[1] then
    return {}
  end
  local now = now_ms()
  local token = cjson.decode(record)
  if token.hash ~= args[2] or (type(token.expires) == 'number' and token.expires <= now) then
    return {}
  end
  local is_new = now - tonumber(redis.call('HGET', keys[2], args[1]) or 0) > USED_EVERY_MS
  if is_new then
    redis.call('HSET', keys[2], args[1], whole(now))
    for _, key in ipairs(keys) do
      redis.call('EXPIRE', key, args[3])
    end
  end
  return {record, who[1], who[2] or '', is_new and 1 or 0}
end

-- keys: a person's tokens, when they were last used; both of one hash tag. args: id, channel, word that is said there.
local function void_token(keys, args)
  local had = redis.call('HDEL', keys[1], args[1])
  redis.call('HDEL', keys[2], args[1])
  if had == 1 then
    redis.call('PUBLISH', args[2], args[3])
  end
  return had
end

-- keys: a person's bots. args: id of a new one, how many one may have, seconds kept unused.
local function keep_bot(keys, args)
  if redis.call('SCARD', keys[1]) >= tonumber(args[2]) then
    return 0
  end
  redis.call('SADD', keys[1], args[1])
  redis.call('EXPIRE', keys[1], args[3])
  return 1
end

-- keys: bucket. args: how many a second, how many at once, how many are asked for, 'take', 'look' or 'charge'.
-- What is kept is the time in ms at which the bucket will be full. A debt is never greater than the bucket.
-- Returns whether it is allowed, how many are left, ms until all are there, ms until what was asked for would be there.
local function spend(keys, args)
  local each, most, cost, how = 1000 / tonumber(args[1]), tonumber(args[2]), tonumber(args[3]), args[4]
  local now = now_ms()
  -- Never later than the greatest debt: where the clock was set back nobody waits until it has caught up.
  local full = math.min(math.max(tonumber(redis.call('GET', keys[1]) or 0), now), now + 2 * most * each)
  local after = full + cost * each
  local wait = after - now - most * each
  local allowed = wait <= 0
  if how == 'charge' or (how == 'take' and allowed) then
    full = math.min(after, now + 2 * most * each)
    redis.call('SET', keys[1], string.format('%.3f', full), 'PX', whole(math.ceil(full - now) + 1))
  end
  local left = math.max(0, math.floor(most - (full - now) / each + 0.000001))
  return {allowed and 1 or 0, left, math.ceil(full - now), allowed and 0 or math.ceil(wait)}
end

-- keys: what one has open of a kind. args: how many that may be, or '' where they are open already, ms after which they count no
-- more, their names. Returns whether they are open. What would count for longer than that was written before a clock was set back.
local function hold(keys, args)
  local now, lasts = now_ms(), tonumber(args[2])
  redis.call('ZREMRANGEBYSCORE', keys[1], '-inf', whole(now))
  redis.call('ZREMRANGEBYSCORE', keys[1], '(' .. whole(now + lasts), '+inf')
  if args[1] ~= '' and redis.call('ZCARD', keys[1]) >= tonumber(args[1]) then
    return 0
  end
  for place = 3, #args do
    redis.call('ZADD', keys[1], whole(now + lasts), args[place])
  end
  redis.call('PEXPIRE', keys[1], args[2])
  return 1
end

-- keys: what one holds. args: one more of it, how many one may hold, how many are looked at, seconds kept unused.
-- Nothing if there was room, or those that were looked at longest ago.
local function count_game(keys, args)
  if not redis.call('ZSCORE', keys[1], args[1]) and redis.call('ZCARD', keys[1]) >= tonumber(args[2]) then
    local oldest = redis.call('ZRANGE', keys[1], 0, tonumber(args[3]) - 1)
    for _, one in ipairs(oldest) do
      redis.call('ZADD', keys[1], whole(now_ms()), one)
    end
    return oldest
  end
  redis.call('ZADD', keys[1], 'NX', whole(now_ms()), args[1])
  redis.call('EXPIRE', keys[1], args[4])
  return {}
end

redis.register_function('coinche_VERSION_hold', hold)
redis.register_function('coinche_VERSION_count_game', count_game)
redis.register_function('coinche_VERSION_seat', seat)
redis.register_function('coinche_VERSION_keep_guest', keep_guest)
redis.register_function('coinche_VERSION_guest', guest)
redis.register_function('coinche_VERSION_keep_token', keep_token)
redis.register_function('coinche_VERSION_use_token', use_token)
redis.register_function('coinche_VERSION_void_token', void_token)
redis.register_function('coinche_VERSION_keep_bot', keep_bot)
redis.register_function('coinche_VERSION_spend', spend)
