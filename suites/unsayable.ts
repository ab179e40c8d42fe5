/** What a suite asks for and a definition cannot say, and what to do instead. */
export const unsayable: Readonly<Record<string, readonly (readonly [what: string, instead: string])[]>> = {
  n8n: [
    ["`$env`, `$secrets`", "`globals`, handed to the engine"],
    ["static data of a workflow, kept between executions", "`input`, `metadata`, or a store of your own"],
    ["`$binary` and files", "a file elsewhere and its address, or a store for large values"],
    ["`$runIndex`, `$prevNode`, `pairedItem`", "`nodes.ID.all.length`; a node runs once, and a `map` once for each item"],
    ["`$jmespath`", "`map`, `filter`, `find`"],
    ["time zones, locales, `setZone`, `toLocaleString`", "a node of yours: times are in UTC, names English"],
    ["functions that assign or hold statements, `let`, loops, `new` but for `new Date`", "one expression, or a node of yours"],
    ["a replacement that is a function: `replace(/x/, m => ...)`", "`$1` and `$&` in the replacement, or `split` and `map`"],
    ["back references in regular expressions", "none: they cannot be matched in linear time"],
  ],
  "Amazon States Language": [
    ["`ItemReader`, `ResultWriter`: collections outside", "a node of yours that reads and writes them"],
    ["null told from missing by a strict path", "`a!` refuses both; `'a' in b` tells them apart"],
  ],
  "Serverless Workflow": [
    ["`emit` of an event to nobody in particular", "a node of yours that publishes it"],
    ["`call` of OpenAPI, AsyncAPI and gRPC by their documents", "`http`, or a node of yours"],
    ["`http` with the request in its output", "a `set` before it that holds what is asked for"],
    ["`run` of scripts and containers", "a node of yours"],
  ],
  BPMN: [
    [
      "signals that all instances hear, thrown by an instance",
      '`sendSignal` to each by its id, or `runtime.bulk({ action: "signal" })` from outside',
    ],
    ["start events by message", "start executions when they come; by time: schedules"],
    ["correlation without an id of the execution", "the order's number as `workflowId`"],
    ["escalation events", "a signal, or an edge of its own"],
    ["compensation thrown in the middle", "nodes that undo, drawn as a branch; `compensate` runs when the execution fails or is cancelled"],
    ["multi-instance strictly one by one where items wait", "a loop: a `map` asks all items at once"],
    ["ad-hoc sub-processes", "an open `map` that takes items until it is closed"],
  ],
};
