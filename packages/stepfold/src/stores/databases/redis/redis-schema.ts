/**
 * The beginning of every script: names of keys, and how rows and indexes are read and written. The keys are described in
 * docs/stores/redis.md. KEYS[1] is `due`; all others are made from it, so that a client may put a prefix before all keys, and
 * so that they stay in one slot. KEYS[2..] are heads.
 *
 * Numbers are sent and answered as text, whole ones without an exponent: Lua writes a large one as 1e+15. Values of users are
 * text that is moved and compared, never read: Lua's JSON makes `{}` of `[]`.
 */
export const prelude: string = `
local due = KEYS[1]
local base = string.sub(due, 1, -4)
local ready, later, layout = base .. "ready", base .. "later", base .. "layout"
local created, ended = base .. "created", base .. "ended"
local terminal = { completed = true, failed = true, cancelled = true }

if redis.call("HGET", layout, "version") ~= "1" and redis.call("EXISTS", layout, base .. "seq") > 0 then
  return { err = "OLDLAYOUT the keys have another layout" }
end

local function whole(number) return string.format("%.0f", number) end
local function sortable(number) return string.format("%016.0f", number) end
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local at = 0
local function take() at = at + 1 return ARGV[at] end
local function takeMany(count)
  local first = at + 1
  at = at + tonumber(count)
  return { first = first, last = at }
end

-- a sign before every text: no client takes it for JSON
local function say(text) return text and "=" .. text or "" end
local function failed(reply) return type(reply) == "table" and reply.err ~= nil end

local function headOf(id) return base .. "e:" .. id end
local function historyOf(id) return base .. "h:" .. id end
local function childrenOf(id) return base .. "c:" .. id end
local function keyOf(permit) return permit and string.match(permit, "^%d+:(.*)$") or nil end
-- the index by due time: executions with the same key of a permit have one of their own
local function lineOf(key) return key and base .. "w:" .. key or due end

local fields = { "seq", "incarnation", "version", "status", "wake", "owner", "fence", "crashes", "permit", "created", "updated",
  "deleted", "size" }

-- nil if there is none, false if what is there is damaged
local function readRow(head)
  local found = redis.pcall("HMGET", head, unpack(fields))
  if failed(found) then return false end
  local row = { head = head, id = string.sub(head, #base + 3) }
  for index, field in ipairs(fields) do row[field] = found[index] or nil end
  if row.incarnation and row.version and row.status and row.created and tonumber(row.fence or "") and tonumber(row.seq or "") then
    -- of those with one score a sorted set puts that first which was created first
    row.member = sortable(row.seq) .. row.id
    row.key, row.crashes = keyOf(row.permit), row.crashes or "0"
    if row.owner == "" then row.owner = nil end
    return row
  end
  if redis.call("EXISTS", head) == 0 then return nil end
  return false
end

local function dueAtOf(row) return redis.call("ZSCORE", lineOf(row.key), row.member) end

local function guardOf(row, dueAt)
  local numbers = { row.seq, row.version, row.fence, row.crashes, row.wake or "", dueAt or dueAtOf(row) or "", row.created,
    row.updated or "", row.deleted or "", row.size or "0" }
  return { say(row.id), say(row.incarnation), say(row.status), say(row.owner), say(row.permit), say(table.concat(numbers, " ")) }
end

-- the guard, and what else a list shows; and how long that is
local function listedOf(row)
  local told, size = guardOf(row), 0
  for _, text in ipairs(redis.call("HMGET", row.head, "definition", "metadata", "head")) do
    told[#told + 1] = say(text)
    size = size + #(text or "")
  end
  return told, size
end

-- keys of permits stand in \`ready\`, by name, if something is due for them, else in \`later\`, by the time of the next one
local function moveKey(key)
  local first = redis.call("ZRANGE", lineOf(key), "0", "0", "WITHSCORES")[2]
  local isDue = first and tonumber(first) <= now
  if isDue then redis.call("ZADD", ready, "0", key) else redis.call("ZREM", ready, key) end
  if first and not isDue then redis.call("ZADD", later, first, key) else redis.call("ZREM", later, key) end
end

-- nil: never
local function setDue(row, dueAt)
  if dueAt then redis.call("ZADD", lineOf(row.key), whole(dueAt), row.member) else redis.call("ZREM", lineOf(row.key), row.member) end
  if row.key then moveKey(row.key) end
end
`;

/**
 * Rows that are due, the longest due first. What is not there any more is taken out of the index. What is damaged is put
 * aside for a minute, so that it is in nobody's way.
 */
export const dueRows: string = `
local function areKeysDue()
  return redis.call("EXISTS", ready) == 1 or redis.call("ZCOUNT", later, "-inf", whole(now)) > 0
end

local function dueRows(key, overdueMs, limit)
  local line, rows = lineOf(key), {}
  while #rows < limit do
    local members = redis.call("ZRANGEBYSCORE", line, "-inf", whole(now - overdueMs), "LIMIT", whole(#rows), whole(limit - #rows))
    if #members == 0 then break end
    for _, member in ipairs(members) do
      local row = readRow(headOf(string.sub(member, 17)))
      if row and row.member == member and row.key == key then rows[#rows + 1] = row
      elseif row == false then redis.call("ZADD", line, whole(now + 60000), member)
      else redis.call("ZREM", line, member) end
    end
  end
  if key and #rows == 0 then moveKey(key) end
  return rows
end
`;

/** Histories in parts: what is told is no longer than the budget and one part. */
export const history: string = `
local budget = 1000000
local function eventsFrom(id, from, limit)
  local found, size, part = {}, 0, nil
  repeat
    local first, count = from + #found, math.min(32, limit - #found)
    part = redis.pcall("LRANGE", historyOf(id), whole(first), whole(first + count - 1))
    if failed(part) then return {}, 0 end
    for _, event in ipairs(part) do
      found[#found + 1] = event
      size = size + #event
    end
  until #part < 32 or #found >= limit or size >= budget
  return found, size
end

-- all of one version, but for the end of a long history, which only grows and is fetched afterwards
local function rowsOf(row)
  local texts = row and redis.pcall("HMGET", row.head, "head", "checkpoint")
  local children = row and redis.pcall("HGETALL", childrenOf(row.id))
  if not texts or failed(texts) or not texts[1] or failed(children) then return { "" }, 0 end
  local first = tonumber(texts[2] or "-1") + 1
  local events, size = eventsFrom(row.id, first, tonumber(row.version) + 1 - first)
  return { say(row.incarnation), say(row.version), say(row.status), say(texts[1]), events, children, say(whole(first)) }, size
end
`;
