import type { Event, Json } from "stepfold";
import { durationText, namesText, type Trail, trail } from "stepfold/core";
import { printable, printableJson } from "../text/printable.ts";
import { type LineStyle, stepLine } from "./line.ts";

/** What a node has done in all its visits. */
interface Work {
  /** The number of attempts that have completed or failed, without those that suspended the step. */
  attempts: number;
  completed: number;
  /** The time of these attempts together. */
  ms: number;
  /** Messages of failures, by the address of the child (empty for the execution itself). A later success there removes the message. */
  readonly failures: Map<string, string>;
  /** The latest output; null if the latest result is a failure. */
  output: Json | null;
}

/** Returns one line for each node that has run: its latest result and the time it took. Items of a map share a line: `map[…]/approve`. */
export function resultLines(events: readonly Event[], style: LineStyle): string[] {
  const places = trail();
  const works = new Map<string, Work>();
  for (const event of events) {
    places.see(event);
    // only results of the present run are shown
    if (event.type === "continued") works.clear();
    if ((event.type === "completed" || event.type === "failed") && !event.undoes) {
      const work = workOf(works, places, event.scope, event.nodeId);
      work.attempts++;
      work.ms += event.at - event.startedAt;
      if (event.type === "completed") recordResult(work, places, event.scope, event.output, null);
      else recordResult(work, places, event.scope, null, event.error.message);
    }
    if (event.type === "timedOut" && !event.undoes)
      recordResult(workOf(works, places, event.scope, event.nodeId), places, event.scope, null, event.error.message);
    for (const { scope, nodeId, result } of event.consequences?.results ?? [])
      recordResult(workOf(works, places, scope, nodeId), places, scope, result.output, result.error ?? null);
  }
  return [...works].map(([address, work]) => workLine(address, work, style));
}

function workLine(address: string, { attempts, completed, ms, failures, output }: Work, style: LineStyle): string {
  const hasFailed = failures.size > 0;
  const times = completed > 1 ? `${completed} times` : attempts > 1 ? `${attempts} attempts` : "";
  const items = [...failures.keys()].filter((name) => /\[\d+\]/.test(name));
  const at = items.length === 0 ? "" : `failed at ${namesText(items)}: `;
  const told = hasFailed ? at + printable([...failures.values()].at(-1)!) : printableJson(output, 100);
  const time = attempts === 0 ? "" : style.paint("quiet", durationText(ms));
  return stepLine(hasFailed ? "✖" : "✔", hasFailed ? "bad" : "good", address, [times, time, told], style);
}

function workOf(works: Map<string, Work>, places: Trail, scope: string | undefined, nodeId: string): Work {
  const address = places.address(scope, nodeId).replace(/\[\d+\]/g, "[…]");
  let work = works.get(address);
  if (!work) {
    work = { attempts: 0, completed: 0, ms: 0, failures: new Map(), output: null };
    works.set(address, work);
  }
  return work;
}

/** Records a result of a node. @param failed the message of a failure; null for a success */
function recordResult(work: Work, places: Trail, scope: string | undefined, output: Json | null, failed: string | null): void {
  const child = scope ? places.child(scope) : "";
  work.output = output;
  work.failures.delete(child);
  if (failed === null) work.completed++;
  else work.failures.set(child, failed);
}
