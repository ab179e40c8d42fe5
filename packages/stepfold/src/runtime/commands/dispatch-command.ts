import { safeMember } from "../../core/errors/safe-member.ts";
import { StepfoldError } from "../../core/errors/stepfold-error.ts";
import type { Event } from "../../core/snapshot/event.ts";
import { heldKeys } from "../../core/snapshot/parts/answered-key.ts";
import { isTerminal, type Snapshot } from "../../core/snapshot/snapshot.ts";
import { closeDraft } from "../../core/transition/draft/close-draft.ts";
import type { Draft } from "../../core/transition/draft/draft.ts";
import { wakeAt } from "../../core/transition/draft/draft-status.ts";
import { openDraft } from "../../core/transition/draft/open-draft.ts";
import { evolve, withConsequences } from "../../core/transition/evolve.ts";
import { seededShare } from "../../core/values/hash/seeded.ts";
import type { EpochMs } from "../../core/values/json.ts";
import { requireResponder } from "../../engine/commands/answer-wait.ts";
import { type Command, decide } from "../../engine/commands/command.ts";
import type { PreparedWorkflow } from "../../engine/workflow/prepared-workflow.ts";
import { Breaks } from "../../environment/system-environment.ts";
import type { Commit } from "../../ports/snapshot-store.ts";
import { noticeOf } from "../context/changes.ts";
import type { CommandJob, CommandResult } from "../context/command-result.ts";
import { makeCommit } from "../context/make-commit.ts";
import { requireNoSchedule } from "../context/require-no-schedule.ts";
import { publishCommit, type RuntimeContext } from "../context/runtime-context.ts";
import { persistForCaller, writeForCaller } from "../context/store/persist.ts";
import { requireSnapshot } from "../context/store/require-snapshot.ts";
import { movedKeys } from "./older-keys.ts";
import { answeredBefore, onceKeyOf, requireRepeated } from "./repeated-answer.ts";

/** How many times a command is tried again after a conflict with another writer. Normal work causes fewer conflicts. */
const maxConflicts = 100;
/** The number of conflicts after which a command begins to wait before each try, so that other writers can commit. */
const freeConflicts = 2;
/** The number of conflicts up to which a cancellation is tried again almost at once. */
const urgentConflicts = 50;
const firstDelayMs = 5;
const maxDelayMs = 500;

/**
 * Commits the event of a command to an execution: an answer, a signal, a cancellation, a retry, a change of its metadata or of a map, or
 * the end of a child. Commands to one execution that arrive while others are being committed go together into the next commit; each is
 * decided on the state that the commands before it have made. If another writer has committed first, the snapshot is read again and the
 * commands are decided again.
 *
 * @returns `committed: false` if a command with the same idempotency key was committed before
 */
export function dispatchCommand(
  context: RuntimeContext,
  workflowId: string,
  command: Command,
  given: Pick<CommandJob, "announce" | "isCurrent" | "ofSchedules">,
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    context.commands.add(workflowId, { command, ...given, resolve, reject }, (jobs) => commitJobs(context, workflowId, jobs));
  });
}

/** The result of a command that was committed before. */
const repeated: CommandResult = { committed: false, wakeUp: null };

/** Decides and commits jobs, until each is resolved or rejected. */
async function commitJobs(context: RuntimeContext, workflowId: string, all: readonly CommandJob[]): Promise<void> {
  let jobs = all;
  for (let conflicts = 0; ; conflicts++) {
    try {
      const decided = await decideJobs(context, workflowId, jobs);
      if (!decided) return;
      jobs = [...decided.jobs, ...decided.later];
      const result = await commitDecided(context, decided);
      // only the first job brings a wake-up, because one is enough for the whole commit
      for (const [index, { resolve }] of decided.jobs.entries()) resolve(index === 0 ? result : { committed: true, wakeUp: null });
      return decided.later.length > 0 ? commitJobs(context, workflowId, decided.later) : undefined;
    } catch (error) {
      if (isOvertaken(error) && conflicts < maxConflicts) await letOthersPass(context, workflowId, jobs, conflicts);
      else return rejectJobs(context, workflowId, jobs, error);
    }
  }
}

/** Rejects the jobs. If the error may concern only one of several commands, each is first tried alone. */
async function rejectJobs(context: RuntimeContext, workflowId: string, jobs: readonly CommandJob[], error: unknown): Promise<void> {
  const isOfOne = jobs.length > 1 && !StepfoldError.is(error, "STORE_UNAVAILABLE") && !StepfoldError.is(error, "OUTCOME_UNKNOWN");
  for (const job of jobs) {
    if (isOfOne) await commitJobs(context, workflowId, [job]);
    else job.reject(error);
  }
}

/** The result of deciding several commands, one after the other. */
interface Decided {
  /** The jobs whose commands gave an event; `events` contains these events in the same order. */
  readonly jobs: readonly CommandJob[];
  readonly events: readonly Event[];
  /**
   * Jobs with the same idempotency key as one of `jobs`, which are decided after the commit, when its result is known; and those with keys
   * that would be too many for one commit.
   */
  readonly later: readonly CommandJob[];
  /** The execution after these events. */
  readonly draft: Draft;
  /** When the execution was due before these events; null if it was not due by itself. */
  readonly dueBefore: EpochMs | null;
}

/** Decides commands. Jobs that are refused, or were committed before, end here. Returns null if nothing has to be committed. */
async function decideJobs(context: RuntimeContext, workflowId: string, all: readonly CommandJob[]): Promise<Decided | null> {
  const { store, environment, registry, clock, setting } = context;
  const patiently = <T>(call: () => Promise<T>): Promise<T> => persistForCaller(environment, call);
  let snapshot = await patiently(() => requireSnapshot(store, workflowId));
  const now = await patiently(() => clock.now());
  snapshot = await patiently(() => movedKeys(store, snapshot, { now, keptMs: setting.limits.idempotencyKeyMs }));
  // the keys of this batch. An earlier answer is found by its key in the snapshot; a later one makes the commit a conflict
  const keys = new Set<string>();
  const { status, definition } = snapshot;
  const first = snapshot;
  const { hash } = definition;
  let opened: { readonly draft: Draft; readonly dueBefore: EpochMs | null } | null = null;
  const open = ({ compiled }: PreparedWorkflow) => {
    const draft = openDraft(compiled, first);
    return { draft, dueBefore: wakeAt(draft) };
  };
  const [jobs, events, later]: [CommandJob[], Event[], CommandJob[]] = [[], [], []];
  const breaks = new Breaks(() => environment.monotonicMs());
  for (const job of all) {
    const { command, isCurrent, ofSchedules = false, resolve, reject } = job;
    try {
      if (isCurrent?.() === false) throw new StepfoldError("FENCE_LOST", { workflowId });
      if (!ofSchedules && !triesAgain(command, snapshot)) requireNoSchedule(snapshot, command.type);
      const key = onceKeyOf(command);
      const name = key && `${key.command} ${key.key}`;
      if (name !== null && (keys.has(name) || keys.size >= heldKeys)) {
        later.push(job);
        continue;
      }
      const workflow = await registry.pinnedForCommands(workflowId, hash);
      if (key !== null && command.type === "resume" && !isTerminal(status)) requireResponder(workflow, snapshot, command, now);
      const earlier = key === null ? null : await patiently(() => answeredBefore(store, first, key));
      if (earlier) {
        requireRepeated(earlier, workflowId, command);
        resolve(repeated);
        continue;
      }
      opened ??= open(workflow);
      const { draft } = opened;
      const event = await decide(workflow, snapshot, command, now, setting.limits);
      if (!evolve(draft, event)) throw new StepfoldError("WAIT_GONE", { workflowId, target: command.type, open: [] });
      events.push(withConsequences(draft, event));
      jobs.push(job);
      if (name !== null) keys.add(name);
      // the next command is decided on this state
      if (job !== all.at(-1)) snapshot = closeDraft(draft);
    } catch (error) {
      reject(error);
    }
    const others = breaks.next();
    if (others) await others;
  }
  return opened && jobs.length > 0 ? { jobs, events, later, ...opened } : null;
}

/** Whether a command only lets an execution try again what failed. An operator may do this with a schedule too. */
function triesAgain(command: Command, { activePaths }: Snapshot): boolean {
  if (command.type !== "resume") return command.type === "retry";
  const waitsForDecision = activePaths.some(({ waits }) => waits?.some(({ kind }) => kind === "incident"));
  return waitsForDecision && safeMember(command.payload, "action") === "retry";
}

async function commitDecided(context: RuntimeContext, { jobs, events, draft, dueBefore }: Decided): Promise<CommandResult> {
  const { store, wakeUpSender } = context;
  const commit = makeCommit(context, draft, events);
  const action = [...new Set(jobs.map(({ command }) => command.type))].join(" and ");
  const what = { workflowId: draft.workflowId, action };
  let isSent = false;
  const send = async (whole: Commit): Promise<void> => {
    // the store may have been silent for so long that a command is no longer current
    if (jobs.some(({ isCurrent }) => isCurrent?.() === false)) {
      // a commit that was sent may be applied, so its other commands must not be tried again alone
      if (isSent) throw new StepfoldError("OUTCOME_UNKNOWN", { ...what, reason: "a command that was sent with it is no longer wanted" });
      throw new StepfoldError("FENCE_LOST", { workflowId: draft.workflowId });
    }
    isSent = true;
    await store.commit(whole);
  };
  const write = (whole: Commit): Promise<void> => writeForCaller(context, { ...what, commit: whole }, () => send(whole));
  // a due time that stays the same was announced with an earlier commit
  const dueAt = commit.wakeAt === 0 || commit.wakeAt !== dueBefore ? commit.wakeAt : null;
  let isAnnounced = false;
  if (dueAt !== null && jobs.some(({ announce }) => announce)) isAnnounced = await wakeUpSender.sendWith(draft, commit, write);
  else await write(commit);
  const notice = noticeOf(draft);
  publishCommit(context, notice, commit.events);
  return { committed: true, wakeUp: { ...notice, incarnation: draft.incarnation, wakeAt: dueAt, isAnnounced } };
}

/** True if another writer has committed first. */
function isOvertaken(error: unknown): boolean {
  return StepfoldError.is(error, "VERSION_CONFLICT") || StepfoldError.is(error, "EXECUTION_ENDED");
}

/**
 * Waits after a conflict, so that the writers of other processes can commit first; the time differs between processes. A cancellation
 * is tried again almost at once: an execution that commits all the time leaves gaps of some milliseconds, which a long wait would miss.
 * After `urgentConflicts` tries it waits as long as other commands, because then something else than such an execution is the cause.
 */
function letOthersPass(
  { environment, lease }: RuntimeContext,
  workflowId: string,
  jobs: readonly CommandJob[],
  conflicts: number,
): Promise<void> {
  if (conflicts < freeConflicts) return Promise.resolve();
  const isCancelled = conflicts < urgentConflicts && jobs.some(({ command }) => command.type === "cancel");
  const longest = Math.min(firstDelayMs * 2 ** (conflicts - freeConflicts), isCancelled ? firstDelayMs : maxDelayMs);
  const delayMs = longest * (0.5 + seededShare(`${lease.owner} ${workflowId} ${conflicts}`) / 2);
  return new Promise((resolve) => {
    environment.after(delayMs, resolve);
  });
}
