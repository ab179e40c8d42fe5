/**
 * The beginning of every script: the names of keys, and functions that read and write rows and indexes. docs/stores/redis.md describes the
 * keys. KEYS[1] is the key `due`, with a prefix that the client may add; the script derives other keys from it. KEYS[2], KEYS[3], ... are
 * the keys of executions' hashes. All keys begin with the same text in braces, such as `{stepfold}`, so a cluster keeps them in one slot.
 *
 * Numbers are sent as text, in both directions, and whole numbers without an exponent, because Lua writes a large number as 1e+15. Values
 * of users are copied and compared as text and never parsed, because Lua's JSON library turns `[]` into `{}`.
 */
export const prelude: string = `
local due = KEYS[1]
local base = string.sub(due, 1, -1 - #"due")
local ready, later, layout = base .. "ready", base .. "later", base .. "layout"
local created, ended, runs, exempt = base .. "created", base .. "ended", base .. "runs", base .. "exempt"
local terminal = { completed = true, failed = true, cancelled = true }

if redis.call("HGET", layout, "version") ~= "3" and redis.call("EXISTS", layout, base .. "seq") > 0 then
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

-- an answer: "=" and the text, because some clients read what looks like JSON; "" where there is no text
local function say(text) return text and "=" .. text or "" end
local function failed(reply) return type(reply) == "table" and reply.err ~= nil end

local function headKeyOf(id) return base .. "e:" .. id end
local function idOf(headKey) return string.sub(headKey, #headKeyOf("") + 1) end
local function historyKeyOf(id) return base .. "h:" .. id end
local function childrenKeyOf(id) return base .. "c:" .. id end
local function permitKeyOf(permit) return permit and string.match(permit, "^%d+:(.*)$") or nil end -- a permit is "limit:key"
-- the sorted set of what is due, by time: one for each permit key, and one for all executions without a permit
local function dueIndexOf(permitKey) return permitKey and base .. "w:" .. permitKey or due end
-- the rest of a member behind its first number, of 16 digits: "<seq><id>" in that set, "<time><seq><id>" in created and ended
local function behindNumber(text) return string.sub(text, 17) end

-- wake is when the last commit wants the execution driven; when it is due, which may be the end of a lease, only its index knows
local fields = { "seq", "incarnation", "version", "status", "wake", "owner", "fence", "crashes", "permit", "created", "updated", "deleted", "size", "checkpoint",
  "run", "runAt", "trimmed", "exempt" }

-- numbers that this store has written: whole ones that JavaScript holds, so without an exponent, at most 16 digits long
local function isNumber(text)
  return text and string.match(text, "^-?%d+$") and math.abs(tonumber(text)) <= 9007199254740991
end
local function areNumbers(row)
  for _, field in ipairs({ "seq", "version", "fence" }) do
    if not isNumber(row[field]) then return false end
  end
  for _, field in ipairs({ "crashes", "trimmed", "size", "wake", "updated", "run", "checkpoint", "deleted", "exempt" }) do
    if row[field] and row[field] ~= "" and not isNumber(row[field]) then return false end
  end
  return isNumber(row.created) and tonumber(row.created) >= 0
end

-- what the hash of an execution holds, without its JSON; nil if there is none, false if it is damaged
local function readRow(headKey)
  local found = redis.pcall("HMGET", headKey, unpack(fields))
  if failed(found) then return false end
  local row = { headKey = headKey, id = idOf(headKey) }
  for index, field in ipairs(fields) do row[field] = found[index] or nil end
  if row.incarnation and row.status and areNumbers(row) then
    -- members with the same score are ordered as text: what was created first comes first
    row.member = sortable(row.seq) .. row.id
    row.permitKey, row.crashes, row.trimmed, row.exempt = permitKeyOf(row.permit), row.crashes or "0", row.trimmed or "0", row.exempt or ""
    if row.owner == "" then row.owner = nil end
    return row
  end
  if redis.call("EXISTS", headKey) == 1 then return false end
end

-- the entry of a row with events of earlier runs in runs: by the time when its present run began
local function runEntryOf(row, at) return sortable(tonumber(at) or 0) .. row.member end
-- the place of an event in the list of the history: the first one is followed by the first one that was not trimmed
local function ordinalOf(row, version) return version <= 0 and 0 or math.max(1, version - tonumber(row.trimmed)) end

local function dueAtOf(row) return redis.call("ZSCORE", dueIndexOf(row.permitKey), row.member) end

local function guardOf(row, dueAt) -- what writes are conditional on, as rowsIn of redis-reply.ts reads it
  local numbers = { row.seq, row.version, row.fence, row.crashes, row.wake or "", dueAt or dueAtOf(row) or "", row.created,
    row.updated or "", row.deleted or "", row.size or "0", row.run or "", row.trimmed, row.checkpoint or "", row.exempt }
  return { say(row.id), say(row.incarnation), say(row.status), say(row.owner), say(row.permit), say(table.concat(numbers, " ")) }
end

-- the guard and what else a list shows, and how many bytes that is
local function listedOf(row)
  local told, size = guardOf(row), 0
  for _, text in ipairs(redis.call("HMGET", row.headKey, "definition", "metadata", "head")) do
    told[#told + 1] = say(text)
    size = size + #(text or "")
  end
  return told, size
end

-- puts a permit key where it belongs: in \`ready\`, by name, if something is due for it; in \`later\`, by time, if something will be
local function movePermitKey(permitKey)
  local first = redis.call("ZRANGE", dueIndexOf(permitKey), "0", "0", "WITHSCORES")[2]
  local isDue = first and tonumber(first) <= now
  if isDue then redis.call("ZADD", ready, "0", permitKey) else redis.call("ZREM", ready, permitKey) end
  if first and not isDue then redis.call("ZADD", later, first, permitKey) else redis.call("ZREM", later, permitKey) end
end

local function setDue(row, dueAt) -- dueAt is nil for what is never due
  if dueAt then redis.call("ZADD", dueIndexOf(row.permitKey), whole(dueAt), row.member) else redis.call("ZREM", dueIndexOf(row.permitKey), row.member) end
  if row.permitKey then movePermitKey(row.permitKey) end
end
`;

/**
 * Functions that find due rows, the longest due first. An index entry whose execution no longer exists is removed. A damaged execution is
 * postponed by a minute, so that it does not come before the others each time.
 */
export const dueRows: string = `
local function keyedDue(overdueMs)
  if redis.call("EXISTS", ready) == 0 and redis.call("ZCOUNT", later, "-inf", whole(now)) == 0 then return "none" end
  local reached = redis.pcall("ZCOUNT", exempt, "-inf", whole(math.max(0, now - overdueMs)))
  return reached == 0 and "some" or "exempt"
end

local function dueRows(permitKey, overdueMs, limit)
  local index, rows = dueIndexOf(permitKey), {}
  while #rows < limit do
    local members = redis.call("ZRANGEBYSCORE", index, "-inf", whole(now - overdueMs), "LIMIT", whole(#rows), whole(limit - #rows))
    if #members == 0 then break end
    for _, member in ipairs(members) do
      local row = readRow(headKeyOf(behindNumber(member)))
      if row and row.member == member and row.permitKey == permitKey then rows[#rows + 1] = row
      elseif row == false then redis.call("ZADD", index, whole(now + 60000), member)
      else redis.call("ZREM", index, member) end
    end
  end
  if permitKey and #rows == 0 then movePermitKey(permitKey) end
  return rows
end
`;

/** Functions that read executions and histories. To keep answers short, a history is read in parts of 32 events, about 1 MB in total. */
export const loading: string = `
local budgetBytes, partEvents = 1000000, 32
local function eventsFrom(row, version, limit)
  local found, size, part, from = {}, 0, nil, ordinalOf(row, version)
  repeat
    local first, count = from + #found, math.min(partEvents, limit - #found)
    part = redis.pcall("LRANGE", historyKeyOf(row.id), whole(first), whole(first + count - 1))
    if failed(part) then return {}, 0 end
    for _, event in ipairs(part) do
      found[#found + 1] = event
      size = size + #event
    end
  until #part < partEvents or #found >= limit or size >= budgetBytes
  return found, size
end

-- Head, children and the events after the last checkpoint, whose version is in the field checkpoint: all as of one version. Events over the
-- budget are missing: the caller reads them afterwards, because a history only grows.
local function rowsOf(row)
  local text = row and redis.pcall("HGET", row.headKey, "head")
  local children = row and redis.pcall("HGETALL", childrenKeyOf(row.id))
  if not text or failed(text) or failed(children) then return { "" }, 0 end
  local first = tonumber(row.checkpoint or "-1") + 1
  local events, size = eventsFrom(row, first, tonumber(row.version) + 1 - first)
  return { say(row.incarnation), say(row.version), say(row.status), say(text), events, children, say(whole(first)) }, size
end
`;
