#!lua name=coinche_VERSION

-- What must happen in one piece. This file, tables.lua, people.lua and hooks.lua are one library; VERSION is made from their text, so
-- that old and new processes can share a store.

local DAY_SECONDS = 24 * 3600

local function now_ms()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Lua would write a time as 1.796e+12.
local function whole(number)
  return string.format('%.0f', number)
end
