import type { EpochMs, Event, Snapshot } from "stepfold";
import { type Trail, trail } from "stepfold/core";
import type { CommandContext } from "../execution/next-command.ts";
import { control } from "../text/terminal.ts";
import { eventLines } from "./event-line.ts";
import type { LineStyle } from "./line.ts";
import { liveRegion } from "./live-region.ts";
import { headline, outcomeText } from "./outcome-text.ts";
import type { Progress } from "./progress.ts";

const redrawMs = 100;
/** For a map with more items than this, only failures without a retry and actions from outside are shown item by item. */
const fewItems = 20;
/** The line of the cursor, below the region that is drawn. It counts too: lines that have scrolled off the screen cannot be erased. */
const cursorLines = 1;
const eraseBelow = control("[0J");
// without wrapping, the terminal cuts long lines, so that each takes one line of the screen and can be erased
const wrapOff = control("[?7l");
const wrapOn = control("[?7h");

/** What a live view needs from its terminal. */
export interface LiveTerminal {
  /** Writes text without folding its lines: for the region that is drawn again. */
  write(text: string): void;
  /** Writes text that stays, folded to the width of the terminal. */
  say(text: string): void;
  /** The time by the clock of the database. */
  now(): EpochMs;
  /** The number of lines of the screen. */
  rows(): number;
  /** Calls `tick` every `ms` milliseconds, until the returned function is called. */
  every(ms: number, tick: () => void): () => void;
}

/** Prints events, which scroll by. Below them it redraws a region in place, which shows what every path is doing now. */
export function liveProgress(terminal: LiveTerminal, context: CommandContext, style: LineStyle): Progress {
  const region = liveRegion(context, style);
  let places: Trail = trail();
  let unseen: Snapshot | null = null;
  let note: string | null = null;
  let drawn: readonly string[] = [];
  let stop: (() => void) | null = null;

  const lines = (): string[] => {
    const last = note === null ? [] : [style.paint("quiet", `… ${note}`)];
    return [...region.lines(terminal.now(), terminal.rows() - cursorLines - last.length), ...last];
  };
  /** Draws the region again. @param stays text that stays, above the region @param below the lines of the region */
  const draw = (stays = "", below: readonly string[] = lines()): void => {
    if (stays === "" && below.join("\n") === drawn.join("\n")) return;
    const up = drawn.length ? control(`[${drawn.length}A\r`) : "";
    drawn = below;
    terminal.write(`${up}${eraseBelow}${stays}${wrapOff}${below.map((line) => `${line}\n`).join("")}${wrapOn}`);
  };
  const look = (): void => {
    if (unseen) region.look(unseen, terminal.now());
    unseen = null;
  };
  const close = (): void => {
    stop?.();
    stop = null;
    if (drawn.length) draw("", []);
  };

  return {
    begin(snapshot, existed) {
      places = trail(snapshot);
      region.look(snapshot, terminal.now());
      stop = terminal.every(redrawMs, () => {
        look();
        draw();
      });
      draw(`${headline(snapshot, existed, style.paint)}\n`);
    },
    event(event, snapshot) {
      unseen = snapshot;
      note = null;
      const told = eventLines(event, { trail: places, style, after: snapshot });
      const isCrowded = Math.max(itemsIn(snapshot), "scope" in event ? places.crowd(event.scope) : 0) > fewItems;
      // examining thousands of items again for each event would take longer than the events themselves
      if (!isCrowded) look();
      if (isCrowded && isUsual(event, places)) return;
      draw(told.map((line) => `${line}\n`).join(""));
    },
    note(text) {
      note = text;
      draw();
    },
    end(outcome) {
      close();
      terminal.say(outcomeText(outcome, style.paint));
    },
    close,
  };
}

/** The number of items of the largest open map, without maps inside sub-workflows and items. */
function itemsIn({ activePaths }: Snapshot): number {
  return Math.max(0, ...activePaths.map(({ children }) => children?.map?.total ?? 0));
}

/** Whether an event happens to every item of a large map. Such events get no lines of their own: the line of the map shows them. */
function isUsual(event: Event, places: Trail): boolean {
  if (!("scope" in event) || places.crowd(event.scope) <= fewItems || event.consequences?.results) return false;
  if (event.type === "failed") return event.retryAt !== null;
  return (
    event.type === "completed" ||
    event.type === "suspended" ||
    event.type === "spawned" ||
    (event.type === "resumed" && event.by === "timer")
  );
}
