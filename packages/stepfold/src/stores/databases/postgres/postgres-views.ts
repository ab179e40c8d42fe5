/**
 * What people read. `workflow_executions` shows each execution as the JSON document that `load` gives; the other two views
 * are its parts: every result of every execution, and everything that was ever added to a map.
 *
 * JSON stays `json` and text, which keep the order of members, and never becomes `jsonb`. Asked for one execution they
 * read its history only; that is why the aggregates are subqueries and no views of their own.
 */
export function executionsView(schema: string): string {
  const snapshot = `'{"workflowId":' || (started -> 'workflowId')
    || ',"version":' || version
    || ',"status":' || to_json(status)
    || ',"createdAt":' || (started -> 'at')
    || ',"definition":' || (started -> 'definition')
    || ',"metadata":' || (started -> 'metadata')
    || coalesce(',"incarnation":' || (started -> 'incarnation'), '')
    || coalesce(',"input":' || (started -> 'input'), '')
    || ',"context":{' || coalesce((${contextOf(schema)}), '') || '}'
    || coalesce(',"childStates":{' || (${childStates(schema)}) || '}', '')
    || coalesce(',"mapItems":{' || (${mapItems(schema)}) || '}', '')
    || coalesce(',"compensations":[' || (${compensations(schema)}) || ']', '')
    || ${membersOf("head")}`;
  return `
${results(schema)}

${items(schema)}

CREATE VIEW "${schema}".workflow_executions (id, snapshot, status, version, created_at, updated_at) AS
SELECT id, ${unhidden(snapshot)}::json, status, version, created_at, updated_at
FROM (
  SELECT seq, id, executions.version, status, created_at, updated_at, ${hidden("head")} AS head, ${hidden("event")} AS started
  FROM "${schema}".executions JOIN "${schema}".events ON events.execution = seq AND events.version = 0
  WHERE deleted_at IS NULL) AS execution;`;
}

/** One row for each result: that of the event's own step, then those that followed from it elsewhere. Ids are JSON text. */
function results(schema: string): string {
  return `CREATE VIEW "${schema}".execution_results (execution, version, place, scope, node, undoes, result) AS
SELECT execution, version, place, nullif((placed -> 'scope')::text, 'null'), (placed -> 'nodeId')::text,
  nullif((placed -> 'undoes')::text, 'null'), placed -> 'result'
FROM (SELECT execution, version, ${hidden("event")} AS event FROM "${schema}".events) AS entry, LATERAL (
  SELECT 0 AS place, json_build_object(
    'scope', event -> 'scope', 'nodeId', event -> 'nodeId', 'undoes', event -> 'undoes',
    'result', ('{"output":' || CASE
        WHEN event ->> 'type' = 'completed' THEN coalesce((event -> 'output')::text, 'null')
        WHEN event ->> 'handle' = 'error' THEN coalesce((event -> 'error')::text, 'null')
        ELSE 'null' END
      || ',"timestamp":' || (event -> 'at') || ',"attempt":' || (event -> 'attempt')
      || CASE WHEN event ->> 'type' = 'completed' THEN '' ELSE ',"error":' || coalesce((event -> 'error' -> 'message')::text, 'null') END
      || ',"pathId":' || (event -> 'pathId') || ',"version":' || version || '}')::json) AS placed
  WHERE event ->> 'type' IN ('completed', 'failed', 'timedOut')
    -- an attempt to undo something that is made again came to nothing yet
    AND NOT (event -> 'undoes' IS NOT NULL AND event ->> 'retryAt' IS NOT NULL)
  UNION ALL
  SELECT followed.place, followed.placed
  FROM json_array_elements(event -> 'consequences' -> 'results') WITH ORDINALITY AS followed (placed, place)) AS one;`;
}

/** One row for each map that began, which has a key, and for each item that was added to one later; items: JSON without brackets. */
function items(schema: string): string {
  return `CREATE VIEW "${schema}".execution_items (execution, version, path, key, items) AS
SELECT execution, version, path,
  '"' || path || '#' || (event ->> 'visit') || '"',
  coalesce((event -> 'item')::text, ${bare("(event -> 'children' -> 'map' -> 'items')::text")})
FROM (
  SELECT execution, version, event, concat_ws('>', ${bare("(event -> 'scope')::text")}, ${bare("(event -> 'pathId')::text")}) AS path
  FROM (SELECT execution, version, ${hidden("event")} AS event FROM "${schema}".events) AS entry
  WHERE event ->> 'type' = 'itemAdded' OR (event ->> 'type' = 'spawned' AND event -> 'children' -> 'map' IS NOT NULL)) AS added;`;
}

const listOfResults = "'[' || string_agg(result::text, ',' ORDER BY version, place) || ']'";

function contextOf(schema: string): string {
  return `
      SELECT string_agg(node || ':' || results, ',' ORDER BY first)
      FROM (
        SELECT node, ${listOfResults} AS results, min(version * 1000000 + place) AS first
        FROM "${schema}".execution_results AS produced
        WHERE produced.execution = execution.seq AND scope IS NULL AND undoes IS NULL
        GROUP BY node) AS nodes`;
}

function childStates(schema: string): string {
  return `
      SELECT string_agg(key::text || ':{"context":{' || CASE
          -- of a child that has ended and need not be undone, nothing stays but its output
          WHEN context IS NULL OR (child.head ->> 'kept' IS NULL AND child.head ->> 'status' IN ('completed', 'failed', 'cancelled')) THEN ''
          ELSE context END || '}' || ${membersOf("child.head")}, ',' ORDER BY place)
      FROM (
        SELECT place, ${hidden("key")} AS key, ${hidden("head")} AS head
        FROM "${schema}".children WHERE children.execution = execution.seq) AS child
      LEFT JOIN (
        SELECT scope, string_agg(node || ':' || results, ',' ORDER BY first) AS context
        FROM (
          SELECT scope, node, ${listOfResults} AS results, min(version * 1000000 + place) AS first
          FROM "${schema}".execution_results AS produced
          WHERE produced.execution = execution.seq AND scope IS NOT NULL AND undoes IS NULL
          GROUP BY scope, node) AS nodes
        GROUP BY scope) AS contexts ON scope = key::text`;
}

function mapItems(schema: string): string {
  return `
      SELECT string_agg(key || ':[' || items || ']', ',' ORDER BY begun)
      FROM (
        SELECT begun, max(key) AS key, coalesce(string_agg(nullif(items, ''), ',' ORDER BY version), '') AS items
        FROM (
          -- an item goes to the map that its path began last
          SELECT version, key, items, max(CASE WHEN key IS NOT NULL THEN version END) OVER (PARTITION BY path ORDER BY version) AS begun
          FROM "${schema}".execution_items AS added WHERE added.execution = execution.seq) AS added
        GROUP BY begun) AS maps
      WHERE key IN (
        SELECT (path -> 'children' -> 'key')::text
        FROM json_array_elements(execution.head -> 'activePaths') AS path WHERE path -> 'children' -> 'map' IS NOT NULL
        UNION ALL
        SELECT '"' || ${bare("child.key::text")} || '>' || ${bare("(path -> 'children' -> 'key')::text")} || '"'
        FROM (
          SELECT ${hidden("key")} AS key, ${hidden("head")} AS head
          FROM "${schema}".children WHERE children.execution = execution.seq) AS child,
          json_array_elements(child.head -> 'activePaths') AS path
        WHERE path -> 'children' -> 'map' IS NOT NULL)`;
}

function compensations(schema: string): string {
  return `
      SELECT string_agg('{"nodeId":' || node || ',"undoes":' || undoes || (
          SELECT string_agg(',' || to_json(member.key)::text || ':' || member.value::text, '')
          FROM json_each(result) AS member WHERE member.key <> 'pathId') || '}', ',' ORDER BY version, place)
      FROM "${schema}".execution_results AS produced
      WHERE produced.execution = execution.seq AND undoes IS NOT NULL`;
}
/**
 * PostgreSQL stores any JSON as it is, but refuses to look into one that has the character 0 or half a surrogate pair
 * anywhere. These expressions of SQL hide such escapes, and bring them back when the work is done: `\u0000` becomes
 * `\\u0000`, and so that this stays plain, a backslash in the text becomes `\u005c`.
 */
function hidden(json: string): string {
  return `regexp_replace(replace(${json}::text, '\\\\', '\\u005c'), '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\\\\\u\\1', 'g')::json`;
}

/** The text in which hidden escapes are themselves again. */
function unhidden(text: string): string {
  return `replace(${text}, '\\\\u', '\\u')`;
}

/** The members of a JSON object, to be put after others: `, "a": 1}`. */
function membersOf(json: string): string {
  return `regexp_replace(regexp_replace(${json}::text, '^\\s*\\{\\s*', ','), '^,\\}', '}')`;
}

/** The text of a JSON string without its quotes; what is escaped in it stays so. */
function bare(text: string): string {
  return `substr(${text}, 2, length(${text}) - 2)`;
}
