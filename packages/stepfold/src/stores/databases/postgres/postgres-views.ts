/**
 * Returns the SQL of the views for people who query the database. `workflow_executions` shows each execution as the JSON document that
 * `load` returns, but without what is only in the events, such as variables. The other views hold the parts of it: events, children,
 * results, contexts, and items of maps.
 *
 * The views use `json` and text and never `jsonb`, because `jsonb` does not keep the order of members. A query for one execution reads
 * only the history of that execution, because every subquery filters by the execution's number (`seq`).
 */
export function executionsView(schema: string): string {
  return `${parts(schema)}

${results(schema)}

CREATE VIEW "${schema}".workflow_executions (id, snapshot, status, version, created_at, updated_at) AS
SELECT id, ${restored(snapshot(schema))}::json, status, version, created_at, updated_at
FROM (
  SELECT seq, id, executions.version, status, created_at, updated_at, metadata, runs.head, since, first.event AS started, begun.event AS begun
  FROM "${schema}".executions JOIN "${schema}".execution_runs AS runs ON runs.execution = seq
  JOIN "${schema}".readable_events AS first ON first.execution = seq AND first.version = 0
  JOIN "${schema}".readable_events AS begun ON begun.execution = seq AND begun.version = since) AS execution;`;
}

/**
 * Returns the SQL of four views. `readable_events` and `readable_children` show JSON in a form that PostgreSQL's JSON functions accept.
 * `execution_runs` has the head of each execution in this form, and the version with which its present run began.
 * `execution_items` has one row for each map that began and one row for each item that was added later. Only the rows of maps have
 * a key. The column `items` holds the elements of a JSON array without the brackets.
 */
function parts(schema: string): string {
  return `CREATE VIEW "${schema}".readable_events (execution, version, event) AS
SELECT execution, version, ${disguised("event")} FROM "${schema}".events;

CREATE VIEW "${schema}".readable_children (execution, place, key, head) AS
SELECT execution, place, ${disguised("key")}, ${disguised("head")} FROM "${schema}".children
WHERE key::text <> '""'; -- the row with the empty key is a checkpoint and not a child

CREATE VIEW "${schema}".execution_runs (execution, head, since) AS
SELECT seq, head, coalesce((head -> 'run' ->> 'since')::bigint, 0)
FROM (SELECT seq, ${disguised("head")} AS head FROM "${schema}".executions WHERE deleted_at IS NULL) AS heads;

CREATE VIEW "${schema}".execution_items (execution, version, path, key, items) AS
SELECT execution, version, path,
  '"' || path || '#' || (event ->> 'visit') || '"',
  coalesce((event -> 'item')::text, ${bare("(event -> 'children' -> 'map' -> 'items')::text")})
FROM (
  SELECT execution, version, event, concat_ws('>', ${bare("(event -> 'scope')::text")}, ${bare("(event -> 'pathId')::text")}) AS path
  FROM "${schema}".readable_events
  WHERE event ->> 'type' = 'itemAdded' OR (event ->> 'type' = 'spawned' AND event -> 'children' -> 'map' IS NOT NULL)) AS added;`;
}

/**
 * Returns the SQL of two views. `execution_results` has one row for each result: place 0 is the result of the event's own step, the
 * higher places are results that the event caused elsewhere. Ids are JSON strings, with their quotes. `execution_contexts` joins the
 * results of the present run, except those of undoing a step, into the context of each scope, as the members of a JSON object without the
 * braces.
 */
function results(schema: string): string {
  return `CREATE VIEW "${schema}".execution_results (execution, version, place, scope, node, undoes, result) AS
SELECT execution, version, place, nullif((placed -> 'scope')::text, 'null'), (placed -> 'nodeId')::text,
  nullif((placed -> 'undoes')::text, 'null'), placed -> 'result'
FROM "${schema}".readable_events, LATERAL (
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
    -- without failed attempts to undo a step that will be tried again: they have no result yet
    AND NOT (event -> 'undoes' IS NOT NULL AND event ->> 'retryAt' IS NOT NULL)
  UNION ALL
  SELECT followed.place, followed.placed
  FROM json_array_elements(event -> 'consequences' -> 'results') WITH ORDINALITY AS followed (placed, place)) AS one;

CREATE VIEW "${schema}".execution_contexts (execution, scope, context) AS
SELECT execution, scope, string_agg(node || ':[' || results || ']', ',' ORDER BY first)
FROM (
  SELECT execution, scope, node, string_agg(result::text, ',' ORDER BY version, place) AS results, min(version * 1000000 + place) AS first
  FROM "${schema}".execution_results JOIN "${schema}".execution_runs USING (execution)
  WHERE undoes IS NULL AND version >= since GROUP BY execution, scope, node) AS nodes
GROUP BY execution, scope;`;
}

/** Returns the SQL expression for the JSON document of one execution, as text. */
function snapshot(schema: string): string {
  return `'{"workflowId":' || (started -> 'workflowId')
    || ',"version":' || version
    || ',"status":' || to_json(status)
    || ',"createdAt":' || (started -> 'at')
    || CASE WHEN head -> 'definition' IS NULL THEN ',"definition":' || (started -> 'definition') ELSE '' END
    || ',"metadata":' || regexp_replace(metadata::text, '^(.*[^,]),?"~stepfold/waits":\\[.*\\]}$', '\\1}')
    || coalesce(',"incarnation":' || (started -> 'incarnation'), '')
    || coalesce(',"input":' || (begun -> 'input'), '')
    || ',"context":{' || coalesce((
      SELECT context FROM "${schema}".execution_contexts AS own WHERE own.execution = execution.seq AND scope IS NULL), '') || '}'
    || coalesce(',"childStates":{' || (
      SELECT string_agg(key::text || ':{"context":{' || CASE
          -- a child that has ended and need not be undone keeps only its output, so its context is empty
          WHEN child.head ->> 'kept' IS NULL AND child.head ->> 'status' IN ('completed', 'failed', 'cancelled') THEN ''
          ELSE coalesce(context, '') END || '}' || ${membersOf("child.head")}, ',' ORDER BY place)
      FROM "${schema}".readable_children AS child
      LEFT JOIN "${schema}".execution_contexts AS own ON own.execution = execution.seq AND scope = key::text
      WHERE child.execution = execution.seq) || '}', '')
    || coalesce(',"mapItems":{' || (${mapItems(schema)}) || '}', '')
    || coalesce(',"compensations":[' || (
      SELECT string_agg('{"nodeId":' || node || ',"undoes":' || undoes || (
          SELECT string_agg(',' || to_json(member.key)::text || ':' || member.value::text, '')
          FROM json_each(result) AS member WHERE member.key <> 'pathId') || '}', ',' ORDER BY version, place)
      FROM "${schema}".execution_results AS produced
      WHERE produced.execution = execution.seq AND produced.version >= since AND undoes IS NOT NULL) || ']', '')
    || ${membersOf("head")}`;
}

/** Returns the subquery for the items of every map that is still active, which means that a path waits for it. */
function mapItems(schema: string): string {
  return `
      SELECT string_agg(key || ':[' || items || ']', ',' ORDER BY begun)
      FROM (
        SELECT begun, max(key) AS key, coalesce(string_agg(nullif(items, ''), ',' ORDER BY version), '') AS items
        FROM (
          -- an item belongs to the map that its path began last
          SELECT version, key, items, max(CASE WHEN key IS NOT NULL THEN version END) OVER (PARTITION BY path ORDER BY version) AS begun
          FROM "${schema}".execution_items AS added WHERE added.execution = execution.seq) AS added
        GROUP BY begun) AS maps
      WHERE key IN (
        SELECT '"' || coalesce(${bare("owner.key::text")} || '>', '') || ${bare("(path -> 'children' -> 'key')::text")} || '"'
        FROM (
          SELECT NULL::json AS key, execution.head
          UNION ALL SELECT key, head FROM "${schema}".readable_children AS child WHERE child.execution = execution.seq) AS owner,
          json_array_elements(owner.head -> 'activePaths') AS path
        WHERE path -> 'children' -> 'map' IS NOT NULL)`;
}

/**
 * Returns the SQL expression for JSON in which some escapes are disguised; `restored` restores them. PostgreSQL stores any JSON, but its
 * JSON functions fail if the JSON has `\u0000` or half a surrogate pair anywhere. `\u0000` becomes `\\u0000`, and so do all escapes of
 * surrogates. An escaped backslash (`\\`) first becomes `\u005c`, so that every `\\u` in the result comes from this function.
 */
function disguised(json: string): string {
  return `regexp_replace(replace(${json}::text, '\\\\', '\\u005c'), '\\\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})', '\\\\\\\\u\\1', 'g')::json`;
}

/** Returns the SQL expression for a text in which the escapes that `disguised` has rewritten are restored. */
function restored(text: string): string {
  return `replace(${text}, '\\\\u', '\\u')`;
}

/**
 * Returns the SQL expression for the members of a JSON object, to be appended after other members: `{"a": 1}` becomes `,"a": 1}`, and
 * `{}` becomes `}`.
 */
function membersOf(json: string): string {
  return `regexp_replace(regexp_replace(${json}::text, '^\\s*\\{\\s*', ','), '^,\\}', '}')`;
}

/** Returns the SQL expression for a JSON string without its quotes, or an array without its brackets. Escapes are not decoded. */
function bare(text: string): string {
  return `substr(${text}, 2, length(${text}) - 2)`;
}
