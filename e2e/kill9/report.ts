import type { Failover } from "./failover.ts";
import { type FrozenHolder, takeoverBoundMs } from "./frozen.ts";
import type { Gray } from "./gray.ts";
import type { WrittenLine } from "./log.ts";
import { boundMs } from "./recovery.ts";
import type { Run } from "./run.ts";
import type { Storm } from "./storm.ts";
import { toldByQueue } from "./told-by-queue.ts";
import type { Zombie } from "./zombies.ts";

const mostShown = 20;
const number = (value: number): string => Math.round(value).toLocaleString("en-US");

/** Returns the lines to print about a run in which processes were killed; the last line has its figures. */
export function reportStorm(storm: Storm): string[] {
  const { made, recovery } = storm;
  const isLate = recovery.longestMs > boundMs;
  return [
    ...reportRun(storm),
    aboutCode(storm),
    ...(isLate ? [`longest recovery: ${recovery.longest}`] : []),
    `recovery of ${number(recovery.count)} executions whose worker was killed: median ${number(recovery.medianMs)} ms, longest ${number(recovery.longestMs)} ms, ${isLate ? "MORE THAN" : "within"} lease + poll + 1 s = ${number(boundMs)} ms`,
    `${number(made.length)} kills, ${figures(storm)}`,
  ];
}

/** Returns the lines to print about a run in which processes were stopped and went on. */
export function reportZombies(run: Run<readonly Zombie[]>): string[] {
  const sum = (of: (zombie: Zombie) => number): string => number(run.made.reduce((total, zombie) => total + of(zombie), 0));
  return [
    ...reportRun(run),
    `${sum(({ taken }) => taken)} executions were taken over from zombies, which were told so ${sum(({ noticed }) => noticed)} times, aborted ${sum(({ aborted }) => aborted)} steps under way, and went on with ${sum(({ wentOn }) => wentOn)} commits to others`,
    `${number(run.made.length)} zombies, ${stale(run)} stale commits, ${figures(run)}`,
  ];
}

/** Returns the lines to print about a run in which workers stopped in the middle of a commit. */
export function reportFrozen(run: Run<readonly FrozenHolder[]>): string[] {
  const longest = Math.max(...run.made.map(({ takenOverMs }) => takenOverMs));
  const taken = run.made.reduce((total, one) => total + one.taken, 0);
  return [
    ...reportRun(run),
    `${number(taken)} executions were taken over after ${number(longest)} ms at most, ${longest > takeoverBoundMs ? "MORE THAN" : "within"} lease + poll + 1 s = ${number(takeoverBoundMs)} ms`,
    `${number(run.made.length)} frozen in the middle of a commit, ${stale(run)} stale commits, ${figures(run)}`,
  ];
}

/** Returns the lines to print about a run whose network to the store was neither up nor down. */
export function reportGray(run: Run<Gray>): string[] {
  const { stoodStillMs, longestStartMs, startsRefused, crashes } = run.made;
  return [
    ...reportRun(run),
    `after its end the last of them went on within ${number(stoodStillMs)} ms; callers of start waited ${number(longestStartMs)} ms at most, ${number(startsRefused)} were refused; an execution counted ${number(crashes)} crashes at most`,
    `${figures(run)}`,
  ];
}

/**
 * Returns the lines to print about a run with failovers to replicas that lacked the latest writes. Lost writes are not counted as
 * faults.
 */
export function reportFailovers(run: Run<readonly Failover[]>): string[] {
  const sum = (of: (one: Failover) => readonly string[]): number => run.made.reduce((total, one) => total + of(one).length, 0);
  return [
    ...shown(
      "by two",
      run.made.flatMap(({ byTwo }) => byTwo),
    ),
    `${number(run.executions)} executions are there with ${number(run.versions)} versions; ${number(run.durationMs / 1_000)} s`,
    `${number(run.made.length)} failovers, ${number(sum(({ repeated }) => repeated))} steps ran again, ${number(sum(({ byTwo }) => byTwo))} were performed by two holders`,
  ];
}

/** Returns the lines to print about any run. */
export function reportRun(run: Run<unknown>): string[] {
  const { durationMs, failures, lost, doubled, wrong, acknowledged, executions, versions, hasQueue, lines } = run;
  const { starts, resumes, cancels, restarts } = acknowledged;
  return [
    ...shown("lost", lost),
    ...shown("twice", doubled),
    ...shown("wrong", wrong),
    ...shown("failed", failures),
    ...(hasQueue ? aboutQueue(lines) : []),
    `${number(executions)} executions with ${number(versions)} versions; told to clients: ${number(starts)} starts, ${number(resumes)} answers, ${number(restarts)} restarts, ${number(cancels)} cancellations; ${number(durationMs / 1_000)} s`,
  ];
}

function figures({ acknowledged, lost, doubled, wrong, failures }: Run<unknown>): string {
  const others = wrong.length + failures.length;
  return `${number(acknowledged.transitions)} acknowledged transitions, ${lost.length} lost, ${doubled.length} committed twice${others > 0 ? `, ${others} wrong` : ""}`;
}

/** Returns the text about what workers could not run. */
function aboutCode({ left: { claims, executions, twice } }: Run<unknown>): string {
  return `two kinds of code: ${number(executions)} executions were left to others after ${number(claims)} claims, ${number(twice)} of them twice by one worker`;
}

/**
 * Returns the lines about the queue: how many starts it reported in time, and its problems. The store has what the queue could not
 * deliver.
 */
function aboutQueue(lines: readonly WrittenLine[]): string[] {
  const problems = lines.flatMap((line) => (line.what === "problem" && line.code === "QUEUE_UNAVAILABLE" ? [line] : []));
  const { started, delivered, told } = toldByQueue(lines);
  return [
    `the queue told of ${number(delivered)} of ${number(started)} starts, of ${number(told)} before anybody would have looked for them`,
    ...problems.slice(0, 1).map(({ by, message }) => `it had ${number(problems.length)} problems, the first at ${by}: ${message}`),
  ];
}

function stale({ wrong }: Run<unknown>): number {
  return wrong.filter((problem) => problem.includes("stale commit")).length;
}

function shown(title: string, problems: readonly string[]): string[] {
  const more = problems.length > mostShown ? [`${title}: and ${problems.length - mostShown} more`] : [];
  return [...problems.slice(0, mostShown).map((problem) => `${title}: ${problem}`), ...more];
}
