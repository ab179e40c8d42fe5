/** Features that a suite tests and that a workflow definition cannot express, and what to do instead. */
export const unsayable: Readonly<Record<string, readonly (readonly [what: string, instead: string])[]>> = {
  n8n: [
    ["`$env`, `$secrets`", "`globals`, which you hand to the engine"],
    ["static data of a workflow that is kept between executions", "`input`, `metadata`, or a store of your own"],
    ["`$binary` and files", "keep the file elsewhere and its address in the execution, or use a store for large values"],
    ["`$runIndex`, `$prevNode`, `pairedItem`", "`nodes.ID.all.length`; a node runs once, and a `map` once for each item"],
    ["`$jmespath`", "`map`, `filter`, `find`"],
    ["time zones, locales, `setZone`, `toLocaleString`", "your own node type: times are in UTC, and names of days and months are English"],
    ["functions with assignments or statements, `let`, loops, `new` except `new Date`", "one expression, or your own node type"],
    ["a replacement that is a function: `replace(/x/, m => ...)`", "`$1` and `$&` in the replacement, or `split` and `map`"],
    ["back references in regular expressions", "none: they cannot be matched in linear time"],
  ],
  "Amazon States Language": [
    ["`ItemReader`, `ResultWriter`: collections outside the execution", "your own node type that reads and writes them"],
    ["a strict path that treats null and a missing value differently", "`a!` refuses both; `'a' in b` is true only if the member exists"],
  ],
  "Serverless Workflow": [
    ["`emit` of an event without a receiver", "your own node type that publishes it"],
    ["`call` of OpenAPI, AsyncAPI and gRPC by their documents", "`http`, or your own node type"],
    ["`http` with the request in its output", "a `set` node before it that holds the request"],
    ["`run` of scripts and containers", "your own node type"],
  ],
  BPMN: [
    [
      "signals from one instance to all instances",
      '`sendSignal` with `all: true` to all executions that wait under a key, or `runtime.bulk({ action: "signal" })` from outside',
    ],
    ["start events by message", "start an execution when the message comes; use schedules for times"],
    ["correlation without the id of the execution", "use a business key, such as the order number, as `workflowId`"],
    ["escalation events", "a signal, or a separate edge"],
    [
      "compensation in the middle of an execution",
      "a branch with nodes that undo; `compensate` runs only when the execution fails or is cancelled",
    ],
    ["multi-instance strictly one after the other, if items wait", "a loop: a `map` lets all items wait at once"],
    ["ad-hoc sub-processes", "an open `map`, which takes items until it is closed"],
  ],
};
