/**
 * The views for people who query the database. `workflow_executions` shows each execution as the JSON document that `load` returns, but
 * for what lies only in events, such as variables. The other two views hold parts of it and can be queried too: every result of every
 * execution, and every item that was ever added to a map.
 *
 * A query for one execution reads only the history of that execution, because the aggregates are subqueries and not views of their own.
 */
export const sqliteViews: readonly string[] = [
  `
  -- one row for each result: that of the event's own step, then those that followed from it elsewhere
  CREATE VIEW execution_results (execution, version, place, scope, node, undoes, result) AS
  SELECT execution, version, iif(placed.value ->> '$.own', -1, placed.key),
    placed.value ->> '$.scope', placed.value ->> '$.nodeId', placed.value ->> '$.undoes', placed.value -> '$.result'
  FROM events, json_each(CASE
    -- without failed attempts to undo a step that will be tried again: they have no result yet
    WHEN event ->> '$.type' IN ('completed', 'failed', 'timedOut') AND NOT (event -> '$.undoes' IS NOT NULL AND event ->> '$.retryAt' IS NOT NULL)
    THEN json_insert(coalesce(event -> '$.consequences.results', '[]'), '$[#]', json_object(
      'own', json('true'), 'scope', event -> '$.scope', 'nodeId', event -> '$.nodeId', 'undoes', event -> '$.undoes',
      'result', CASE event ->> '$.type'
        WHEN 'completed' THEN json_object(
          'output', event -> '$.output',
          'timestamp', event -> '$.at', 'attempt', event -> '$.attempt', 'pathId', event -> '$.pathId', 'version', version)
        ELSE json_object(
          'output', CASE event ->> '$.handle' WHEN 'error' THEN event -> '$.error' END,
          'timestamp', event -> '$.at', 'attempt', event -> '$.attempt', 'error', event -> '$.error.message',
          'pathId', event -> '$.pathId', 'version', version)
        END))
    ELSE event -> '$.consequences.results' END) AS placed`,
  `
  -- one row for each map that began, which has a key, and for each item that was added to one later, items: JSON without brackets
  CREATE VIEW execution_items (execution, version, path, key, items) AS
  SELECT execution, version, path,
    path || '#' || (event ->> '$.visit'),
    coalesce(event -> '$.item', substr(event -> '$.children.map.items', 2, length(event -> '$.children.map.items') - 2))
  FROM (
    SELECT execution, version, event, concat_ws('>', event ->> '$.scope', event ->> '$.pathId') AS path
    FROM events WHERE event ->> '$.type' = 'itemAdded' OR (event ->> '$.type' = 'spawned' AND event -> '$.children.map' IS NOT NULL))`,
  `
  CREATE VIEW workflow_executions (id, snapshot, status, version, created_at, updated_at) AS
  SELECT id,
    -- what may be absent comes first, each with its comma
    '{' || coalesce('"input":' || (begun -> '$.input') || ',', '')
    || coalesce('"childStates":' || nullif((
      SELECT json_group_object(key, json_set(head, '$.context', json(CASE
        -- a child that has ended and need not be undone keeps only its output, so its context is empty
        WHEN context IS NULL OR (head ->> '$.kept' IS NULL AND head ->> '$.status' IN ('completed', 'failed', 'cancelled')) THEN '{}'
        ELSE context END)) ORDER BY place)
      FROM (
        -- each child with its context, grouped because SQLite has no index for a join with what depends on the execution
        SELECT key, max(place) AS place, max(head) AS head, max(context) AS context
        FROM (
          SELECT key, place, head, NULL AS context FROM children WHERE children.execution = seq AND children.key <> '' -- not a checkpoint
          UNION ALL
          SELECT scope, NULL, NULL, json_group_object(node, json(results) ORDER BY first)
          FROM (
            SELECT scope, node, json_group_array(json(result) ORDER BY version, place) AS results, min(version * 1000000 + place) AS first
            FROM execution_results AS produced
            WHERE produced.execution = seq AND produced.version >= since AND scope IS NOT NULL AND undoes IS NULL
            GROUP BY scope, node)
          GROUP BY scope)
        GROUP BY key)
      WHERE head IS NOT NULL
    ), '{}') || ',', '')
    || coalesce('"mapItems":' || nullif((
      SELECT json_group_object(key, json('[' || items || ']') ORDER BY begun)
      FROM (
        SELECT begun, max(key) AS key, coalesce(group_concat(nullif(items, ''), ',' ORDER BY version), '') AS items
        FROM (
          -- an item belongs to the map that its path began last
          SELECT version, key, items, max(iif(key IS NULL, NULL, version)) OVER (PARTITION BY path ORDER BY version) AS begun
          FROM execution_items AS added WHERE added.execution = seq)
        GROUP BY begun)
      WHERE key IN (
        SELECT path.value ->> '$.children.key'
        FROM json_each(executions_started.head, '$.activePaths') AS path WHERE path.value -> '$.children.map' IS NOT NULL
        UNION ALL
        SELECT children.key || '>' || (path.value ->> '$.children.key')
        FROM children, json_each(children.head, '$.activePaths') AS path
        WHERE children.execution = seq AND path.value -> '$.children.map' IS NOT NULL)
    ), '{}') || ',', '')
    || coalesce('"compensations":' || nullif((
      SELECT json_group_array(json_remove(json_set(result, '$.nodeId', node, '$.undoes', json(undoes)), '$.pathId') ORDER BY version)
      FROM execution_results AS produced WHERE produced.execution = seq AND produced.version >= since AND undoes IS NOT NULL
    ), '[]') || ',', '')
    || substr(json_set(head,
      '$.workflowId', id,
      '$.version', version,
      '$.status', status,
      '$.createdAt', started -> '$.at',
      '$.definition', json(coalesce(head -> '$.definition', definition)),
      '$.metadata', json_remove(metadata, '$."~stepfold/waits"'),
      '$.incarnation', incarnation,
      '$.context', json((
        SELECT json_group_object(node, json(results) ORDER BY first)
        FROM (
          SELECT node, json_group_array(json(result) ORDER BY version, place) AS results, min(version * 1000000 + place) AS first
          FROM execution_results AS produced
          WHERE produced.execution = seq AND produced.version >= since AND scope IS NULL AND undoes IS NULL
          GROUP BY node)))), 2),
    status, version, created_at, updated_at
  FROM (
    -- an execution that has gone on with continueAs shows the run that began with the event of the version since
    SELECT executions.*, coalesce(head ->> '$.run.since', 0) AS since, first.event AS started, run.event AS begun
    FROM executions JOIN events AS first ON first.execution = seq AND first.version = 0
    JOIN events AS run ON run.execution = seq AND run.version = coalesce(head ->> '$.run.since', 0)
    WHERE deleted_at IS NULL) AS executions_started`,
];
