import { type EpochMs, explain, type PlaceInfo, type Snapshot, waits } from "stepfold";
import { pathNamed } from "stepfold/core";
import { type CommandContext, commandsFor } from "../execution/next-command.ts";
import type { LineStyle } from "./line.ts";
import { placeLine } from "./place-line.ts";

const maxLines = 10;

/** What is redrawn in place: what every path is doing now, and how to answer what waits. Never more than a screen has. */
export interface LiveRegion {
  /** @param now when this was seen */
  look(snapshot: Snapshot, now: EpochMs): void;
  lines(now: EpochMs): string[];
}

/** A region that has seen nothing yet. */
export function liveRegion(context: CommandContext, style: LineStyle): LiveRegion {
  let seen: ReadonlyMap<string, EpochMs> = new Map();
  let snapshot: Snapshot | null = null;
  let places: readonly PlaceInfo[] = [];
  let more = 0;
  let commands: readonly string[] = [];
  return {
    look(next, now) {
      snapshot = next;
      const { places: all, more: hidden } = explain(next, context.workflow ?? undefined);
      places = all.slice(0, maxLines);
      more = hidden + all.length - places.length;
      const commandOf = commandsFor(next, waits(next), context);
      commands = places
        .flatMap((place) => place.waits.map(commandOf))
        .filter((command) => command !== null)
        .slice(0, maxLines);
      seen = new Map(places.map((place) => [visitOf(place, next), seen.get(visitOf(place, next)) ?? now]));
    },
    lines(now) {
      if (!snapshot) return [];
      const lines: string[] = [];
      for (const place of places) {
        const path = pathNamed(snapshot, place.pathId)!;
        lines.push(placeLine(place, path, seen.get(visitOf(place, snapshot)) ?? now, now, style));
      }
      if (more > 0) lines.push(style.paint("quiet", `  and ${more} more`));
      for (const command of commands) lines.push(`    ${style.paint("command", command)}`);
      return lines;
    },
  };
}

function visitOf({ pathId }: PlaceInfo, snapshot: Snapshot): string {
  return `${pathId}@${pathNamed(snapshot, pathId)!.turn}`;
}
