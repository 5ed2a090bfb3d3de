#!lua name=coinche_VERSION

-- What must happen to a table in one piece. VERSION is made from this text: old and new processes can share a store.

local COMMANDS_KEPT = 64

-- A duty that is due at once is announced, and done by whoever takes it; after so long it is found like any other.
local AT_ONCE_MS = 250
local WORK = 'coinche:work'

-- Nobody looked for duties for so long: the store or all who work with it were away, and those who wait get the time back.
local OUTAGE_MS = 3000
local ALIVE_EVERY_MS = 1000

local DAY_SECONDS = 24 * 3600

-- When a token was last used is told as exactly as this.
local USED_EVERY_MS = 60 * 1000

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Lua would write a time as 1.796e+12.
local function whole(number)
  return string.format('%.0f', number)
end

-- All keys of a table go together, `ms` after it was last used, and not before the archive has all its finished games.
local function used(keys, ms)
  local owed = tonumber(redis.call('HGET', keys[1], 'owed') or 0)
  for _, key in ipairs(keys) do
    if owed > 0 then
      redis.call('PERSIST', key)
    else
      redis.call('PEXPIRE', key, ms)
    end
  end
end

-- The number under which a command was stored. A caller that waits for replicas waits for what it has written itself, so something
-- is written here too: what was stored and not confirmed is then not answered before it is.
local function number_of(meta, commands, cid)
  local known = redis.call('ZSCORE', commands, cid)
  if known then
    redis.call('HSET', meta, 'again', known)
    return whole(known)
  end
end

-- keys: table. args: frame, ms it is kept unused. Returns its epoch.
local function open(keys, args)
  if redis.call('EXISTS', keys[1]) == 0 then
    redis.call('HSET', keys[1], 'epoch', '1', 'seq', '0', 'at', '0', 'base', '1', 'frame', args[1], 'due', '', 'owed', '0')
    redis.call('PEXPIRE', keys[1], args[2])
  end
  return redis.call('HGET', keys[1], 'epoch')
end

-- keys: table, log, commands, talk, dues, outbox, notices; all of one hash tag.
-- args: seq before; epoch and time of the entry before, or '' twice; command id, entry, timer ('keep', 'none' or ms), the seat
-- whose time it is or '', frame or '', finished game or '', table id, channel, ms it is kept unused, what hooks are to hear or ''.
local function append(keys, args)
  local meta, log, commands, talk, dues, outbox, notices = unpack(keys)
  local before, epoch, at, cid, entry, timer, seat, frame, finished, id, channel, kept, notice = unpack(args)
  local known = number_of(meta, commands, cid)
  if known then
    return {'known', known}
  end
  local last = redis.call('HMGET', meta, 'seq', 'epoch', 'at')
  local seq = last[1]
  if not seq then
    return {'gone'}
  end
  if tonumber(seq) ~= tonumber(before) or (epoch ~= '' and (epoch ~= last[2] or at ~= (last[3] or at))) then
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
  redis.call('HSET', meta, 'seq', seq, 'at', whole(now), 'due', due)
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
    redis.call('HINCRBY', meta, 'owed', 1)
  end
  if notice ~= '' then
    redis.call('XADD', notices, '*', 'notice', notice, 'at', whole(now), 'due', due)
  end
  used({meta, log, commands, talk}, kept)
  redis.call('PUBLISH', channel, seq)
  return {'appended', seq, whole(now), due}
end

-- keys: table, commands. args: command id.
local function find(keys, args)
  return number_of(keys[1], keys[2], args[1])
end

-- keys: table, log. A table as it was when its present game began, and the entries since.
local function load(keys)
  local meta = redis.call('HMGET', keys[1], 'epoch', 'seq', 'base', 'frame', 'due')
  if not meta[1] then
    return {}
  end
  return {meta[1], meta[2], meta[4], meta[5], redis.call('XRANGE', keys[2], meta[3], '+')}
end

-- keys: table, log. args: seq. Where the log is, and its entries from that one on.
local function tail(keys, args)
  local meta = redis.call('HMGET', keys[1], 'epoch', 'seq', 'base')
  if not meta[1] then
    return {}
  end
  return {meta[1], meta[2], meta[3], redis.call('XRANGE', keys[2], args[1], '+')}
end

-- keys: table. args: epoch and seq that were found, the new epoch, channel. Nothing, if somebody else has done it.
local function begin_epoch(keys, args)
  local found = redis.call('HMGET', keys[1], 'epoch', 'seq')
  if found[1] ~= args[1] or found[2] ~= args[2] then
    return 0
  end
  redis.call('HSET', keys[1], 'epoch', args[3])
  redis.call('PUBLISH', args[4], args[2])
  return 1
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
  local claimed = {}
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', dues, '-inf', now, 'LIMIT', 0, args[2])) do
    if redis.call('EXISTS', (string.gsub(dues, 'dues$', 't:' .. id))) == 1 then
      redis.call('ZADD', dues, whole(now + tonumber(args[1])), id)
      claimed[#claimed + 1] = id
    else
      redis.call('ZREM', dues, id)
    end
  end
  return {whole(now), claimed, moved}
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

-- keys: table, log, commands, talk, outbox, tries, dead, notices. args: letter, group, ms the table is kept unused, what is wrong
-- with the letter or '', what hooks are to hear or ''. An archived game frees its table; one that was put aside holds it, so that
-- the game stays replayable.
local function take_out(keys, args)
  local meta, log, commands, talk, outbox, tries, dead, notices = unpack(keys)
  local letter, group, kept, wrong, notice = unpack(args)
  local found = redis.call('XRANGE', outbox, letter, letter)
  redis.call('XACK', outbox, group, letter)
  redis.call('XDEL', outbox, letter)
  redis.call('HDEL', tries, letter)
  if #found == 0 then
    return 0
  end
  if notice ~= '' then
    redis.call('XADD', notices, '*', 'notice', notice, 'at', whole(now_ms()), 'due', '')
  end
  if wrong ~= '' then
    local fields = found[1][2]
    fields[#fields + 1] = 'error'
    fields[#fields + 1] = wrong
    redis.call('XADD', dead, '*', unpack(fields))
  elseif redis.call('EXISTS', meta) == 1 and redis.call('HINCRBY', meta, 'owed', -1) <= 0 then
    redis.call('HSET', meta, 'owed', '0')
    redis.call('XTRIM', log, 'MINID', redis.call('HGET', meta, 'base'))
    used({meta, log, commands, talk}, kept)
  end
  return 1
end

-- keys: outbox, dead. args: letter. One that was put aside goes back, for the archive to try it anew.
local function put_back(keys, args)
  local found = redis.call('XRANGE', keys[2], args[1], args[1])
  if #found == 0 then
    return 0
  end
  local all, fields = found[1][2], {}
  for place = 1, #all, 2 do
    if all[place] ~= 'error' then
      fields[#fields + 1] = all[place]
      fields[#fields + 1] = all[place + 1]
    end
  end
  redis.call('XADD', keys[1], '*', unpack(fields))
  return redis.call('XDEL', keys[2], args[1])
end

-- keys: table, log, commands, talk, here. args: connection, present until, ms of that, ms the table is kept unused, channel, word.
local function here(keys, args)
  local meta, log, commands, talk, company = unpack(keys)
  local added = redis.call('ZADD', company, args[2], args[1])
  redis.call('PEXPIRE', company, args[3])
  used({meta, log, commands, talk}, args[4])
  if added == 1 then
    redis.call('PUBLISH', args[5], args[6])
  end
  return added
end

-- keys: table, log, commands, talk. args: line, lines kept, ms the table is kept unused, channel.
local function say(keys, args)
  redis.call('RPUSH', keys[4], args[1])
  redis.call('LTRIM', keys[4], -tonumber(args[2]), -1)
  used(keys, args[3])
  redis.call('PUBLISH', args[4], args[1])
  return 1
end

-- keys: table. args: field, ms. Of a table that is gone nothing is kept.
local function lag(keys, args)
  return redis.call('EXISTS', keys[1]) == 1 and redis.call('HSET', keys[1], args[1], args[2]) or 0
end

-- keys: table, log, commands, talk, here, dues. args: epoch and seq at which it was judged, table id, channel.
-- Nothing of it is kept, unless the archive is still to have a finished game ('owed') or something has happened since ('stale').
local function forget(keys, args)
  local meta = redis.call('HMGET', keys[1], 'epoch', 'seq', 'owed')
  if meta[1] and (meta[1] ~= args[1] or meta[2] ~= args[2]) then
    return 'stale'
  end
  if tonumber(meta[3] or 0) > 0 then
    return 'owed'
  end
  redis.call('DEL', unpack(keys, 1, 5))
  redis.call('ZREM', keys[6], args[3])
  redis.call('PUBLISH', args[4], args[2])
  return 'forgotten'
end

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
  local full = math.max(tonumber(redis.call('GET', keys[1]) or 0), now)
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

-- Hooks and their post, all under one hash tag (app/store/hooks.py).
local HOOK = '{hooks}h:'
local QUEUE = '{hooks}q:'
local EVERYBODY = {'{hooks}all:table_opened', '{hooks}all:game_finished'}

local function clear_mail(due, mail, hook)
  for _, id in ipairs(redis.call('ZRANGE', QUEUE .. hook, 0, -1)) do
    redis.call('HDEL', mail, hook .. ' ' .. id)
  end
  redis.call('DEL', QUEUE .. hook)
  redis.call('ZREM', due, hook)
end

local function hear_nobody(hook)
  for _, key in ipairs(EVERYBODY) do
    redis.call('SREM', key, hook)
  end
end

-- It is looked at again when its first letter's time comes, but not before `free`.
local function look_again(due, hook, free)
  local first = redis.call('ZRANGE', QUEUE .. hook, 0, 0, 'WITHSCORES')
  if #first == 0 then
    redis.call('ZREM', due, hook)
  else
    redis.call('ZADD', due, whole(math.max(tonumber(first[2]), free)), hook)
  end
end

local function enqueue(due, mail, hook, id, record)
  redis.call('HSET', mail, hook .. ' ' .. id, record)
  redis.call('ZADD', QUEUE .. hook, whole(now_ms()), id)
  look_again(due, hook, tonumber(redis.call('HGET', HOOK .. hook, 'free') or 0))
end

local function bury(mail, dead, name, most)
  redis.call('ZADD', dead, whole(now_ms()), name)
  for _, old in ipairs(redis.call('ZRANGE', dead, 0, -most - 1)) do
    redis.call('HDEL', mail, old)
    redis.call('ZREM', dead, old)
  end
end

-- keys: the owner's hooks, then those of everybody that shall know it. args: id, how many one may have, seconds kept, fields.
-- When it was made, or nothing.
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

-- keys: due, mail, dead, the owner's hooks. args: id.
local function remove_hook(keys, args)
  local due, mail, dead, mine = unpack(keys)
  if redis.call('SREM', mine, args[1]) == 0 then
    return 0
  end
  clear_mail(due, mail, args[1])
  for _, name in ipairs(redis.call('ZRANGE', dead, 0, -1)) do
    if string.sub(name, 1, #args[1] + 1) == args[1] .. ' ' then
      redis.call('ZREM', dead, name)
      redis.call('HDEL', mail, name)
    end
  end
  redis.call('DEL', HOOK .. args[1])
  hear_nobody(args[1])
  return 1
end

-- keys: due, mail, told, dead. args: when it happened, ms it is known what was told, letters that may wait for one hook, letters
-- that are kept dead; then for each letter: hook, id, record. Returns how many are new.
local function post(keys, args)
  local due, mail, told, dead = unpack(keys)
  local now, new = now_ms(), 0
  redis.call('ZREMRANGEBYSCORE', told, '-inf', now - tonumber(args[2]))
  for place = 5, #args, 3 do
    local hook, id, record = args[place], args[place + 1], args[place + 2]
    local name = hook .. ' ' .. id
    local of = redis.call('HMGET', HOOK .. hook, 'created', 'off')
    if not of[1] then
      hear_nobody(hook)
    elseif not of[2] and tonumber(of[1]) <= tonumber(args[1]) and redis.call('ZADD', told, 'NX', now, name) == 1 then
      new = new + 1
      if redis.call('ZCARD', QUEUE .. hook) < tonumber(args[3]) then
        enqueue(due, mail, hook, id, record)
      else
        redis.call('HSET', mail, name, record)
        bury(mail, dead, name, tonumber(args[4]))
      end
    end
  end
  return new
end

-- keys: due, mail. args: lease in ms, how many. One letter of each hook whose time has come: hook, id, record, url, secret.
local function claim_mail(keys, args)
  local due, mail = keys[1], keys[2]
  local now, claimed = now_ms(), {}
  for _, hook in ipairs(redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, args[2])) do
    local of = redis.call('HMGET', HOOK .. hook, 'url', 'secret', 'off')
    local first = redis.call('ZRANGE', QUEUE .. hook, 0, 0, 'WITHSCORES')
    if not of[1] or of[3] then
      clear_mail(due, mail, hook)
    elseif #first == 0 or tonumber(first[2]) > now then
      look_again(due, hook, 0)
    else
      local free = whole(now + tonumber(args[1]))
      redis.call('HSET', HOOK .. hook, 'free', free)
      redis.call('ZADD', due, free, hook)
      claimed[#claimed + 1] = {hook, first[1], redis.call('HGET', mail, hook .. ' ' .. first[1]), of[1], of[2]}
    end
  end
  return claimed
end

-- keys: due, mail, dead. args: hook, id, what becomes of it, record, ms until it is tried again, ms in which the hook is left
-- alone, event, result, seconds a hook is kept, letters that are kept dead.
local function settle_mail(keys, args)
  local due, mail, dead = unpack(keys)
  local hook, id, fate, record, wait, rest, event, result, kept, most = unpack(args)
  local of, name, now = HOOK .. hook, hook .. ' ' .. id, now_ms()
  if redis.call('EXISTS', of) == 0 then
    clear_mail(due, mail, hook)
    return 0
  end
  if fate == 'gone' then
    clear_mail(due, mail, hook)
    redis.call('HSET', of, 'off', '1')
  end
  local free = now + tonumber(rest)
  redis.call('HSET', of, 'last_at', whole(now), 'last_event', event, 'last_result', result, 'free', whole(free))
  if fate == 'delivered' then
    redis.call('HSET', of, 'failures', '0')
    redis.call('EXPIRE', of, kept)
    redis.call('EXPIRE', '{hooks}of:' .. redis.call('HGET', of, 'owner'), kept)
    redis.call('ZREM', QUEUE .. hook, id)
    redis.call('HDEL', mail, name)
  else
    redis.call('HINCRBY', of, 'failures', 1)
    if redis.call('ZSCORE', QUEUE .. hook, id) then
      redis.call('HSET', mail, name, record)
      if fate == 'failed' then
        redis.call('ZADD', QUEUE .. hook, whole(now + tonumber(wait)), id)
      else
        redis.call('ZREM', QUEUE .. hook, id)
        bury(mail, dead, name, tonumber(most))
      end
    end
  end
  look_again(due, hook, free)
  return 1
end

-- keys: due, mail, dead. args: hook, id, record. Whether a dead letter is in the post again.
local function redeliver(keys, args)
  local due, mail, dead = unpack(keys)
  local hook, id, record = unpack(args)
  local name = hook .. ' ' .. id
  local of = redis.call('HMGET', HOOK .. hook, 'url', 'off')
  if not of[1] or of[2] or redis.call('ZREM', dead, name) == 0 then
    return 0
  end
  enqueue(due, mail, hook, id, record)
  return 1
end

redis.register_function('coinche_VERSION_open', open)
redis.register_function('coinche_VERSION_append', append)
redis.register_function('coinche_VERSION_find', find)
redis.register_function{function_name = 'coinche_VERSION_load', callback = load, flags = {'no-writes'}}
redis.register_function{function_name = 'coinche_VERSION_tail', callback = tail, flags = {'no-writes'}}
redis.register_function('coinche_VERSION_begin_epoch', begin_epoch)
redis.register_function('coinche_VERSION_claim', claim)
redis.register_function('coinche_VERSION_take', take)
redis.register_function('coinche_VERSION_take_out', take_out)
redis.register_function('coinche_VERSION_put_back', put_back)
redis.register_function('coinche_VERSION_here', here)
redis.register_function('coinche_VERSION_say', say)
redis.register_function('coinche_VERSION_lag', lag)
redis.register_function('coinche_VERSION_forget', forget)
redis.register_function('coinche_VERSION_seat', seat)
redis.register_function('coinche_VERSION_keep_guest', keep_guest)
redis.register_function('coinche_VERSION_guest', guest)
redis.register_function('coinche_VERSION_keep_token', keep_token)
redis.register_function('coinche_VERSION_use_token', use_token)
redis.register_function('coinche_VERSION_keep_bot', keep_bot)
redis.register_function('coinche_VERSION_spend', spend)
redis.register_function('coinche_VERSION_add_hook', add_hook)
redis.register_function('coinche_VERSION_remove_hook', remove_hook)
redis.register_function('coinche_VERSION_post', post)
redis.register_function('coinche_VERSION_claim_mail', claim_mail)
redis.register_function('coinche_VERSION_settle_mail', settle_mail)
redis.register_function('coinche_VERSION_redeliver', redeliver)
