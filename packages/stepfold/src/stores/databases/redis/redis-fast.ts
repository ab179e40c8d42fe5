import { dueRows, prelude } from "./redis-schema.ts";

/**
 * Claims due executions without a permit, the longest due first. ARGV: the owner, the lease in milliseconds, the limit, for how many
 * milliseconds they must have been due, and by how much fences rise. The answer is the time, which executions with a permit may be due, and
 * the guard of each claimed execution.
 */
export const claimScript: string = `${prelude}${dueRows}
local owner, leaseMs, limit, overdueMs, fenceStep = take(), tonumber(take()), tonumber(take()), tonumber(take()), tonumber(take())
local answers = { say(whole(now)), say(keyedDue(overdueMs)) }
for _, row in ipairs(dueRows(nil, overdueMs, limit)) do
  -- the one that held it until now was lost
  row.crashes = whole(tonumber(row.crashes) + (row.owner and 1 or 0))
  row.owner, row.fence = owner, whole(tonumber(row.fence) + fenceStep)
  redis.call("HSET", row.headKey, "owner", row.owner, "fence", row.fence, "crashes", row.crashes)
  setDue(row, now + leaseMs)
  answers[#answers + 1] = guardOf(row, whole(now + leaseMs))
end
return answers
`;
