-- A table: its log with its lock and its timers, its way to the archive, who is there.

local COMMANDS_KEPT = 64

-- A duty that is due at once is announced, and done by whoever takes it; after so long it is found like any other.
local AT_ONCE_MS = 250
local WORK = 'coinche:work'

-- Nobody looked for duties for so long: the store or all who work with it were away, and those who wait get the time back.
local OUTAGE_MS = 3000
local ALIVE_EVERY_MS = 1000

-- Time seems to run back by more than this only where somebody has set the clock.
local STEP_MS = 1000

-- So many notices of a shard are kept for hooks, the newest, while nobody makes deliveries of them.
local MOST_NOTICES = 2000

local function add_notice(notices, notice, at, due)
  redis.call('XADD', notices, 'MAXLEN', '~', MOST_NOTICES, '*', 'notice', notice, 'at', whole(at), 'due', due)
end

-- All keys of a table go together, `ms` after it was last used, and not before the archive has all its finished games. What it
-- was last used is kept to the day: a write for each key with each action would be a third of what is stored.
local function used(keys, ms)
  local owed = tonumber(redis.call('HGET', keys[1], 'owed') or 0)
  for _, key in ipairs(keys) do
    local left = redis.call('PTTL', key)
    if owed > 0 then
      if left >= 0 then
        redis.call('PERSIST', key)
      end
    elseif left == -1 or (left >= 0 and left < tonumber(ms) - DAY_SECONDS * 1000) then
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
-- whose time it is or '', frame or '', finished game or '', table id, channel, ms it is kept unused, notice for hooks or ''.
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
    add_notice(notices, notice, now, due)
  end
  used({meta, log, commands, talk}, kept)
  redis.call('PUBLISH', channel, seq .. ' ' .. whole(now))
  return {'appended', seq, whole(now), due}
end

-- keys: any of the node that is asked.
local function time(keys)
  return whole(now_ms())
end

-- keys: table, commands. args: command id.
local function find(keys, args)
  return number_of(keys[1], keys[2], args[1])
end

-- keys: table, log. A table as it was when its present game began, the entries since, and the time.
local function load(keys)
  local meta = redis.call('HMGET', keys[1], 'epoch', 'seq', 'base', 'frame', 'due')
  if not meta[1] then
    return {}
  end
  return {meta[1], meta[2], meta[4], meta[5], redis.call('XRANGE', keys[2], meta[3], '+'), whole(now_ms())}
end

-- keys: table, log. args: seq. Where the log is, its entries from that one on, and the time.
local function tail(keys, args)
  local meta = redis.call('HMGET', keys[1], 'epoch', 'seq', 'base')
  if not meta[1] then
    return {}
  end
  return {meta[1], meta[2], meta[3], redis.call('XRANGE', keys[2], args[1], '+'), whole(now_ms())}
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

-- After an outage every time that people see running is as long as it was. Where the clock was set back all that is due is due
-- as much earlier by it: no time is made longer, and nothing waits for an hour to come again. Returns the tables whose time was
-- moved.
local function give_back(dues, last, gap)
  local moved = {}
  local all = redis.call('ZRANGE', dues, 0, -1, 'WITHSCORES')
  for place = 1, #all, 2 do
    local id, due = all[place], tonumber(all[place + 1])
    local meta = string.gsub(dues, 'dues$', 't:' .. id)
    if gap < 0 or (due > last and redis.call('HGET', meta, 'waits') == '1') then
      redis.call('ZADD', dues, whole(due + gap), id)
      redis.call('HSET', meta, 'due', whole((tonumber(redis.call('HGET', meta, 'due')) or due) + gap))
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
  if now - last > OUTAGE_MS or last - now > STEP_MS then
    moved = give_back(dues, last, now - last)
  end
  if math.abs(now - last) > ALIVE_EVERY_MS or now == last then
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
    add_notice(notices, notice, now_ms(), '')
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

-- keys: table, log, commands, talk. args: line, lines kept, ms the table is kept unused, channel. 1, or 0 if the table is gone.
local function say(keys, args)
  if redis.call('EXISTS', keys[1]) == 0 then
    return 0
  end
  -- Each line has a time of its own, later than the one before, so that a time says which lines somebody has.
  local last = tonumber(string.match(redis.call('LINDEX', keys[4], -1) or '', '^{"at":(%d+)') or 0)
  local line = string.gsub(args[1], '^{"at":(%d+)', function(at)
    return '{"at":' .. string.format('%.0f', math.max(tonumber(at), last + 1))
  end)
  redis.call('RPUSH', keys[4], line)
  redis.call('LTRIM', keys[4], -tonumber(args[2]), -1)
  used(keys, args[3])
  redis.call('PUBLISH', args[4], line)
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

redis.register_function('coinche_VERSION_open', open)
redis.register_function('coinche_VERSION_append', append)
redis.register_function{function_name = 'coinche_VERSION_time', callback = time, flags = {'no-writes'}}
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
