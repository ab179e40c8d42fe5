import type { EpochMs, Event, Explanation, PlaceInfo, Snapshot, WaitInfo } from "stepfold";
import { countdownText, pathNamed, questionOf } from "stepfold/core";
import type { Answerable } from "../execution/next-command.ts";
import { printable, printableJson } from "../text/printable.ts";
import { timestampsText } from "../text/timestamps-text.ts";
import { type LineStyle, stepLine } from "./line.ts";
import { isRunnable, signOf } from "./place-line.ts";

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
  const { places, more, worker } = explanation;
  const commands = new Map(waits.map(({ wait, command }) => [wait.id, command]));
  const stands = (place: PlaceInfo): string => {
    const at = events[pathNamed(snapshot, place.pathId)!.since]?.at;
    const age = at === undefined ? null : countdownText(Math.max(0, now - at));
    // how long of that time it has been running is not known
    if (worker !== undefined && isRunnable(place)) return age === null ? "running" : `running, here for ${age}`;
    return age === null ? place.status : `${place.status} for ${age}`;
  };
  const lines = places.flatMap((place) => {
    const { address, status, sentence } = place;
    // if there is only one place, the sentence about the whole execution says the same
    const said = places.length === 1 && more === 0 ? "" : timestampsText(sentence, now);
    const line = stepLine(signOf(place), "wait", address, [style.paint("quiet", stands(place)), said], style);
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
