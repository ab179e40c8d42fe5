import type { ActivePath, EpochMs, Event, Explanation, Snapshot, WaitInfo } from "stepfold";
import { countdownText, pathNamed, questionOf } from "stepfold/core";
import type { Answerable } from "../execution/next-command.ts";
import { printable, printableJson } from "../text/printable.ts";
import { timestampsText } from "../text/timestamps-text.ts";
import { type LineStyle, stepLine } from "./line.ts";
import { signOf } from "./place-line.ts";

/** What is needed to print the places of an execution. */
export interface Known {
  readonly snapshot: Snapshot;
  readonly explanation: Explanation;
  readonly waits: readonly Answerable[];
  /** Returns the command that makes the pending retry of a place at once. */
  retryCommand(address: string): string;
  /** All events from the first one on, so that the index of each event is its version. */
  readonly events: readonly Event[];
}

/** Returns lines for every place of an execution: what it waits for and since when, its question, and the command that answers. */
export function placesText({ snapshot, explanation, waits, events, retryCommand }: Known, style: LineStyle, now: EpochMs): string[] {
  const { places, more } = explanation;
  const commands = new Map(waits.map(({ wait, command }) => [wait.id, command]));
  const sinceText = ({ since }: Pick<ActivePath, "since">): string => {
    const at = events[since]?.at;
    return at === undefined ? "" : ` for ${countdownText(Math.max(0, now - at))}`;
  };
  const lines = places.flatMap((place) => {
    const path = pathNamed(snapshot, place.pathId)!;
    const { address, status, sentence } = place;
    // if there is only one place, the sentence about the whole execution says the same
    const said = places.length === 1 && more === 0 ? "" : timestampsText(sentence, now);
    const line = stepLine(signOf(place), "wait", address, [style.paint("quiet", `${status}${sinceText(path)}`), said], style);
    const retry = status === "retrying" ? [`    ${style.paint("command", retryCommand(address))}`] : [];
    return [line, ...retry, ...place.waits.flatMap((wait) => askLines(wait, commands.get(wait.id) ?? null, style))];
  });
  return more > 0 ? [...lines, style.paint("quiet", `and ${more} more (--json lists all that wait)`)] : lines;
}

/** Returns the lines for one wait: its question, its details, and the command that answers it. */
function askLines(wait: WaitInfo, command: string | null, { paint }: LineStyle): string[] {
  const question = printable(questionOf(wait), 600);
  const details = detailsText(wait);
  return [
    ...(question === "" ? [] : [`    ${question}`]),
    ...(details === "" ? [] : [`    ${details}`]),
    ...(command === null ? [] : [`    ${paint("command", command)}`]),
  ];
}

function detailsText({ payload }: WaitInfo): string {
  const details =
    typeof payload === "object" && payload !== null && !Array.isArray(payload) && "details" in payload ? payload.details : null;
  return details === null || details === undefined ? "" : printable(printableJson(details, 200));
}
