import type { Tables } from "./mysql-statement.ts";

/** Returns SQL for the value at a path of an event, as JSON text. */
const part = (path: string): string => `JSON_EXTRACT(event, '$.${path}')`;
/** Returns SQL for the text of the JSON string at a path of an event. */
const textAt = (path: string): string => `JSON_UNQUOTE(${part(path)})`;
const utf8 = (value: string): string => `CONVERT(${value} USING utf8mb4)`;

/**
 * Returns SQL for texts joined by commas. The result is NULL if one of them is NULL, or if the session's `group_concat_max_len` would
 * cut the end off, which servers do silently.
 */
function joined(text: string, order: string): string {
  const all = `GROUP_CONCAT(${text} ORDER BY ${order} SEPARATOR ',')`;
  return `CASE WHEN COUNT(*) = 0 THEN '' WHEN LENGTH(${all}) = SUM(LENGTH(${text})) + COUNT(*) - 1 THEN ${all} END`;
}

/**
 * Returns the statements that create the views for people who query the database. The views use only JSON functions on which MySQL and
 * MariaDB agree. If these functions cannot read an event (MariaDB reads 32 levels), the snapshot is NULL and not wrong. Variables,
 * children, items of maps and compensations are left out, because no function of both servers can combine their histories; so are other
 * values that only the events hold.
 */
export function viewsOf({ executions, events, results, contexts, view }: Tables): readonly string[] {
  // in MySQL, JSON that cannot be read would make the whole query fail
  const readable = `(SELECT execution, version, IF(JSON_VALID(event), event, '{}') AS event FROM ${events}) AS readable`;
  const place = `',"timestamp":', ${part("at")}, ',"attempt":', ${part("attempt")}`;
  const origin = `',"pathId":', ${part("pathId")}, ',"version":', version, '}'`;
  const notValid = `EXISTS (SELECT 1 FROM ${events} AS e WHERE e.execution = seq AND NOT JSON_VALID(e.event))`;
  const input = "JSON_EXTRACT(begun.event, '$.input')";
  // an execution that has gone on with continueAs shows the run that began with the event of this version
  const since = "COALESCE(JSON_EXTRACT(head, '$.run.since'), 0)";
  return [
    // one row for each result outside of children: place 0 is the result of the event's own step, higher places are results it caused
    `CREATE OR REPLACE VIEW ${results} (execution, version, place, node, result) AS
SELECT execution, version, 0, ${utf8(part("nodeId"))} COLLATE utf8mb4_bin,
  CASE ${textAt("type")}
    WHEN 'completed' THEN CONCAT('{"output":', ${part("output")}, ${place}, ${origin})
    ELSE CONCAT('{"output":', CASE ${textAt("handle")} WHEN 'error' THEN ${part("error")} ELSE 'null' END, ${place},
      ',"error":', ${part("error.message")}, ${origin}) END
FROM ${readable}
WHERE ${textAt("type")} IN ('completed', 'failed', 'timedOut') AND ${part("scope")} IS NULL AND ${part("undoes")} IS NULL
UNION ALL
SELECT execution, version, followed.place, ${utf8("followed.node")} COLLATE utf8mb4_bin, ${utf8("followed.result")}
FROM ${readable},
  JSON_TABLE(event, '$.consequences.results[*]' COLUMNS (
    place FOR ORDINALITY, node JSON PATH '$.nodeId', scope VARCHAR(1) EXISTS PATH '$.scope', result JSON PATH '$.result')) AS followed
WHERE followed.scope = 0`,
    // one row for each node: its entry in the context
    `CREATE OR REPLACE VIEW ${contexts} (execution, first, entry) AS
SELECT execution, MIN(${results}.version * 1000000 + place), CONCAT(node, ':[', ${joined("result", `${results}.version, place`)}, ']')
FROM ${results} JOIN ${executions} AS run ON seq = execution WHERE ${results}.version >= ${since} GROUP BY execution, node`,
    `CREATE OR REPLACE VIEW ${view} (id, snapshot, status, version, created_at, updated_at) AS
SELECT ${utf8("id")},
  CASE WHEN ${notValid} THEN NULL ELSE CONCAT(
    '{"workflowId":', JSON_QUOTE(${utf8("id")}), ',"incarnation":', JSON_QUOTE(${utf8("incarnation")}),
    IF(JSON_EXTRACT(head, '$.definition') IS NULL, CONCAT(',"definition":', definition), ''), ',"metadata":', IF(labels LIKE '%~stepfold/waits%', JSON_REMOVE(metadata, '$."~stepfold/waits"'), metadata),
    ',"version":', executions.version, ',"status":"', ${utf8("status")}, '","createdAt":', JSON_EXTRACT(started.event, '$.at'),
    CASE WHEN ${input} IS NULL THEN '' ELSE CONCAT(',"input":', ${input}) END,
    ',"context":{', (SELECT ${joined("entry", "first")} FROM ${contexts} AS context WHERE context.execution = seq), '}',
    CASE head WHEN '{}' THEN '' ELSE ',' END, SUBSTRING(head, 2)) END,
  ${utf8("status")}, executions.version, created_at, updated_at
FROM ${executions} AS executions JOIN ${events} AS started ON started.execution = seq AND started.version = 0
  JOIN ${events} AS begun ON begun.execution = seq AND begun.version = ${since}`,
  ];
}
