import { prelude, snapshotRows } from "./prelude.ts";
import type { Script } from "./script.ts";

/**
 * Takes what is due, longest due first: ARGV owner, lease, most, budget in bytes, for how long it must have been due. With
 * KEYS[2], the head of one: that one.
 *
 * Answers whether there may be more, and one list for each claim: fence, the rows of `rowsOf`, crashes. What is damaged
 * stays claimed until its lease ends, so that it is not tried again and again.
 */
export const claimScript: Script = {
  name: "claim",
  text: `${prelude}${snapshotRows}
local owner, leaseMs, most, budget = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local overdue = tonumber(ARGV[5])
local dueAt = whole(now + leaseMs)
local latest = now - overdue
local claimed, size = {}, 0

local function take(member)
  local head = base .. "e:" .. string.sub(member, 17)
  local row = readHead(head)
  if row == nil or (row and (row.seq ~= tonumber(string.sub(member, 1, 16)) or terminal[row.status])) then
    -- nobody can ever drive it: it is not there any more
    redis.call("ZREM", due, member)
    return
  end
  redis.call("ZADD", due, dueAt, member)
  if row == false then return end
  local fence = whole(tonumber(row.fence) + 1)
  -- who still holds it has lost it
  local crashes = whole(row.crashes + (row.owner and 1 or 0))
  redis.call("HSET", head, "owner", owner, "fence", fence, "lease", dueAt, "crashes", crashes)
  local rows, more = rowsOf(head, row, budget)
  if not rows then return end
  size = size + more
  claimed[#claimed + 1] = { say(fence), rows, say(crashes) }
end

if KEYS[2] then
  local row = readHead(KEYS[2])
  local member = row and memberOf(row.seq, idOf(KEYS[2]))
  local score = member and redis.call("ZSCORE", due, member)
  local isDueNow = overdue > 0 and score and tonumber(score) < 0
  if score and tonumber(score) <= (isDueNow and latest - nowLiesBack or latest) then take(member) end
  return { "", say(whole(now)), claimed }
end

-- what is due now lies below 0; older versions wrote 0 for it
local ranges = { { "-inf", whole(latest) } }
if overdue > 0 then ranges = { { "-inf", whole(latest - nowLiesBack) }, { "0", whole(latest) } } end
local rounds = 0
while #claimed < most and size < budget and rounds < 20 and ranges[1] do
  rounds = rounds + 1
  local first, last = unpack(ranges[1])
  local members = redis.call("ZRANGEBYSCORE", due, first, last, "LIMIT", 0, whole(math.min(most - #claimed, 16)))
  if #members == 0 then table.remove(ranges, 1) end
  for _, member in ipairs(members) do
    if size < budget then take(member) end
  end
end
return { say(ranges[1] and "1"), say(whole(now)), claimed }
`,
};

/** Prolongs a claim: KEYS[2] its head, ARGV incarnation, fence, lease. Answers whether it did, the time, the guard. */
export const renewScript: Script = {
  name: "renew",
  text: `${prelude}
local row = readHead(KEYS[2])
if row == false then return { say("damaged") } end
if row == nil then return { "", say(whole(now)), {} } end
local isHeld = row.incarnation == ARGV[1] and row.owner and row.fence == ARGV[2]
if isHeld then
  local dueAt = whole(now + tonumber(ARGV[3]))
  redis.call("ZADD", due, dueAt, memberOf(row.seq, idOf(KEYS[2])))
  redis.call("HSET", KEYS[2], "lease", dueAt)
end
return { say(isHeld and "1"), say(whole(now)), guard(row) }
`,
};

/** Gives a claim back: KEYS[2] its head, ARGV incarnation, fence, version. Answers as `renewScript`. */
export const releaseScript: Script = {
  name: "release",
  text: `${prelude}
local row = readHead(KEYS[2])
if row == false then return { say("damaged") } end
if row == nil then return { "", say(whole(now)), {} } end
local isDone = row.incarnation == ARGV[1] and row.owner and row.fence == ARGV[2] and row.version == ARGV[3]
if isDone then
  setDue(memberOf(row.seq, idOf(KEYS[2])), row.wake)
  redis.call("HDEL", KEYS[2], "owner", "lease")
end
return { say(isDone and "1"), say(whole(now)), guard(row) }
`,
};
