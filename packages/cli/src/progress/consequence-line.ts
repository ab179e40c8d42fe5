import type { EndedPath, Event, PlacedResult, Snapshot } from "stepfold";
import { parentKey } from "stepfold/core";
import { namesText } from "../text/names-text.ts";
import { printable } from "../text/printable.ts";
import { type LineStyle, stepLine } from "./line.ts";
import type { Trail } from "./trail.ts";

/**
 * Returns lines for what an event has caused at other places: maps that are complete, joins that failed or fired, paths that
 * ended.
 *
 * @param after the snapshot after the event; null if it is unknown: then joins that fired are not shown
 */
export function consequenceLines(event: Event, after: Snapshot | null, trail: Trail, style: LineStyle): string[] {
  const { results = [], ended = [] } = event.consequences ?? {};
  // the line of a `cancelled` event already shows the paths that the cancellation names
  const others = ended.filter(
    ({ scope, pathId }) => !(event.type === "cancelled" && event.scope === scope && event.pathIds?.includes(pathId)),
  );
  return [
    ...results.map((result) => resultLine(result, trail, style)),
    ...firedLines(event, after, trail, style),
    ...endedLine(others, "late", "too late: its join has fired without it", trail, style),
    ...endedLine(others, "cancelled", "ended by this", trail, style),
  ];
}

/** Returns a line for each join that fired in this event: a path with several inputs stands there since this version. */
function firedLines(event: Event, after: Snapshot | null, trail: Trail, style: LineStyle): string[] {
  if (!after) return [];
  const lines: string[] = [];
  // a join can fire in the scope of the event, and in the scopes around it
  for (let scope = (("scope" in event) && event.scope) || ""; ; scope = parentKey(scope)) {
    const paths = scope === "" ? after.activePaths : (after.childStates?.[scope]?.activePaths ?? []);
    for (const { nodeId, inputs = [], since } of paths) {
      if (inputs.length < 2 || since !== event.version) continue;
      const names = namesText(inputs.map((input) => input.nodeId));
      lines.push(stepLine("⋈", "quiet", trail.address(scope, nodeId), [`merges ${inputs.length} branches: ${names}`], style));
    }
    if (scope === "") return lines;
  }
}

function resultLine({ scope, nodeId, result: { output, error } }: PlacedResult, trail: Trail, style: LineStyle): string {
  const address = trail.address(scope, nodeId);
  if (error !== undefined) return stepLine("✖", "bad", address, [printable(error)], style);
  return stepLine(
    "✔",
    "good",
    address,
    [Array.isArray(output) ? `goes on with ${output.length === 1 ? "1 item" : `${output.length} items`}` : ""],
    style,
  );
}

function endedLine(ended: readonly EndedPath[], reason: EndedPath["reason"], text: string, trail: Trail, style: LineStyle): string[] {
  const names = ended.filter((one) => one.reason === reason).map(({ scope, nodeId }) => trail.address(scope, nodeId));
  return names.length === 0 ? [] : [stepLine("·", "quiet", namesText(names), [style.paint("quiet", text)], style)];
}
