import type { Event, Json } from "stepfold";
import { durationText } from "../text/duration-text.ts";
import { printable, printableJson } from "../text/printable.ts";
import { type LineStyle, stepLine } from "./line.ts";
import { type Trail, trail } from "./trail.ts";

/** All that a node has done. */
interface Work {
  attempts: number;
  completed: number;
  ms: number;
  failed: string | null;
  output: Json | null;
}

/** One line per node that has done something: its last result, and what it took. Items of a map share their lines: `map[…]/approve`. */
export function resultLines(events: readonly Event[], style: LineStyle): string[] {
  const places = trail();
  const works = new Map<string, Work>();
  for (const event of events) {
    places.see(event);
    if ((event.type === "completed" || event.type === "failed") && !event.undoes) {
      const work = workOf(works, places, event.scope, event.nodeId);
      work.attempts++;
      work.ms += event.at - event.startedAt;
      if (event.type === "completed") took(work, event.output, null);
      else took(work, null, event.error.message);
    }
    if (event.type === "timedOut" && !event.undoes) took(workOf(works, places, event.scope, event.nodeId), null, event.error.message);
    for (const { scope, nodeId, result } of event.consequences?.results ?? [])
      took(workOf(works, places, scope, nodeId), result.output, result.error ?? null);
  }
  return [...works].map(([address, { attempts, completed, ms, failed, output }]) => {
    const times = completed > 1 ? `${completed} times` : attempts > 1 ? `${attempts} attempts` : "";
    const told = failed === null ? printableJson(output, 100) : printable(failed);
    const time = attempts === 0 ? "" : style.paint("quiet", durationText(ms));
    return stepLine(failed === null ? "✔" : "✖", failed === null ? "good" : "bad", address, [times, time, told], style);
  });
}

function workOf(works: Map<string, Work>, places: Trail, scope: string | undefined, nodeId: string): Work {
  const address = places.address(scope, nodeId).replace(/\[\d+\]/g, "[…]");
  let work = works.get(address);
  if (!work) {
    work = { attempts: 0, completed: 0, ms: 0, failed: null, output: null };
    works.set(address, work);
  }
  return work;
}

function took(work: Work, output: Json | null, failed: string | null): void {
  work.output = output;
  work.failed = failed;
  if (failed === null) work.completed++;
}
