import { history, prelude, ranks, snapshotRows } from "./redis-schema.ts";
import type { Script } from "./run-script.ts";

/** One execution: KEYS[2] its head, ARGV budget in bytes. Answers the rows of `rowsOf`; nothing if it is not there. */
export const loadScript: Script = {
  name: "load",
  text: `${prelude}${snapshotRows}
local row = readHead(KEYS[2])
if row == nil then return {} end
local rows = row and rowsOf(KEYS[2], row, tonumber(ARGV[1]))
return rows or { say(idOf(KEYS[2])) }
`,
};

/** A part of a history: KEYS[2] the head, ARGV first version, most, budget in bytes. Answers the incarnation and the rows. */
export const eventsScript: Script = {
  name: "events",
  text: `${prelude}${history}
local row = readHead(KEYS[2])
if not row then return { "", {} } end
local events = eventsFrom(idOf(KEYS[2]), tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
return { say(row.incarnation), events }
`,
};

/**
 * A part of the list, newest first: ARGV place (time, seq; both empty for the start), created after, most rows, statuses
 * (`*` or count and names), definition (`*` or `=` and its id), count of metadata keys and pairs of field and value.
 *
 * Looks at 1,000 executions at most. Answers the place where it stopped, nothing if that is the end, and the rows.
 */
export const listScript: Script = {
  name: "list",
  text: `${prelude}${ranks}
local at = 0
local function take() at = at + 1 return ARGV[at] end
local placeAt, placeSeq, after, most = take(), tonumber(take()), take(), tonumber(take())
local statuses
local count = take()
if count ~= "*" then
  statuses = {}
  for _ = 1, tonumber(count) do statuses[take()] = true end
end
local definition = take()
local fields, values = {}, {}
for index = 1, tonumber(take()) do fields[index], values[index] = take(), take() end

local function fits(head, row)
  if statuses and not statuses[row[3]] then return false end
  if definition ~= "*" and "=" .. row[4] ~= definition then return false end
  for first = 1, #fields, 1000 do
    local last = math.min(first + 999, #fields)
    local found = redis.call("HMGET", head, unpack(fields, first, last))
    for index = first, last do
      if found[index - first + 1] ~= values[index] then return false end
    end
  end
  return true
end

local rank = rankAfter(created, true, placeAt, placeSeq)
local last = redis.call("ZCARD", created) - 1
if after ~= "" then last = redis.call("ZCOUNT", created, "(" .. after, "+inf") - 1 end
local final = math.min(last, rank + 999)
local rows, size = {}, 0
while rank <= final and #rows < most and size < 1000000 do
  local part = redis.call("ZREVRANGE", created, whole(rank), whole(math.min(final, rank + 49)), "WITHSCORES")
  if #part == 0 then break end
  for index = 1, #part, 2 do
    if #rows < most and size < 1000000 then
      local member = part[index]
      local id, seq = string.sub(member, 17), tonumber(string.sub(member, 1, 16)) or 0
      local head = base .. "e:" .. id
      placeAt, placeSeq = part[index + 1], seq
      rank = rank + 1
      local row = redis.pcall("HMGET", head, "seq", "version", "status", "definitionId", "definition", "metadata", "head", "updated", "wake",
        "owner", "lease", "crashes")
      local isWhole = not failed(row) and tonumber(row[1]) == seq
      for field = 1, 9 do isWhole = isWhole and row[field] end
      if isWhole and fits(head, row) then
        rows[#rows + 1] = { say(whole(seq)), say(id), say(placeAt), say(row[2]), say(row[3]), say(row[5]), say(row[6]), say(row[7]),
          say(row[8]), say(row[9]), say(row[10]), say(row[11]), say(row[12]) }
        size = size + #row[6] + #row[7]
      end
    end
  end
end
if rank > last then return { "", "", rows } end
return { say(placeAt), say(whole(placeSeq)), rows }
`,
};

/** Keeps a definition: ARGV hash, text. */
export const putDefinitionScript: Script = {
  name: "putDefinition",
  text: `${prelude}return say(whole(redis.call("HSETNX", base .. "definitions", ARGV[1], ARGV[2])))`,
};

/** Gives a definition: ARGV hash. */
export const definitionScript: Script = {
  name: "definition",
  text: `${prelude}return say(redis.call("HGET", base .. "definitions", ARGV[1]))`,
};

/** Answers the server's clock. */
export const nowScript: Script = {
  name: "now",
  text: `${prelude}
return say(whole(now))
`,
};
