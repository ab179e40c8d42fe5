import { type EpochMs, explain, type PlaceInfo, type Snapshot, waits } from "stepfold";
import { pathNamed } from "stepfold/core";
import { type CommandContext, commandsFor } from "../execution/next-command.ts";
import type { LineStyle } from "./line.ts";
import { placeLine } from "./place-line.ts";

/** The most places, and the most commands, that are shown. */
const maxEach = 10;

/** The lines at the bottom of the screen that are redrawn: what every path is doing now, and the commands that answer waits. */
export interface LiveRegion {
  /** Takes in the state of the execution. @param now the time at which the state was read */
  look(snapshot: Snapshot, now: EpochMs): void;
  /** Returns at most `room` lines; a line "and N more" counts what has no room. Lines may be wider than the screen. */
  lines(now: EpochMs, room: number): string[];
}

/** Makes a region, which is empty until it has seen a snapshot. */
export function liveRegion(context: CommandContext, style: LineStyle): LiveRegion {
  /** The time at which each visit was first seen. It also holds places that are not shown, because they may be shown later. */
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

/** The number of lines that these entries need. If there are more than `maxEach`, one more line counts the rest. */
function linesOf(entries: number): number {
  return Math.min(entries, maxEach + 1);
}

/** Returns as many lines as have room; the last one counts those that are left out. @param missing entries that `lines` lacks */
function fitted(lines: readonly string[], missing: number, room: number, moreLine: (hidden: number) => string): string[] {
  if (room <= 0) return [];
  if (missing === 0 && lines.length <= Math.min(room, maxEach)) return [...lines];
  const count = Math.min(lines.length, maxEach, room - 1);
  return [...lines.slice(0, count), moreLine(missing + lines.length - count)];
}

/** Names one visit of a node: the path and its turn. */
function visitOf({ pathId }: PlaceInfo, snapshot: Snapshot): string {
  return `${pathId}@${pathNamed(snapshot, pathId)!.turn}`;
}
