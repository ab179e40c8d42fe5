import type { CodeMutant } from "../mutant.ts";

/** The number of schedules in a day in which a mistake is looked for. */
export const schedulesADay = 10;

/** A mistake in schedules, and the first day on which it is looked for. */
interface DayMutant extends CodeMutant {
  readonly day: number;
}

/** The number of the day on which each mistake shows, if that is not the first day. */
const shownOn: Readonly<Record<string, number>> = {
  "edit-takes-ticks-away-that-have-come": 11,
  "edit-of-jitter-takes-a-tick-away": 11,
  "edit-is-lost-with-another-one": 3,
  "pause-is-ignored": 2,
  "ticks-of-a-pause-are-started-after-it": 2,
  "trigger-is-lost": 2,
  "backfill-leaves-out-its-first-tick": 2,
  "queue-is-skip": 5,
  "cancel-cancels-nothing": 2,
};

/** Mistakes in schedules. The model of ticks has to notice each of them. */
export const dayMutants: readonly DayMutant[] = [
  mutant("tick-is-missed-after-a-kill", {
    file: "schedules/decide-ticks.ts",
    find: "  if (draft.now - beginsAt > spec.catchUpWindow) {",
    put: "  if (draft.now - beginsAt > Math.min(spec.catchUpWindow, 30_000)) {",
  }),
  mutant("tick-that-is-too-late-is-started", {
    file: "schedules/decide-ticks.ts",
    find: "  if (draft.now - beginsAt > spec.catchUpWindow) {",
    put: "  if (draft.now - beginsAt > 2 * spec.catchUpWindow + 86_400_000) {",
  }),
  mutant("tick-is-named-by-the-time-of-its-start", {
    file: "schedules/decide-ticks.ts",
    find: "workflowId: string = tickId(draft.state.name, at)",
    put: "workflowId: string = tickId(draft.state.name, draft.now - (draft.now % 1_000))",
  }),
  mutant("edit-starts-ticks-again", {
    file: "schedules/commands.ts",
    find: "  const decidedUntil = Math.max(state.decidedUntil, at);",
    put: "  const decidedUntil = Math.min(state.decidedUntil, at) - 3 * 3_600_000;",
  }),
  mutant("edit-takes-ticks-away-that-have-come", {
    file: "schedules/decide-ticks.ts",
    find: '(command?.type === "edit" ? tick.at : tick.beginsAt) <= until',
    put: "!command && tick.beginsAt <= until",
  }),
  mutant("edit-of-jitter-takes-a-tick-away", {
    file: "schedules/decide-ticks.ts",
    find: '(command?.type === "edit" ? tick.at : tick.beginsAt)',
    put: "tick.beginsAt",
  }),
  mutant("edit-is-lost-with-another-one", {
    file: "schedules/commands.ts",
    find: "commands: [...state.commands, command]",
    put: "commands: [command]",
  }),
  mutant("pause-is-ignored", {
    file: "schedules/commands.ts",
    find: "      return { ...state, paused: command.note === undefined ? {} : { note: command.note } };",
    put: "      return state;",
  }),
  mutant("ticks-of-a-pause-are-started-after-it", {
    file: "schedules/commands.ts",
    find: "      return paused ? { ...rest, decidedUntil: Math.max(state.decidedUntil, at) } : state;",
    put: "      return paused ? rest : state;",
  }),
  mutant("trigger-is-lost", {
    file: "schedules/commands.ts",
    find: "      return { ...state, triggers: [...state.triggers, { at, workflowId }] };",
    put: "      return state.running.length > 0 ? state : { ...state, triggers: [...state.triggers, { at, workflowId }] };",
  }),
  mutant("backfill-leaves-out-its-first-tick", {
    file: "schedules/commands.ts",
    find: "after: from - 1,",
    put: "after: from + 3_600_000,",
  }),
  mutant("skip-is-allow", {
    file: "schedules/decide-ticks.ts",
    find: '  const isFree = spec.overlap === "allow" ||',
    put: '  const isFree = spec.overlap === "allow" || spec.overlap === "skip" ||',
  }),
  mutant("queue-is-skip", {
    file: "schedules/decide-ticks.ts",
    find: '  if (!isFree && (spec.overlap === "skip" ||',
    put: '  if (!isFree && (spec.overlap === "skip" || spec.overlap === "queue" ||',
  }),
  mutant("cancel-cancels-nothing", {
    file: "schedules/decide-ticks.ts",
    find: "  for (const cancel of others) draft.sends.push({ cancel, schedule: name });",
    put: "  if (name === others[0]) return;",
  }),
  mutant("change-of-the-clock-is-ignored", {
    file: "schedules/zone-clock.ts",
    find: "    const second = Math.min(Math.max(at, 0), lastMs - reachMs);",
    put: "    const second = Date.UTC(2026, 0, 1);",
  }),
  mutant("tick-of-the-hour-that-is-there-twice-comes-twice", {
    file: "schedules/cron-rule.ts",
    find: "isEvery: [second, minute, hour].some((values) => values.every((isIn) => isIn)),",
    put: "isEvery: [second, minute, hour].some((values) => values.some((isIn) => isIn)),",
  }),
  mutant("commands-are-lost-when-it-goes-on-as-a-new-execution", {
    file: "schedules/schedule-node.ts",
    find: "return { continueAs: { input: { ...known, steps: 0 } } };",
    put: "return { continueAs: { input: { ...known, steps: 0, running: [], decidedUntil: step.now() } } };",
  }),
];

function mutant(name: string, patch: CodeMutant["patches"][number]): DayMutant {
  return { name: `schedule-${name}`, caughtBy: ["ticks"], patches: [patch], day: shownOn[name] ?? 1 };
}
