import { prelude } from "./redis-schema.ts";
import type { Script } from "./run-script.ts";
import { turns } from "./turns.ts";

/**
 * Creates executions and commits to them: KEYS[2..] are their heads, one for each write, all different.
 *
 * A script is not rolled back when a command in it fails, so everything that could fail is asked first. What was written
 * before an error in a later write stays written, and is acknowledged when its commit is repeated.
 *
 * Answers one list for each write: `+` and the time; `-`, the guard, whether the row after the expected version is of this
 * commit, and the end of the lease; `buried` and since when; `damaged`.
 */
export const writeScript: Script = {
  name: "write",
  text: `${prelude}${turns}
-- an error here has written nothing
redis.call("ZCARD", due)
redis.call("ZCARD", created)
redis.call("ZCARD", ended)

local at = 0
local function take() at = at + 1 return ARGV[at] end
local function takeMany()
  local count = tonumber(take())
  local first = at + 1
  at = at + count
  return { first = first, last = at }
end

local function readWrite(head)
  local write = { head = head, id = idOf(head), kind = take(), commitId = take(), incarnation = take(), expected = take(),
    fence = take(), version = take(), status = take(), text = take(), ended = take() == "1", wake = take(), frees = take() == "1" }
  write.events, write.children = takeMany(), takeMany()
  if write.kind == "create" then
    write.owner, write.leaseMs, write.permit = take(), take(), take()
    write.fields = takeMany()
  end
  return write
end

local function append(write, places)
  local history, children = base .. "h:" .. write.id, base .. "c:" .. write.id
  for first = write.events.first, write.events.last, 1000 do
    redis.call("RPUSH", history, unpack(ARGV, first, math.min(first + 999, write.events.last)))
  end
  for index = write.children.first, write.children.last, 3 do
    local key, isLast, text = ARGV[index], ARGV[index + 1] == "1", ARGV[index + 2]
    if text == "" then
      redis.call("HDEL", children, key)
    else
      local before = not isLast and redis.call("HGET", children, key)
      local place = before and string.match(before, "^%d+:")
      if not place then
        places = places + 1
        place = whole(places) .. ":"
      end
      redis.call("HSET", children, key, place .. text)
    end
  end
  return whole(places)
end

local function refuse(write, row)
  local index = whole(tonumber(write.expected) + 1)
  local event = redis.pcall("LINDEX", base .. "h:" .. write.id, index)
  local isOfThis = type(event) == "string" and string.sub(event, 1, #write.commitId) == write.commitId
  local reply = guard(row)
  table.insert(reply, 1, say("-"))
  reply[#reply + 1] = say(isOfThis and "1")
  reply[#reply + 1] = say(row.lease)
  return reply
end

local function create(write)
  local row = readHead(write.head)
  if row == false then return { say("damaged") } end
  if row then return refuse(write, row) end
  local tombstone = redis.pcall("GET", base .. "t:" .. write.id)
  if failed(tombstone) then return { say("damaged") } end
  if tombstone then return { say("buried"), say(string.match(tombstone, "^%d+")) } end

  local key = keyOf(write.permit)
  if key then refuseOther(key) end
  local seq = redis.call("INCR", base .. "seq")
  local member = memberOf(seq, write.id)
  -- of a head that somebody removed
  redis.call("UNLINK", base .. "h:" .. write.id, base .. "c:" .. write.id)
  local places = append(write, 0)
  local isHeld = write.owner ~= "" and not write.ended
  local dueAt = write.wake
  redis.call("HSET", write.head, "incarnation", write.incarnation, "version", write.version, "status", write.status,
    "head", write.text, "fence", isHeld and "1" or "0", "seq", whole(seq), "wake", write.wake,
    "places", places, "created", whole(now), "updated", whole(now))
  for first = write.fields.first, write.fields.last, 1000 do
    redis.call("HSET", write.head, unpack(ARGV, first, math.min(first + 999, write.fields.last)))
  end
  if key then redis.call("HSET", write.head, "permit", write.permit) end
  if isHeld then
    dueAt = whole(now + write.leaseMs)
    redis.call("HSET", write.head, "owner", write.owner, "lease", dueAt)
  end
  setDue(lineOf(key), member, dueAt)
  if key then moveKey(key) end
  redis.call("ZADD", created, whole(now), member)
  if write.ended then redis.call("ZADD", ended, whole(now), member) end
  return { say("+"), say(whole(now)) }
end

local function commit(write)
  local row = readHead(write.head)
  if row == false then return { say("damaged") } end
  if row == nil then return { say("-") } end
  local isHolder = write.fence == "" or (row.owner and row.fence == write.fence)
  if row.incarnation ~= write.incarnation or row.version ~= write.expected or terminal[row.status] or not isHolder then
    return refuse(write, row)
  end
  local length = redis.pcall("LLEN", base .. "h:" .. write.id)
  if type(length) ~= "number" or length ~= tonumber(write.expected) + 1 then return { say("damaged") } end
  if failed(redis.pcall("HLEN", base .. "c:" .. write.id)) then return { say("damaged") } end

  local member = memberOf(row.seq, write.id)
  local before, after = row.owner and row.lease or row.wake, write.wake
  local isFreed = row.owner and write.frees
  if row.owner and not write.frees then after = before end
  local turn = row.key and (isFreed or after ~= before) and row.key
  if turn then refuseOther(turn) end
  local places = append(write, row.places)
  redis.call("HSET", write.head, "version", write.version, "status", write.status, "head", write.text, "wake", write.wake,
    "places", places, "updated", whole(now))
  if isFreed then redis.call("HDEL", write.head, "owner", "lease") end
  if write.fence ~= "" and row.crashes > 0 then redis.call("HDEL", write.head, "crashes") end
  if after ~= before then setDue(lineOf(row.key), member, after) end
  if turn then
    if isFreed then redis.call("ZREM", leasesOf(turn), member) end
    moveKey(turn)
  end
  if write.ended then redis.call("ZADD", ended, whole(now), member) end
  return { say("+"), say(whole(now)) }
end

local verdicts = {}
for index = 2, #KEYS do
  local write = readWrite(KEYS[index])
  if write.kind == "create" then verdicts[index - 1] = create(write) else verdicts[index - 1] = commit(write) end
end
return verdicts
`,
};
