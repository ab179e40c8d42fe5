import { prelude, snapshotRows } from "./redis-schema.ts";
import type { Script } from "./run-script.ts";
import { turns } from "./turns.ts";

/**
 * Takes what is due, longest due first: ARGV owner, lease, most, budget in bytes, for how long it must have been due, `=` and
 * the key of a permit, 1 for only what has a time. With the key: only those that have it. With KEYS[2], the head of one: that one.
 *
 * Answers whether there may be more, the time, and one list for each claim: fence, the rows of `rowsOf`, crashes. What is
 * damaged stays claimed until its lease ends, so that it is not tried again and again.
 */
export const claimScript: Script = {
  name: "claim",
  text: `${prelude}${snapshotRows}${turns}
local owner, leaseMs, most, budget = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local overdue = tonumber(ARGV[5])
local only = ARGV[6] ~= "" and string.sub(ARGV[6], 2) or nil
local dueAt = whole(now + leaseMs)
local latest = now - overdue
local claimed, size = {}, 0

local function take(member, key)
  local head = base .. "e:" .. string.sub(member, 17)
  local row = readHead(head)
  if row == nil or (row and (row.seq ~= tonumber(string.sub(member, 1, 16)) or terminal[row.status])) then
    -- nobody can ever drive it: it is not there any more
    redis.call("ZREM", lineOf(key), member)
    return
  end
  if row and row.key ~= key then
    -- a process of an older version knows one line only
    redis.call("ZREM", lineOf(key), member)
    setDue(lineOf(row.key), member, row.owner and row.lease or row.wake)
    if row.key then moveKey(row.key) end
    return
  end
  redis.call("ZADD", lineOf(key), dueAt, member)
  if row == false then return end
  local fence = whole(tonumber(row.fence) + 1)
  -- who still holds it has lost it
  local crashes = whole(row.crashes + (row.owner and 1 or 0))
  redis.call("HSET", head, "owner", owner, "fence", fence, "lease", dueAt, "crashes", crashes)
  if key then redis.call("ZADD", leasesOf(key), dueAt, member) end
  local rows, more = rowsOf(head, row, budget)
  if not rows then return end
  size = size + more
  claimed[#claimed + 1] = { say(fence), rows, say(crashes) }
end

if KEYS[2] then
  local row = readHead(KEYS[2])
  local member = row and memberOf(row.seq, idOf(KEYS[2]))
  local score = member and redis.call("ZSCORE", lineOf(row.key), member)
  local isDueNow = overdue > 0 and score and tonumber(score) < 0
  local isWanted = score and tonumber(score) <= (isDueNow and latest - nowLiesBack or latest)
  if isWanted and not (row.key and waitsFor(row.key, limitOf(row.permit))) then
    take(member, row.key)
    if row.key then moveKey(row.key) end
  end
  return { "", say(whole(now)), claimed }
end

-- what is due now lies below 0; older versions wrote 0 for it
local ranges = { { "-inf", whole(latest) } }
if overdue > 0 then ranges = { { "-inf", whole(latest - nowLiesBack) }, { "0", whole(latest) } } end
if ARGV[7] == "1" then ranges = { { "(0", whole(latest) } } end
local looks = 0
local function isRoom() return #claimed < most and size < budget and looks < 320 end

-- the first of a key; false if there is none, or it has to wait for its turn
local function takeNext(key, first, last)
  local member = redis.call("ZRANGEBYSCORE", lineOf(key), first, last, "LIMIT", "0", "1")[1]
  local isFree = member and not memberWaitsFor(key, member)
  if isFree then take(member, key) end
  moveKey(key)
  looks = looks + 1
  return isFree
end

if only then
  for _, range in ipairs(ranges) do
    while isRoom() and takeNext(only, range[1], range[2]) do end
  end
  return { say(not isRoom() and "1"), say(whole(now)), claimed }
end

local hasTurns = redis.call("EXISTS", turns, full) > 0
-- leases have ended since
local ready = hasTurns and redis.call("ZRANGEBYSCORE", full, "-inf", whole(now), "LIMIT", "0", "320") or {}
for _, key in ipairs(ready) do moveKey(key) end

while ranges[1] and isRoom() do
  local first, last = unpack(ranges[1])
  local turn = hasTurns and redis.call("ZRANGEBYSCORE", turns, first, last, "WITHSCORES", "LIMIT", "0", "1") or {}
  local key, before = turn[1], turn[2] or last
  local members = redis.call("ZRANGEBYSCORE", due, first, before, "LIMIT", "0", whole(math.min(most - #claimed, 16)))
  looks = looks + #members
  for _, member in ipairs(members) do
    if size < budget then take(member) end
  end
  if #members == 0 and key then takeNext(key, first, last) end
  if #members == 0 and not key then table.remove(ranges, 1) end
end
return { say((ranges[1] or #ready == 320) and "1"), say(whole(now)), claimed }
`,
};

/** Prolongs a claim: KEYS[2] its head, ARGV incarnation, fence, lease. Answers whether it did, the time, the guard. */
export const renewScript: Script = {
  name: "renew",
  text: `${prelude}${turns}
local row = readHead(KEYS[2])
if row == false then return { say("damaged") } end
if row == nil then return { "", say(whole(now)), {} } end
local isHeld = row.incarnation == ARGV[1] and row.owner and row.fence == ARGV[2]
-- a lease that ran out has given its place back
if isHeld and row.key and tonumber(row.lease) <= now and waitsFor(row.key, limitOf(row.permit)) then isHeld = false end
if isHeld then
  local dueAt, member = whole(now + tonumber(ARGV[3])), memberOf(row.seq, idOf(KEYS[2]))
  redis.call("ZADD", lineOf(row.key), dueAt, member)
  if row.key then redis.call("ZADD", leasesOf(row.key), dueAt, member) end
  redis.call("HSET", KEYS[2], "lease", dueAt)
end
return { say(isHeld and "1"), say(whole(now)), guard(row) }
`,
};

/** Gives a claim back: KEYS[2] its head, ARGV incarnation, fence, version. Answers as `renewScript`. */
export const releaseScript: Script = {
  name: "release",
  text: `${prelude}${turns}
local row = readHead(KEYS[2])
if row == false then return { say("damaged") } end
if row == nil then return { "", say(whole(now)), {} } end
local isDone = row.incarnation == ARGV[1] and row.owner and row.fence == ARGV[2] and row.version == ARGV[3]
if isDone then
  local member = memberOf(row.seq, idOf(KEYS[2]))
  setDue(lineOf(row.key), member, row.wake)
  redis.call("HDEL", KEYS[2], "owner", "lease")
  if row.key then
    redis.call("ZREM", leasesOf(row.key), member)
    moveKey(row.key)
  end
end
return { say(isDone and "1"), say(whole(now)), guard(row) }
`,
};
