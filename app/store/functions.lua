#!lua name=coinche_1

-- What must happen to a table in one piece. The library's name carries a version, so that old and new processes can share a store.

local COMMANDS_KEPT = 64

-- A duty that is due at once is announced, and done by whoever takes it; after so long it is found like any other.
local AT_ONCE_MS = 250
local WORK = 'coinche:work'

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Lua would write a time as 1.796e+12.
local function whole(number)
  return string.format('%.0f', number)
end

-- Nobody looked for duties for so long: the store or all who work with it were away, and those who wait get the time back.
local OUTAGE_MS = 3000
local ALIVE_EVERY_MS = 1000

-- keys: table, log, commands, dues, outbox; all of one hash tag.
-- args: seq before, command id, entry, timer ('keep', 'none' or ms), the seat whose time it is or '', frame or '',
-- finished game or '', table id, channel.
local function append(keys, args)
  local meta, log, commands, dues, outbox = keys[1], keys[2], keys[3], keys[4], keys[5]
  local before, cid, entry, timer, seat, frame, finished, id, channel = unpack(args)
  local known = redis.call('ZSCORE', commands, cid)
  if known then
    return {'known', whole(known)}
  end
  local seq = redis.call('HGET', meta, 'seq')
  if not seq then
    return {'gone'}
  end
  if tonumber(seq) ~= tonumber(before) then
    return {'stale', seq}
  end
  seq = whole(tonumber(seq) + 1)
  local now = now_ms()
  local due = ''
  if timer == 'keep' then
    due = redis.call('HGET', meta, 'due') or ''
  elseif timer == 'none' then
    redis.call('ZREM', dues, id)
  else
    due = whole(now + math.max(tonumber(timer), AT_ONCE_MS))
    -- What is still on its way when the time is up shall arrive: the lag that was measured is added, unseen.
    local lag = seat ~= '' and redis.call('HGET', meta, 'lag' .. seat) or 0
    redis.call('ZADD', dues, whole(tonumber(due) + tonumber(lag)), id)
    if tonumber(timer) == 0 then
      redis.call('PUBLISH', WORK, id)
    end
  end
  redis.call('XADD', log, seq .. '-0', 'entry', entry, 'at', whole(now), 'due', due)
  redis.call('HSET', meta, 'seq', seq, 'due', due)
  if timer ~= 'keep' then
    redis.call('HSET', meta, 'waits', timer ~= 'none' and tonumber(timer) > 0 and '1' or '0')
  end
  redis.call('ZADD', commands, seq, cid)
  redis.call('ZREMRANGEBYRANK', commands, 0, -COMMANDS_KEPT - 1)
  if frame ~= '' then
    redis.call('HSET', meta, 'frame', frame, 'base', seq)
  end
  if finished ~= '' then
    local start = redis.call('HMGET', meta, 'frame', 'base')
    redis.call('XADD', outbox, '*', 'table', id, 'game', finished, 'frame', start[1], 'first', start[2], 'last', seq)
  end
  redis.call('PUBLISH', channel, seq)
  return {'appended', seq, whole(now), due}
end

-- keys: table, log. A table as it was when its present game began, and the entries since.
local function load(keys)
  local meta = redis.call('HMGET', keys[1], 'epoch', 'seq', 'base', 'frame', 'due')
  if not meta[1] then
    return {}
  end
  return {meta[1], meta[2], meta[4], meta[5], redis.call('XRANGE', keys[2], meta[3], '+')}
end

-- After an outage every time that people see running is as long as it was. Returns the tables whose time was moved.
local function give_back(dues, last, gap)
  local moved = {}
  local all = redis.call('ZRANGE', dues, 0, -1, 'WITHSCORES')
  for place = 1, #all, 2 do
    local id, due = all[place], tonumber(all[place + 1])
    local meta = string.gsub(dues, 'dues$', 't:' .. id)
    if due > last and redis.call('HGET', meta, 'waits') == '1' then
      redis.call('ZADD', dues, whole(due + gap), id)
      redis.call('HSET', meta, 'due', whole(tonumber(redis.call('HGET', meta, 'due')) + gap))
      moved[#moved + 1] = id
    end
  end
  return moved
end

-- keys: dues, alive. args: lease in ms, how many. A claimed duty stays in the set, later, so that it is not lost with its worker.
local function claim(keys, args)
  local dues, alive = keys[1], keys[2]
  local now = now_ms()
  local last = tonumber(redis.call('GET', alive) or now)
  local moved = {}
  if now - last > OUTAGE_MS then
    moved = give_back(dues, last, now - last)
  end
  if now - last > ALIVE_EVERY_MS or now == last then
    redis.call('SET', alive, whole(now))
  end
  local ids = redis.call('ZRANGEBYSCORE', dues, '-inf', now, 'LIMIT', 0, args[2])
  for _, id in ipairs(ids) do
    redis.call('ZADD', dues, whole(now + tonumber(args[1])), id)
  end
  return {whole(now), ids, moved}
end

-- keys: dues. args: table id, lease in ms. 1 if the table's duty is due at once and nobody else has taken it.
local function take(keys, args)
  local due = redis.call('ZSCORE', keys[1], args[1])
  local now = now_ms()
  if not due or tonumber(due) > now + AT_ONCE_MS then
    return 0
  end
  redis.call('ZADD', keys[1], whole(now + tonumber(args[2])), args[1])
  return 1
end

redis.register_function('coinche_1_append', append)
redis.register_function{function_name = 'coinche_1_load', callback = load, flags = {'no-writes'}}
redis.register_function('coinche_1_claim', claim)
redis.register_function('coinche_1_take', take)
