import { dueRows, history, prelude } from "./redis-schema.ts";

/**
 * Claims what is due without a permit, the longest due first: ARGV owner, lease, limit, overdue. Answers the time, whether
 * something with a permit is due, and for each claim its guard and its rows, which are left out over the budget.
 */
export const claimScript: string = `${prelude}${dueRows}${history}
local owner, leaseMs, limit, overdueMs = take(), tonumber(take()), tonumber(take()), tonumber(take())
local answers, size = { say(whole(now)), say(areKeysDue() and "1") }, 0
for _, row in ipairs(dueRows(nil, overdueMs, limit)) do
  -- the one that held it until now was lost
  row.crashes = whole(tonumber(row.crashes) + (row.owner and 1 or 0))
  row.owner, row.fence = owner, whole(tonumber(row.fence) + 1)
  redis.call("HSET", row.head, "owner", row.owner, "fence", row.fence, "crashes", row.crashes)
  setDue(row, now + leaseMs)
  local rows, more = {}, 0
  if size < budget then rows, more = rowsOf(row) end
  size = size + more
  answers[#answers + 1] = { guardOf(row, whole(now + leaseMs)), rows }
end
return answers
`;
