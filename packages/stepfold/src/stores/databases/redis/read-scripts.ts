import { dueRows, loading, prelude } from "./redis-schema.ts";

/** Guards: KEYS[2..] are the heads. Answers the time, and a list for each: empty if there is none, or it is damaged. */
export const readScript: string = `${prelude}
local answers = { say(whole(now)) }
for index = 2, #KEYS do
  local row = readRow(KEYS[index])
  answers[index] = row and guardOf(row) or {}
end
return answers
`;

/** Heads: KEYS[2..] are their keys. Answers guard, definition, metadata and head of each: empty if there is none. */
export const headsScript: string = `${prelude}
local answers = {}
for index = 2, #KEYS do
  local row = readRow(KEYS[index])
  answers[index - 1] = row and not row.deleted and listedOf(row) or {}
end
return answers
`;

/** Whole executions: KEYS[2..] are the heads. Answers the rows of each: empty if there is none. Those over the budget are left out. */
export const loadScript: string = `${prelude}${loading}
local answers, size = {}, 0
for index = 2, #KEYS do
  if size > budgetBytes then break end
  local row, rows, more = readRow(KEYS[index]), {}, 0
  if row == false or (row and not row.deleted) then rows, more = rowsOf(row) end
  answers[index - 1] = rows
  size = size + more
end
return answers
`;

/** A part of a history: KEYS[2] the head, ARGV first version, most. Answers the incarnation and the rows. */
export const eventsScript: string = `${prelude}${loading}
local row = readRow(KEYS[2])
if not row or row.deleted then return { "", {} } end
local events = eventsFrom(row.id, tonumber(ARGV[1]), tonumber(ARGV[2]))
return { say(row.incarnation), events }
`;

/** What is due: ARGV overdue, limit, and keys of permits; without keys what has no permit. Answers whether something with a permit is due, and guards. */
export const dueScript: string = `${prelude}${dueRows}
local answers = { say(arePermitKeysDue() and "1") }
for index = 3, math.max(3, #ARGV) do
  for _, row in ipairs(dueRows(ARGV[index], tonumber(ARGV[1]), tonumber(ARGV[2]))) do answers[#answers + 1] = guardOf(row) end
end
return answers
`;

/**
 * Keys of permits for which something is due: ARGV overdue, limit, `(` and the key after which to go on, or `-`. Looks at no
 * more keys than the limit. Answers the key where it stopped, nothing if that is the end; then the permit of the one
 * that is due longest for each key.
 */
export const dueKeysScript: string = `${prelude}${dueRows}
local overdueMs, limit = tonumber(ARGV[1]), tonumber(ARGV[2])
for _, key in ipairs(redis.call("ZRANGEBYSCORE", later, "-inf", whole(now), "LIMIT", "0", "1000")) do movePermitKey(key) end
local keys = redis.call("ZRANGEBYLEX", ready, ARGV[3], "+", "LIMIT", "0", ARGV[2])
local answers = { say(#keys == limit and keys[limit]) }
for _, key in ipairs(keys) do
  local row = dueRows(key, overdueMs, 1)[1]
  if row then answers[#answers + 1] = say(row.permit) end
end
return answers
`;

/**
 * A part of all executions, or of those that have ended: ARGV `created` or `ended`, the command that reads this index, where to begin
 * and to end in it, most rows, `list` for rows with definition, metadata and head, and filters: count and statuses, `=` and a
 * definition, what ids begin with, count and labels.
 *
 * Looks at about 1,000 executions. Answers where to go on, nothing at the end, how many it has looked at, and the rows.
 */
export const scanScript: string = `${prelude}
local index, command, from, to, limit, isList = base .. take(), take(), take(), take(), tonumber(take()), take() == "list"
local statuses, definition, prefix, labels = takeMany(take()), take(), take(), takeMany(take())
local rows, size, looked, part = {}, 0, 0, nil
local isWanted = {}
for position = statuses.first, statuses.last do isWanted[ARGV[position]] = true end

local function fits(row)
  if row.deleted or string.sub(row.id, 1, #prefix) ~= prefix or (statuses.last >= statuses.first and not isWanted[row.status]) then return false end
  if definition ~= "" and "=" .. (redis.call("HGET", row.headKey, "definitionId") or "") ~= definition then return false end
  local own = labels.last >= labels.first and redis.call("HGET", row.headKey, "labels") or ""
  for position = labels.first, labels.last do
    if not string.find(own, ARGV[position], 1, true) then return false end
  end
  return true
end

local function look(entry)
  local row = readRow(headKeyOf(behindNumber(behindNumber(entry))))
  if row == nil or (row and row.member ~= behindNumber(entry)) then
    -- the head is gone
    if index == ended then redis.call("ZREM", index, entry) end
  elseif row and fits(row) then
    local told, more = guardOf(row), 0
    if isList then told, more = listedOf(row) end
    size = size + more
    rows[#rows + 1] = told
  end
end

repeat
  part = redis.call(command, index, from, to, "LIMIT", "0", "50")
  for _, entry in ipairs(part) do
    if #rows == limit or size > 1000000 then return { say(from), looked, rows } end
    look(entry)
    from, looked = "(" .. entry, looked + 1
  end
until #part < 50 or looked >= 1000
return { say(#part == 50 and from), looked, rows }
`;

/** Records: ARGV kind, keys. Answers for each its revision, a space and its text. */
export const getRecordsScript: string = `${prelude}
local answers = {}
for index = 2, #ARGV do answers[index - 1] = say(redis.call("HGET", base .. ARGV[1], ARGV[index])) end
return answers
`;

/** Writes records: ARGV kind, then of each key, expected revision, next revision with a space and the text. Answers for each if it was made. */
export const putRecordsScript: string = `${prelude}
local records, answers = base .. ARGV[1], {}
for index = 2, #ARGV, 3 do
  local key, expected, record = ARGV[index], ARGV[index + 1], ARGV[index + 2]
  local isMade = string.match(redis.call("HGET", records, key) or "", "^%S*") == expected
  if isMade and record ~= "" then redis.call("HSET", records, key, record) end
  if isMade and record == "" then redis.call("HDEL", records, key) end
  answers[#answers + 1] = say(isMade and "1")
end
return answers
`;
