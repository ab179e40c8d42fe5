import { type EpochMs, type Event, isTerminal, type Snapshot } from "stepfold";
import { agoText, countdownText, durationText, trail } from "stepfold/core";
import type { CommandContext } from "../execution/next-command.ts";
import { nodeWidth, widthOf } from "../text/node-width.ts";
import type { Paint } from "../text/paint.ts";
import { printable, printableJson } from "../text/printable.ts";
import { statusMeaning } from "../text/status-meaning.ts";
import { timestampsText } from "../text/timestamps-text.ts";
import { eventLines } from "./event-line.ts";
import { type LineStyle, stepLine } from "./line.ts";
import { errorText, originText, outputText } from "./outcome-text.ts";
import { type Known, placesText } from "./places-text.ts";
import { resultLines } from "./result-line.ts";

/** What is needed to print an execution. */
export interface Execution extends Known {
  readonly workflow: CommandContext["workflow"];
  /** True: every event is printed, not only the results. */
  readonly all: boolean;
}

/** Returns the text that `stepfold show` prints. */
export function executionText(execution: Execution, paint: Paint, now: EpochMs): string {
  const { snapshot, explanation, events, workflow, all } = execution;
  const { workflowId, status, version, createdAt = now } = snapshot;
  const style: LineStyle = { paint, nodeWidth: Math.max(nodeWidth(workflow), widthOf(explanation.places.map(({ address }) => address))) };
  const changedAt = events.at(-1)?.at ?? createdAt;
  const label = workflow?.definition.name ?? snapshot.definition.id;
  return [
    `${paint("strong", printable(workflowId, 255))}  ${paint(statusMeaning[status], status)}  ${printable(label)}  version ${version}`,
    `started ${agoText(now - createdAt)}, ${isTerminal(status) ? `took ${durationText(changedAt - createdAt)}` : `last change ${agoText(now - changedAt)}`}`,
    ...(snapshot.from ? [originText(snapshot.from)] : []),
    ...(explanation.runs === undefined ? [] : [timestampsText(explanation.runs, now)]),
    ...(isTerminal(status) ? [] : ["", timestampsText(explanation.sentence, now)]),
    ...(explanation.worker === undefined ? [] : [`It is held by ${printable(explanation.worker, 255)}.`]),
    ...(explanation.noWorker === undefined ? [] : [timestampsText(explanation.noWorker, now)]),
    ...section("Input", snapshot.input === undefined ? [] : [printableJson(snapshot.input, 400)], paint),
    ...section("Now", placesText(execution, style, now), paint),
    ...section("Next", explanation.next && explanation.places.length > 1 ? [timestampsText(explanation.next.sentence, now)] : [], paint),
    ...section("Variables", variableLines(snapshot), paint),
    ...section("Kept signals", inboxLines(snapshot, now), paint),
    ...section("Taken over", takenOverLines(events, style), paint),
    ...section(all ? "Events" : "Results", all ? historyLines(events, style) : resultLines(events, style), paint),
    ...section("Undone", undoneLines(snapshot, events, style), paint),
    ...section("Error", status === "failed" ? [errorText(snapshot).replace(/^:? /, "")] : [], paint),
    ...section("Output", status === "completed" ? outputText(snapshot).trimEnd().split("\n").filter(Boolean) : [], paint),
    "",
  ].join("\n");
}

function section(title: string, lines: readonly string[], paint: Paint): string[] {
  return lines.length ? ["", paint("strong", title), ...lines.map((line) => `  ${line}`)] : [];
}

/** Lists the variables of the execution itself, each with its latest value. */
function variableLines({ variables = {} }: Snapshot): string[] {
  return Object.entries(variables).map(([name, values]) => `${printable(name)} = ${printableJson(values.at(-1)?.value, 100)}`);
}

/** Lists the signals in the inbox. */
function inboxLines({ inbox = [] }: Snapshot, now: EpochMs): string[] {
  return inbox.map(({ name, key, payload, expiresAt }) => {
    const said = `${key === undefined ? "" : ` (key ${printable(key)})`}${payload === undefined ? "" : `: ${printableJson(payload, 100)}`}`;
    return `"${printable(name)}"${said}  for ${countdownText(expiresAt - now)} more`;
  });
}

/** Lists the results that the execution has taken over from the one that it goes on from. */
function takenOverLines([started]: readonly Event[], style: LineStyle): string[] {
  const context = started?.type === "started" ? (started.checkpoint?.state.context ?? {}) : {};
  return Object.entries(context).flatMap(([nodeId, results]) =>
    results.map(({ output, error }) =>
      error === undefined
        ? stepLine("✔", "good", nodeId, [printableJson(output, 100)], style)
        : stepLine("✖", "bad", nodeId, [printable(error)], style),
    ),
  );
}

function undoneLines({ compensations = [] }: Snapshot, events: readonly Event[], style: LineStyle): string[] {
  const places = trail();
  for (const event of compensations.length > 0 ? events : []) places.see(event);
  return compensations.map(({ nodeId, error, output, undoes }) => {
    const address = places.address(undoes.scope, nodeId);
    return error === undefined
      ? stepLine("↩", "good", address, [printableJson(output, 100)], style)
      : stepLine("✖", "bad", address, [printable(error)], style);
  });
}

/** Returns the lines for all events, each with its version and the time since the start. */
function historyLines(events: readonly Event[], style: LineStyle): string[] {
  const startedAt = events[0]?.at ?? 0;
  const places = trail();
  return events.flatMap((event) => {
    const told = eventLines(event, { trail: places, style, after: null });
    const [first = stepLine("▶", "quiet", event.type, [], style), ...others] = told;
    const stamp = `${String(event.version).padStart(4)}  ${style.paint("quiet", `+${countdownText(event.at - startedAt)}`.padEnd(10))}`;
    return [`${stamp}${first}`, ...others.map((line) => `${" ".repeat(16)}${line}`)];
  });
}
