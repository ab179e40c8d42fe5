/**
 * Executions that share a permit, for the scripts that come after the prelude.
 *
 * All with one key that are ever due stand in its line, as others do in `due`; those of them that are claimed stand also in
 * its leases, by their end. `turns` and `full` hold the keys, so that a claim looks at no key in vain: `turns` by the time at
 * which the first of the line is due, `full` those whose first has to wait for a lease to end, by that end. A renewal moves no
 * key: it is looked at when its time has come, and moved on then.
 */
export const turns: string = `
local turns, full = base .. "turns", base .. "full"
local function leasesOf(key) return base .. "l:" .. key end

-- an error here has written nothing
local function refuseOther(key)
  for _, name in ipairs({ turns, full, lineOf(key), leasesOf(key) }) do redis.call("ZCARD", name) end
end

-- nil if one with this limit may be claimed now, else the end of the lease that it has to wait for
local function waitsFor(key, limit)
  redis.call("ZREMRANGEBYSCORE", leasesOf(key), "-inf", whole(now))
  local tooMany = redis.call("ZCARD", leasesOf(key)) - limit
  return tooMany >= 0 and redis.call("ZRANGE", leasesOf(key), whole(tooMany), whole(tooMany), "WITHSCORES")[2] or nil
end

-- the same of one in the line. What is damaged waits for nothing: whoever takes it puts it aside
local function memberWaitsFor(key, member)
  local permit = redis.pcall("HGET", base .. "e:" .. string.sub(member, 17), "permit")
  return waitsFor(key, limitOf(type(permit) == "string" and permit))
end

-- after whatever may have changed who is the first, or whether it has to wait
local function moveKey(key)
  local first = redis.call("ZRANGE", lineOf(key), "0", "0", "WITHSCORES")
  local dueAt = first[2]
  local lease = dueAt and tonumber(dueAt) <= now and memberWaitsFor(key, first[1])
  if lease then redis.call("ZADD", full, lease, key) else redis.call("ZREM", full, key) end
  if dueAt and not lease then redis.call("ZADD", turns, dueAt, key) else redis.call("ZREM", turns, key) end
end
`;
