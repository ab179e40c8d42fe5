import { nowLiesBackMs } from "../../record/due-time.ts";

/**
 * What every script begins with. KEYS[1] is the key `due`; all others are made from it, so that a client may put a prefix
 * of its own before all keys, and so that they stay in one slot.
 *
 * Numbers cross the border as text, whole ones without an exponent: Lua would write a large one as 1e+15. Values of users
 * are text that is moved and compared, never read: Lua's JSON makes `{}` of `[]`.
 */
export const prelude: string = `
local due = KEYS[1]
local base = string.sub(due, 1, -4)
local created, ended = base .. "created", base .. "ended"
local terminal = { completed = true, failed = true, cancelled = true }

local function whole(number) return string.format("%.0f", number) end

local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- a sign before every text: no client takes it for JSON
local function say(text) if text then return "=" .. text end return "" end
local function failed(reply) return type(reply) == "table" and reply.err ~= nil end

-- KEYS[n] of an execution is the key of its head
local function idOf(head) return string.sub(head, #base + 3) end
-- of those with one score a sorted set puts that first which was created first
local function memberOf(seq, id) return string.format("%016.0f", seq) .. id end

-- a permit is its limit and its key
local function keyOf(permit) return permit and string.match(permit, "^%d+:(.*)$") or nil end
local function limitOf(permit) return tonumber(permit and string.match(permit, "^%d+")) or math.huge end

-- nil if it is not there, false if what is there is no head
local function readHead(head)
  local row = redis.pcall("HMGET", head, "incarnation", "version", "status", "owner", "fence", "seq", "wake", "lease", "places", "crashes",
    "permit")
  if failed(row) then return false end
  if row[1] and row[2] and row[3] and tonumber(row[5]) and tonumber(row[6]) and row[7] then
    return { incarnation = row[1], version = row[2], status = row[3], owner = row[4], fence = row[5],
      seq = tonumber(row[6]), wake = row[7], lease = row[8] or row[7], places = tonumber(row[9]) or 0,
      crashes = tonumber(row[10]) or 0, permit = row[11], key = keyOf(row[11]) }
  end
  if redis.call("EXISTS", head) == 0 then return nil end
  return false
end

local function guard(row)
  return { say(row.incarnation), say(row.version), say(row.status), say(row.owner), say(row.fence) }
end

-- so far before its commit stands what is due now: before all times, in the order in which it became so
local nowLiesBack = ${nowLiesBackMs}

-- where an execution stands by the time at which it is due: those that share a permit have a line of their own
local function lineOf(key) if key then return base .. "w:" .. key end return due end

-- "" is never
local function setDue(line, member, at)
  if at == "" then
    redis.call("ZREM", line, member)
  else
    redis.call("ZADD", line, tonumber(at) > 0 and at or whole(now - nowLiesBack), member)
  end
end
`;

/** The history in parts: what it says is no longer than the budget and one part. */
export const history: string = `
local function eventsFrom(id, from, most, budget)
  local found, size = {}, 0
  while size < budget and #found < most do
    local first = from + #found
    local last = first + math.min(32, most - #found) - 1
    local part = redis.pcall("LRANGE", base .. "h:" .. id, whole(first), whole(last))
    if failed(part) then return {}, 0 end
    for index = 1, #part do
      found[#found + 1] = part[index]
      size = size + #part[index]
    end
    if #part < last - first + 1 then break end
  end
  return found, size
end
`;

/** Everything of one version, but for the end of a long history, which only grows and is fetched afterwards. */
export const snapshotRows: string = `${history}
local function rowsOf(head, row, budget)
  local id = idOf(head)
  local text = redis.pcall("HGET", head, "head")
  local children = redis.pcall("HGETALL", base .. "c:" .. id)
  if failed(text) or failed(children) then return nil, 0 end
  local events, size = eventsFrom(id, 0, tonumber(row.version) + 1, budget)
  return { say(id), say(row.incarnation), say(row.version), say(row.status), say(text), events, children }, size
end
`;

/** Where a sorted set of times goes on after a place. */
export const ranks: string = `
local function rankAfter(key, newestFirst, at, seq)
  if at == "" then return 0 end
  local low
  if newestFirst then low = redis.call("ZCOUNT", key, "(" .. at, "+inf") else low = redis.call("ZCOUNT", key, "-inf", "(" .. at) end
  local high = low + redis.call("ZCOUNT", key, at, at)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local found = redis.call(newestFirst and "ZREVRANGE" or "ZRANGE", key, whole(middle), whole(middle))[1]
    local other = tonumber(string.sub(found, 1, 16)) or 0
    local isAfter
    if newestFirst then isAfter = other < seq else isAfter = other > seq end
    if isAfter then high = middle else low = middle + 1 end
  end
  return low
end
`;

/** Leaves a tombstone in an execution's place. Redis itself forgets it when the retention is over. */
export const bury: string = `
local function bury(head, row, retention)
  local id = idOf(head)
  local member = memberOf(row.seq, id)
  for _, key in ipairs({ lineOf(row.key), created, ended }) do redis.call("ZREM", key, member) end
  redis.call("UNLINK", head, base .. "h:" .. id, base .. "c:" .. id)
  if retention ~= "0" then
    redis.call("SET", base .. "t:" .. id, whole(now) .. " " .. row.status .. " " .. row.incarnation, "PX", retention)
  end
end
`;
