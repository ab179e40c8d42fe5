import { dueRows, loading, prelude } from "./redis-schema.ts";

/** Reads guards. KEYS[2..] are the heads. The answer is the time and a list for each head, which is empty if it is missing or damaged. */
export const readScript: string = `${prelude}
local answers = { say(whole(now)) }
for index = 2, #KEYS do
  local row = readRow(KEYS[index])
  answers[index] = row and guardOf(row) or {}
end
return answers
`;

/**
 * Reads heads. KEYS[2..] are their keys. The answer has a list for each: guard, definition, metadata and head; empty if the execution is
 * missing, deleted or damaged.
 */
export const headsScript: string = `${prelude}
local answers = {}
for index = 2, #KEYS do
  local row = readRow(KEYS[index])
  answers[index - 1] = row and not row.deleted and listedOf(row) or {}
end
return answers
`;

/**
 * Reads whole executions. KEYS[2..] are the heads. The answer has the rows of each execution, empty if it is missing or deleted. Executions
 * that come after the budget of 1 MB is used up are left out, so that the caller asks for them again.
 */
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

/**
 * Reads a part of a history, about 1 MB at most. KEYS[2] is the head. ARGV: first version, limit. The answer: incarnation, rows, the place
 * of the first row in the list of the history, and how many events were trimmed.
 */
export const eventsScript: string = `${prelude}${loading}
local row = readRow(KEYS[2])
if not row or row.deleted then return { "", {} } end
local first = tonumber(ARGV[1])
local events = eventsFrom(row, first, tonumber(ARGV[2]))
return { say(row.incarnation), events, say(whole(ordinalOf(row, first))), say(row.trimmed) }
`;

/**
 * Reads due executions. ARGV: for how many milliseconds they must have been due, the limit for each key, and permit keys; without permit
 * keys, executions without a permit are read. The answer is which executions with a permit may be due, and the guards.
 */
export const dueScript: string = `${prelude}${dueRows}
local answers = { say(keyedDue(tonumber(ARGV[1]))) }
for index = 3, math.max(3, #ARGV) do
  for _, row in ipairs(dueRows(ARGV[index], tonumber(ARGV[1]), tonumber(ARGV[2]))) do answers[#answers + 1] = guardOf(row) end
end
return answers
`;

/**
 * Finds permit keys for which an execution is due. ARGV: for how many milliseconds it must have been due, the limit, and where to begin:
 * `(` and the key after which to continue, or `-` for the first key. The script first updates up to 1,000 keys of `later` whose time has
 * come. It looks at no more keys of `ready` than the limit. The answer is the key where it stopped (empty at the end), then for each key
 * with a due execution the permit of the longest due one.
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
 * Reads due executions that need no permit of theirs at this moment, the earliest such time first. ARGV: for how many milliseconds they must
 * have been due, the limit, and how many entries of the index to skip. The script looks at about 1,000 entries. Those of held executions, and of
 * those that are not due yet, are passed over; those of damaged executions, and of those that no longer exist, are treated as in `dueRows`.
 * The answer is how many entries to skip next (empty at the end), and the guards.
 */
export const exemptScript: string = `${prelude}
local overdueMs, limit, skipped = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local answers, looked, till, part = { "" }, 0, math.max(0, now - overdueMs), nil

local function look(member)
  local row = readRow(headKeyOf(behindNumber(member)))
  if row == false then return redis.call("ZADD", exempt, whole(now + 60000), member) end
  if not row or row.member ~= member or row.exempt == "" then return redis.call("ZREM", exempt, member) end
  skipped = skipped + 1
  local dueAt, isAtOnce = dueAtOf(row), not row.owner and (tonumber(row.wake) or 1) <= 0
  local isDue = dueAt and ((isAtOnce and overdueMs == 0) or tonumber(dueAt) <= now - overdueMs)
  if isDue and tonumber(row.exempt) <= till then answers[#answers + 1] = guardOf(row, dueAt) end
end

repeat
  part = redis.call("ZRANGEBYSCORE", exempt, "-inf", whole(till), "LIMIT", whole(skipped), "50")
  for _, member in ipairs(part) do
    if #answers > limit then return answers end
    look(member)
  end
  looked = looked + #part
until #part < 50 or looked >= 1000
answers[1] = say(#part == 50 and whole(skipped))
return answers
`;

/**
 * Scans a part of all executions, of those that have ended, or of those with events of earlier runs. ARGV: the index (`created`, `ended`
 * or `runs`), the command that reads it, where
 * to begin and to end in it, the limit of rows, `list` for rows with definition, metadata and head; then the filters: the number of
 * statuses and the statuses, `=` and a definition id, the prefix of ids, the number of labels and the labels.
 *
 * The script stops after about 1,000 executions, about 1 MB, or the limit of rows. The answer is where to continue (empty at the end), how
 * many executions the script has looked at, and the rows.
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
    if index ~= created then redis.call("ZREM", index, entry) end
  elseif row and fits(row) and (index ~= created or entry == sortable(tonumber(row.created)) .. row.member) then
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

/** Reads records. ARGV: the kind, the keys. The answer has for each key the record's revision, a space and its text; empty if none. */
export const getRecordsScript: string = `${prelude}
local answers = {}
for index = 2, #ARGV do answers[index - 1] = say(redis.call("HGET", base .. ARGV[1], ARGV[index])) end
return answers
`;

/**
 * Writes records. ARGV: the kind, then for each record three texts: its key; the expected revision (empty: no record); and the next
 * revision, a space and the JSON (empty: the record is deleted). The answer tells for each record whether the write was made.
 */
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
