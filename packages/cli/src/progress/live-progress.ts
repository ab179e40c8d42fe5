import type { ActivePath, EpochMs, Snapshot } from "stepfold";
import { eventLine, type LineStyle } from "./event-line.ts";
import { headline, outcomeText } from "./outcome-text.ts";
import { pathLine } from "./path-line.ts";
import type { Progress } from "./progress.ts";

const redrawMs = 100;
const mostPaths = 10;
const eraseBelow = "\u001b[0J";
// the terminal cuts long lines itself, so that a line is a line and can be erased
const wrapOff = "\u001b[?7l";
const wrapOn = "\u001b[?7h";

/** What a live view needs of the world. */
export interface LiveTerminal {
  write(text: string): void;
  now(): EpochMs;
  /** Calls again and again until the function it returns is called. */
  every(ms: number, tick: () => void): () => void;
  /** The commands that answer what an execution waits for. */
  commandsOf(snapshot: Snapshot): readonly { readonly command: string }[];
}

/** Events scroll by; below them, redrawn in place, what every path is doing now. */
export function liveProgress(terminal: LiveTerminal, style: LineStyle): Progress {
  const seen = new Map<string, EpochMs>();
  let paths: readonly ActivePath[] = [];
  let commands: readonly string[] = [];
  let note: string | null = null;
  let drawn: readonly string[] = [];
  let stop: (() => void) | null = null;

  const lines = (): string[] => {
    const now = terminal.now();
    const shown = paths.slice(0, mostPaths).map((path) => pathLine(path, seen.get(turnOf(path)) ?? now, now, style));
    if (paths.length > mostPaths) shown.push(style.paint("quiet", `  and ${paths.length - mostPaths} more`));
    for (const command of commands.slice(0, mostPaths)) shown.push(`    ${style.paint("command", command)}`);
    if (note !== null) shown.push(style.paint("quiet", `… ${note}`));
    return shown;
  };
  /** Text that stays goes above what is drawn anew. */
  const draw = (stays = "", below: readonly string[] = lines()): void => {
    if (stays === "" && below.join("\n") === drawn.join("\n")) return;
    const up = drawn.length ? `\u001b[${drawn.length}A\r` : "";
    drawn = below;
    terminal.write(`${up}${eraseBelow}${stays}${wrapOff}${below.map((line) => `${line}\n`).join("")}${wrapOn}`);
  };
  const follow = (snapshot: Snapshot): void => {
    const now = terminal.now();
    paths = snapshot.activePaths;
    commands = terminal.commandsOf(snapshot).map(({ command }) => command);
    const turns = new Set(paths.map(turnOf));
    for (const turn of seen.keys()) if (!turns.has(turn)) seen.delete(turn);
    for (const turn of turns) if (!seen.has(turn)) seen.set(turn, now);
  };
  const close = (): void => {
    stop?.();
    stop = null;
    if (drawn.length) draw("", []);
  };

  return {
    begin(snapshot, existed) {
      follow(snapshot);
      stop = terminal.every(redrawMs, () => draw());
      draw(`${headline(snapshot, existed, style.paint)}\n`);
    },
    event(event, snapshot) {
      follow(snapshot);
      note = null;
      const line = eventLine(event, snapshot, style);
      draw(line === null ? "" : `${line}\n`);
    },
    note(text) {
      note = text;
      draw();
    },
    end(outcome) {
      close();
      terminal.write(outcomeText(outcome, style.paint));
    },
    close,
  };
}

function turnOf({ id, turn }: ActivePath): string {
  return `${id}@${turn}`;
}
