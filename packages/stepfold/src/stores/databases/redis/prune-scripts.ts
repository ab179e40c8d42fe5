import { bury, prelude, ranks } from "./redis-schema.ts";
import type { Script } from "./run-script.ts";

/** Deletes one that has ended: KEYS[2] its head, ARGV retention. Answers the status it had, nothing if it is not there. */
export const deleteScript: Script = {
  name: "delete",
  text: `${prelude}${bury}
local row = readHead(KEYS[2])
if row == false then return { say("damaged") } end
if row == nil then return { "" } end
if terminal[row.status] then bury(KEYS[2], row, ARGV[1]) end
return { say(row.status) }
`,
};

/**
 * Deletes what has ended, the oldest first: ARGV before, `1` for a dry run, most, retention, place (time, seq), definition (`*`
 * or `=` and its id), statuses.
 *
 * Looks at 1,000 executions at most. Answers the place where it stopped, nothing if that is the end, and what it deleted.
 */
export const pruneScript: Script = {
  name: "prune",
  text: `${prelude}${ranks}${bury}
local before, isDry, most, retention = tonumber(ARGV[1]), ARGV[2] == "1", tonumber(ARGV[3]), ARGV[4]
local placeAt, placeSeq = ARGV[5], tonumber(ARGV[6])
local definition = ARGV[7]
local statuses = {}
for index = 8, #ARGV do statuses[ARGV[index]] = true end

local rank = rankAfter(ended, false, placeAt, placeSeq)
local part = redis.call("ZRANGE", ended, whole(rank), whole(rank + 999), "WITHSCORES")
local isEnd = #part < 2000
local executions, events = 0, 0
for index = 1, #part, 2 do
  local member, score = part[index], part[index + 1]
  if tonumber(score) >= before then isEnd = true break end
  if executions == most then isEnd = false break end
  local id, seq = string.sub(member, 17), tonumber(string.sub(member, 1, 16)) or 0
  local head = base .. "e:" .. id
  placeAt, placeSeq = score, seq
  local row = readHead(head)
  if row and row.seq == seq then
    if statuses[row.status] and (definition == "*" or definition == "=" .. (redis.call("HGET", head, "definitionId") or "")) then
      local length = redis.pcall("LLEN", base .. "h:" .. id)
      executions = executions + 1
      if type(length) == "number" then events = events + length end
      if not isDry then bury(head, row, retention) end
    end
  elseif row ~= false and not isDry then
    -- the head is gone
    redis.call("ZREM", ended, member)
    redis.call("ZREM", created, member)
  end
end
if isEnd then placeAt = "" end
return { say(placeAt ~= "" and placeAt), say(whole(placeSeq or 0)), say(whole(executions)), say(whole(events)) }
`,
};
