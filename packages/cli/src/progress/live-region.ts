import { type EpochMs, explain, type PlaceInfo, type Snapshot, waits } from "stepfold";
import { pathNamed } from "stepfold/core";
import { type CommandContext, commandsFor } from "../execution/next-command.ts";
import type { LineStyle } from "./line.ts";
import { placeLine } from "./place-line.ts";

/** How many places, and how many commands, are shown at most. */
const maxEach = 10;

/** The lines at the bottom of the screen that are drawn again and again: what every path is doing now, and the commands that answer what waits. */
export interface LiveRegion {
  /** Takes in the state of the execution. @param now when it was read */
  look(snapshot: Snapshot, now: EpochMs): void;
  /** At most `room` lines: what has no room is counted in a line "and N more". They may be wider than the screen. */
  lines(now: EpochMs, room: number): string[];
}

/** A region that has seen nothing yet. */
export function liveRegion(context: CommandContext, style: LineStyle): LiveRegion {
  /** When each visit was first seen: also of places that are not shown, which may be shown later. */
  let firstSeen: ReadonlyMap<string, EpochMs> = new Map();
  let snapshot: Snapshot | null = null;
  let places: readonly PlaceInfo[] = [];
  let hiddenPlaces = 0;
  let commands: readonly string[] = [];
  return {
    look(next, now) {
      snapshot = next;
      const explained = explain(next, context.workflow ?? undefined);
      places = explained.places.slice(0, maxEach);
      hiddenPlaces = explained.more + explained.places.length - places.length;
      const commandOf = commandsFor(next, waits(next), context);
      commands = places.flatMap((place) => place.waits.map(commandOf)).filter((command) => command !== null);
      firstSeen = new Map(explained.places.map((place) => [visitOf(place, next), firstSeen.get(visitOf(place, next)) ?? now]));
    },
    lines(now, room) {
      if (!snapshot) return [];
      const shown = snapshot;
      const doing = places.map((place) =>
        placeLine(place, pathNamed(shown, place.pathId)!, firstSeen.get(visitOf(place, shown))!, now, style),
      );
      const answers = commands.map((command) => `    ${style.paint("command", command)}`);
      const moreLine = (hidden: number, indent: string): string => style.paint("quiet", `${indent}and ${hidden} more`);
      // commands get half of the room if they need it
      const roomOfPlaces = Math.max(room - linesOf(answers.length), Math.ceil(room / 2));
      const top = fitted(doing, hiddenPlaces, roomOfPlaces, (hidden) => moreLine(hidden, "  "));
      return [...top, ...fitted(answers, 0, room - top.length, (hidden) => moreLine(hidden, "    "))];
    },
  };
}

/** How many lines so many entries need: beyond the most that are shown, one that counts the rest. */
function linesOf(entries: number): number {
  return Math.min(entries, maxEach + 1);
}

/** As many lines as there is room for, and a last one that says how many are missing. */
function fitted(lines: readonly string[], missing: number, room: number, moreLine: (hidden: number) => string): string[] {
  if (room <= 0) return [];
  if (missing === 0 && lines.length <= Math.min(room, maxEach)) return [...lines];
  const count = Math.min(lines.length, maxEach, room - 1);
  return [...lines.slice(0, count), moreLine(missing + lines.length - count)];
}

function visitOf({ pathId }: PlaceInfo, snapshot: Snapshot): string {
  return `${pathId}@${pathNamed(snapshot, pathId)!.turn}`;
}
