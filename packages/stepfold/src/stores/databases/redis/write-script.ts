import { prelude } from "./redis-schema.ts";
import type { Script } from "./run-script.ts";

/**
 * Makes writes: KEYS[2..] are the heads, one for each write, all different. ARGV: how long a tombstone is kept, and the writes
 * as `writeArgs` puts them down.
 *
 * A script is not rolled back when a command in it fails, so everything that could fail is asked first. What was written
 * before an error in a later write stays written, and is acknowledged when it is repeated.
 *
 * Answers one list for each write: time, version, status; nothing if its condition does not hold; `damaged`.
 */
export const writeScript: Script = {
  name: "write",
  text: `${prelude}
-- an error here has written nothing
local function check(...) for _, key in ipairs({ ... }) do redis.call("ZCARD", key) end end
check(due, created, ended)

local function readWrite(head)
  return { head = head, kind = take(), incarnation = take(), version = take(), fence = take(), held = take(), open = take(),
    dueForMs = take(), deleted = take(), due = take(), unlessHeld = take(),
    fields = takeMany(), events = takeMany(), children = takeMany() }
end

local function meets(row, when)
  if row.incarnation ~= when.incarnation or (row.deleted and "1" or "") ~= when.deleted then return false end
  if (when.version ~= "" and when.version ~= row.version) or (when.fence ~= "" and when.fence ~= row.fence) then return false end
  if (when.held ~= "" and when.held ~= (row.owner and "1" or "0")) or (when.open == "1" and terminal[row.status]) then return false end
  if when.dueForMs == "" then return true end
  local dueAt = tonumber(dueAtOf(row))
  return dueAt and dueAt <= now - tonumber(when.dueForMs)
end

local function changeDue(row, change)
  local dueAt = tonumber(change)
  if change == "now" then dueAt = math.min(tonumber(dueAtOf(row)) or now, now) end
  if string.sub(change, 1, 1) == "+" then dueAt = now + dueAt end
  setDue(row, dueAt)
end

local function callMany(command, key, args)
  for first = args.first, args.last, 1000 do
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

local function newRow(head, permit)
  local row = { head = head, id = string.sub(head, #base + 3), key = keyOf(permit), created = whole(now) }
  if row.key then check(ready, later, lineOf(row.key)) end
  row.seq = redis.call("HINCRBY", layout, "seq", "1")
  row.member = sortable(row.seq) .. row.id
  redis.call("HSET", layout, "version", "1")
  -- of a head that somebody removed
  redis.call("UNLINK", historyOf(row.id), childrenOf(row.id))
  redis.call("HSET", head, "seq", whole(row.seq), "created", row.created)
  redis.call("ZADD", created, "0", sortable(now) .. row.member)
  return row
end

local function change(row, write)
  callMany("HSET", row.head, write.fields)
  if write.due ~= "" and not (write.unlessHeld == "1" and row.owner) then changeDue(row, write.due) end
  if write.events.last < write.events.first then return end
  redis.call("HSET", row.head, "updated", whole(now))
  callMany("RPUSH", historyOf(row.id), write.events)
  writeChildren(childrenOf(row.id), write.children)
end

-- of a tombstone stays what guards its id, until the server forgets it
local function remove(row, write)
  row.deleted, row.owner, row.permit, row.wake = whole(now), false, false, false
  setDue(row, nil)
  redis.call("ZREM", created, sortable(row.created) .. row.member)
  redis.call("ZREM", ended, sortable(row.updated or 0) .. row.member)
  redis.call("UNLINK", row.head, historyOf(row.id), childrenOf(row.id))
  if write.kind == "remove" then return end
  for _, name in ipairs(columns) do if row[name] then redis.call("HSET", row.head, name, row[name]) end end
  redis.call("PEXPIRE", row.head, ARGV[1])
end

local function isDamaged(row, write)
  if row == false then return true end
  if not row or write.events.last < write.events.first then return false end
  return redis.pcall("LLEN", historyOf(row.id)) ~= tonumber(row.version) + 1 or failed(redis.pcall("HLEN", childrenOf(row.id)))
end

local function make(write)
  local row = readRow(write.head)
  local isNew = write.kind == "insert"
  if row and (isNew or not meets(row, write)) or (row == nil and not isNew) then return {} end
  if isDamaged(row, write) then return { say("damaged") } end
  if row and row.key and (write.due ~= "" or write.kind ~= "update") then check(ready, later, lineOf(row.key)) end
  -- the first field of a new one is its permit
  row = row or newRow(write.head, ARGV[write.fields.first + 1])
  local before, after = row.status, { row.version, row.status }
  if write.kind == "insert" or write.kind == "update" then
    change(row, write)
    after = redis.call("HMGET", row.head, "version", "status")
    if terminal[after[2]] and not terminal[before] then redis.call("ZADD", ended, "0", sortable(now) .. row.member) end
  else
    remove(row, write)
  end
  return { say(whole(now)), say(after[1]), say(after[2]) }
end

local answers = {}
take()
for index = 2, #KEYS do answers[index - 1] = make(readWrite(KEYS[index])) end
return answers
`,
};
