import type { EndedPath, Event, PlacedResult, Snapshot } from "stepfold";
import { parentKey } from "stepfold/core";
import { namesText } from "../text/names-text.ts";
import { printable } from "../text/printable.ts";
import { type LineStyle, stepLine } from "./line.ts";
import type { Trail } from "./trail.ts";

/**
 * What followed from an event at other places: maps that are complete, joins that came short or have fired, paths that
 * ended.
 *
 * @param after the snapshot after it, if there is one: joins that have fired are only seen in it
 */
export function consequenceLines(event: Event, after: Snapshot | null, trail: Trail, style: LineStyle): string[] {
  const { results = [], ended = [] } = event.consequences ?? {};
  // the paths that were cancelled by name are told by the event itself
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

/** A path that was merged from several came to its join in the very transition in which that fired. */
function firedLines(event: Event, after: Snapshot | null, trail: Trail, style: LineStyle): string[] {
  if (!after) return [];
  const lines: string[] = [];
  // a join fires where something happened, or around that
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
