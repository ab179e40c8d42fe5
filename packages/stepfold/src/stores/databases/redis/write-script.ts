import { prelude } from "./redis-schema.ts";

/**
 * Makes writes. KEYS[2..] are the heads, a different one for each write. ARGV: the writes in the form of `writeArgs`.
 *
 * Redis does not roll a script back when a command in it fails, so each write first checks everything that could fail. Writes that were
 * made before an error in a later write stay. The caller sends the writes again, and a commit that was made already is acknowledged then.
 *
 * The answer has one list for each write: the time, and the version and status before the write; an empty list if its condition does
 * not hold; `damaged` if the execution is damaged.
 */
export const writeScript: string = `${prelude}
-- an error here, and in the next function, has written nothing
local function checkPartition(permitKey)
  redis.call("ZCARD", dueIndexOf(permitKey))
  if permitKey then redis.call("ZCARD", ready) redis.call("ZCARD", later) end
end

local function checkIndexes(write, permitKey)
  if write.due ~= "" or write.kind ~= "update" then redis.call("ZCARD", dueIndexOf(permitKey)) end
  if write.kind ~= "update" then redis.call("ZCARD", created) end
  if write.e or write.kind == "bury" then redis.call("ZCARD", ended) end
  if write.r or write.kind == "trim" or write.kind == "bury" then redis.call("ZCARD", runs) end
  if write.movesExempt then redis.call("ZCARD", exempt) end
  if permitKey then redis.call("ZCARD", ready) redis.call("ZCARD", later) end
end

local function readWrite(headKey)
  local kind, version, fence, run, isDue, due, flags, fields, events, children =
    string.match(take(), "^(%S*) (%S*) (%S*) (%S*) (%S*) (%S*) (%S*) (%d+) (%d+) (%d+)$")
  local write = { headKey = headKey, kind = kind, incarnation = take(), version = version, fence = fence, run = run, isDue = isDue, due = due,
    fields = takeMany(fields), events = takeMany(events), children = takeMany(children) }
  for flag in string.gmatch(flags, ".") do write[flag] = true end
  -- the first fields
  if write.p then write.permit = ARGV[write.fields.first + 1] end
  if write.x then write.exempt = ARGV[write.fields.first + (write.p and 3 or 1)] end
  if kind == "bury" or kind == "remove" then write.exempt = "" end
  return write
end

local function meets(row, when)
  if row.incarnation ~= when.incarnation or (when.d or false) ~= (row.deleted ~= nil) then return false end
  if when.run ~= "" and when.run ~= row.run then return false end
  if (when.version ~= "" and when.version ~= row.version) or (when.fence ~= "" and when.fence ~= row.fence) then return false end
  if (when.h and not row.owner) or (when.f and row.owner) or (when.o and terminal[row.status]) or (when.t and not terminal[row.status]) then return false end
  if when.isDue == "" then return true end
  local dueAt = tonumber(dueAtOf(row))
  return dueAt and dueAt <= now
end

local function setExempt(row, write)
  if not write.movesExempt then return end
  if write.exempt == "" then redis.call("ZREM", exempt, row.member) else redis.call("ZADD", exempt, write.exempt, row.member) end
end

-- moves a row to where what is due for another permit key waits
local function movePermit(row, permitKey)
  local dueAt = tonumber(dueAtOf(row))
  setDue(row, nil)
  row.permitKey = permitKey
  setDue(row, dueAt)
end

local function changeDue(row, change)
  if string.sub(change, 1, 1) == "+" then return setDue(row, now + tonumber(change)) end
  local wakeAt = tonumber(change == "@stored" and row.wake or string.sub(change, 2))
  if wakeAt and wakeAt <= 0 then wakeAt = math.min(tonumber(dueAtOf(row)) or now, now) end
  setDue(row, wakeAt)
end

local function callMany(command, key, args, name, value)
  if name then redis.call(command, key, name, value, unpack(ARGV, args.first, math.min(args.first + 999, args.last))) end
  for first = name and args.first + 1000 or args.first, args.last, 1000 do
    redis.call(command, key, unpack(ARGV, first, math.min(first + 999, args.last)))
  end
end

-- a child that is there already keeps the number before its text, by which they are in order
local function writeChildren(key, children)
  for index = children.first, children.last, 3 do
    local name, isLast, text = ARGV[index], ARGV[index + 1] == "1", ARGV[index + 2]
    local before = not isLast and text ~= "" and redis.call("HGET", key, name)
    if before then text = string.match(before, "^%d+:") .. string.gsub(text, "^%d+:", "", 1) end
    if text == "" then redis.call("HDEL", key, name) else redis.call("HSET", key, name, text) end
  end
end

local function newRow(headKey, permitKey)
  local row = { headKey = headKey, id = idOf(headKey), permitKey = permitKey }
  row.seq = redis.call("HINCRBY", layout, "seq", "1")
  row.member = sortable(row.seq) .. row.id
  redis.call("HSET", layout, "version", "3")
  -- of a head that somebody removed
  redis.call("UNLINK", historyKeyOf(row.id), childrenKeyOf(row.id))
  redis.call("HSET", headKey, "seq", whole(row.seq), "created", whole(now))
  redis.call("ZADD", created, "0", sortable(now) .. row.member)
  return row
end

local function change(row, write)
  local hasHistory = write.events.last >= write.events.first
  if hasHistory then callMany("HSET", row.headKey, write.fields, "updated", whole(now)) else callMany("HSET", row.headKey, write.fields) end
  if write.p and write.permitKey ~= row.permitKey then movePermit(row, write.permitKey) end
  if write.due ~= "" and not (write.u and row.owner) then changeDue(row, write.due) end
  setExempt(row, write)
  -- the commit opens an execution again
  if hasHistory and terminal[row.status] then redis.call("ZREM", ended, sortable(tonumber(row.updated) or 0) .. row.member) end
  if write.e then redis.call("ZADD", ended, "0", sortable(now) .. row.member) end
  if write.r then
    -- the last field is the time when the run began
    if row.runAt then redis.call("ZREM", runs, runEntryOf(row, row.runAt)) end
    redis.call("ZADD", runs, "0", runEntryOf(row, ARGV[write.fields.last]))
  end
  if not hasHistory then return end
  callMany("RPUSH", historyKeyOf(row.id), write.events)
  writeChildren(childrenKeyOf(row.id), write.children)
end

-- the events between the first one and that of the present run
local function trim(row)
  local history, since = historyKeyOf(row.id), tonumber(row.run)
  local first = redis.call("LINDEX", history, "0")
  redis.call("LTRIM", history, whole(ordinalOf(row, since)), "-1")
  redis.call("LPUSH", history, first)
  redis.call("ZREM", runs, runEntryOf(row, row.runAt))
  redis.call("HDEL", row.headKey, "run", "runAt")
  redis.call("HSET", row.headKey, "trimmed", whole(since - 1))
end

-- of a tombstone stays what guards its id, until the server forgets it
local function remove(row, write)
  setDue(row, nil)
  setExempt(row, write)
  redis.call("ZREM", created, sortable(row.created) .. row.member)
  redis.call("ZREM", ended, sortable(tonumber(row.updated) or 0) .. row.member)
  if row.runAt then redis.call("ZREM", runs, runEntryOf(row, row.runAt)) end
  redis.call("UNLINK", row.headKey, historyKeyOf(row.id), childrenKeyOf(row.id))
  if write.kind == "remove" then return end
  redis.call("HSET", row.headKey, "seq", row.seq, "incarnation", row.incarnation, "version", row.version, "status", row.status,
    "fence", row.fence, "created", row.created, "deleted", whole(now))
  redis.call("PEXPIRE", row.headKey, ARGV[write.fields.last])
end

local function isDamaged(row, write)
  if row == false then return true end
  if not row or (write.events.last < write.events.first and write.kind ~= "trim") then return false end
  return redis.pcall("LLEN", historyKeyOf(row.id)) ~= tonumber(row.version) + 1 - tonumber(row.trimmed) or failed(redis.pcall("HLEN", childrenKeyOf(row.id)))
end

local function make(write)
  local row = readRow(write.headKey)
  local isNew = write.kind == "insert"
  if row and (isNew or not meets(row, write)) or (row == nil and not isNew) then return {} end
  if isDamaged(row, write) then return { say("damaged") } end
  if write.p then write.permitKey = permitKeyOf(write.permit) end
  write.movesExempt = write.exempt and write.exempt ~= (row and row.exempt or "")
  checkIndexes(write, isNew and write.permitKey or row and row.permitKey)
  if row and write.p then checkPartition(write.permitKey) end
  row = row or newRow(write.headKey, write.permitKey)
  if write.kind == "trim" then trim(row)
  elseif write.kind == "insert" or write.kind == "update" then change(row, write)
  else remove(row, write) end
  return { say(whole(now)), say(row.version), say(row.status) }
end

local answers = {}
for index = 2, #KEYS do answers[index - 1] = make(readWrite(KEYS[index])) end
return answers
`;
