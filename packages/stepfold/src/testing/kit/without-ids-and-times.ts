/** Members of events and waits that hold data of the workflow: nothing in them is left out. */
const data: ReadonlySet<string> = new Set(["output", "payload", "input", "metadata", "variables", "appended", "item", "details", "schema"]);
const idOrTime =
  /^(?:id|at|hash|incarnation|version|turn|visit|since|scope|sizeBytes|historyBytes|timestamp|idempotencyKey|\w*Ids?|\w*At|\w*Time)$/;
/** Ids that say what a step is. */
const names: ReadonlySet<string> = new Set(["nodeId", "firstNodeId"]);

/** Returns an event, or a wait, without its ids and times, which are not the same in every test. */
export function withoutIdsAndTimes(value: object): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) {
    if (idOrTime.test(key) && !names.has(key)) continue;
    kept[key] = data.has(key) ? member : stripped(member);
  }
  return kept;
}

function stripped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(stripped);
  return typeof value === "object" && value !== null ? withoutIdsAndTimes(value) : value;
}
