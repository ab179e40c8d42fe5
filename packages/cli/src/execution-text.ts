import type { EpochMs, Event, Snapshot, WorkflowDefinition } from "stepfold";
import { isTerminal } from "stepfold";
import type { Answerable } from "./next-command.ts";
import { agoText, countdownText, durationText } from "./progress/duration-text.ts";
import { eventLine, type LineStyle, stepLine } from "./progress/event-line.ts";
import { errorText, outputText } from "./progress/outcome-text.ts";
import type { Paint } from "./progress/paint.ts";
import { pathLine } from "./progress/path-line.ts";
import { printable, printableJson } from "./progress/printable.ts";
import { statusMeaning } from "./status-meaning.ts";

/** What there is to tell of an execution. */
export interface Execution {
  readonly snapshot: Snapshot;
  readonly waits: readonly Answerable[];
  readonly events: readonly Event[];
  readonly definition: WorkflowDefinition | null;
  /** Every event, not only the results. */
  readonly all: boolean;
}

/** An execution as `stepfold show` prints it. */
export function executionText(execution: Execution, paint: Paint, now: EpochMs): string {
  const { snapshot, waits, events, definition, all } = execution;
  const { workflowId, status, version, createdAt = now } = snapshot;
  const ids = [
    ...events.flatMap((event) => ("nodeId" in event ? [event.nodeId] : [])),
    ...snapshot.activePaths.map(({ nodeId }) => nodeId),
  ];
  const style: LineStyle = { paint, nodeWidth: Math.min(24, Math.max(0, ...ids.map((id) => id.length))) };
  const changedAt = events.at(-1)?.at ?? createdAt;
  const label = definition?.name ?? definition?.id ?? snapshot.definition.id;
  return [
    `${paint("strong", printable(workflowId, 255))}  ${paint(statusMeaning[status], status)}  ${printable(label)}  version ${version}`,
    `started ${agoText(now - createdAt)}, ${isTerminal(status) ? `took ${durationText(changedAt - createdAt)}` : `last change ${agoText(now - changedAt)}`}`,
    ...section("Input", snapshot.input === undefined ? [] : [printableJson(snapshot.input, 400)], paint),
    ...section("Now", nowLines(snapshot, now, style), paint),
    ...section(
      "To answer",
      waits.map(({ command }) => paint("command", command)),
      paint,
    ),
    ...section(all ? "Events" : "Results", all ? eventLines(events, style) : resultLines(events, snapshot, style), paint),
    ...section("Error", status === "failed" ? [errorText(snapshot).replace(/^:? /, "")] : [], paint),
    ...section("Output", status === "completed" ? outputText(snapshot).trimEnd().split("\n").filter(Boolean) : [], paint),
    "",
  ].join("\n");
}

function section(title: string, lines: readonly string[], paint: Paint): string[] {
  return lines.length ? ["", paint("strong", title), ...lines.map((line) => `  ${line}`)] : [];
}

function nowLines({ activePaths }: Snapshot, now: EpochMs, style: LineStyle): string[] {
  return activePaths.map((path) =>
    path.status === "ready"
      ? stepLine("●", "wait", path.nodeId, [path.attempts ? `attempt ${path.attempts + 1}` : "", "is to run"], style)
      : pathLine(path, now, now, style),
  );
}

/** One line per node that has done something: its last result, and what it took. */
function resultLines(events: readonly Event[], { context }: Snapshot, style: LineStyle): string[] {
  const nodes = new Map<string, { attempts: number; completed: number; ms: number; failed: string | null }>();
  for (const event of events) {
    if (event.type !== "completed" && event.type !== "failed") continue;
    const node = nodes.get(event.nodeId) ?? { attempts: 0, completed: 0, ms: 0, failed: null };
    node.attempts++;
    node.ms += event.at - event.startedAt;
    node.failed = event.type === "failed" ? event.error.message : null;
    if (event.type === "completed") node.completed++;
    nodes.set(event.nodeId, node);
  }
  return [...nodes].map(([nodeId, { attempts, completed, ms, failed }]) => {
    const output = Object.hasOwn(context, nodeId) ? context[nodeId]!.at(-1)?.output : null;
    const times = completed > 1 ? `${completed} times` : attempts > 1 ? `${attempts} attempts` : "";
    const told = failed === null ? printableJson(output ?? null, 100) : printable(failed);
    return stepLine(
      failed === null ? "✔" : "✖",
      failed === null ? "good" : "bad",
      nodeId,
      [times, style.paint("quiet", durationText(ms)), told],
      style,
    );
  });
}

/** Each with its version and the time since the start. */
function eventLines(events: readonly Event[], style: LineStyle): string[] {
  const startedAt = events[0]?.at ?? 0;
  const nodeOfPath = new Map<string, string>();
  return events.map((event) => {
    if ("nodeId" in event && "pathId" in event) nodeOfPath.set(event.pathId, event.nodeId);
    const paths = [...nodeOfPath].map(([id, nodeId]) => ({ id, nodeId }) as Snapshot["activePaths"][number]);
    const line = eventLine(event, { activePaths: paths }, style) ?? stepLine("▶", "quiet", "started", [], style);
    return `${String(event.version).padStart(4)}  ${style.paint("quiet", `+${countdownText(event.at - startedAt)}`.padEnd(10))}${line}`;
  });
}
